import * as z from "zod/mini";
import { type CallOptions, jsonBody, type Operations } from "./operation.ts";
import { objectIdInEitherCase, requestEnum, timestamp, undocumentedBody, withJsonRule } from "./schemas.ts";
import type { Transport } from "./transport/transport.ts";

const isOn = z.optional(z.boolean());

/** A user's notification settings. Omitted settings keep their values. */
export const notificationSettings = z.object({
  announcements: isOn,
  arxiv_paper_activity: isOn,
  daily_papers_digest: isOn,
  discussions_participating: isOn,
  discussions_watched: isOn,
  gated_user_access_request: isOn,
  inference_endpoint_status: isOn,
  launch_autonlp: isOn,
  launch_spaces: isOn,
  launch_prepaid_credits: isOn,
  launch_training_cluster: isOn,
  org_request: isOn,
  org_suggestions: isOn,
  org_verified_suggestions: isOn,
  org_suggestions_to_create: isOn,
  posts_participating: isOn,
  user_follows: isOn,
  secret_detected: isOn,
  web_discussions_participating: isOn,
  web_discussions_watched: isOn,
  web_posts_participating: isOn,
  api_inference_sunset: isOn,
  locked_out: isOn,
  job_status: isOn,
  repo_release: isOn,
  product_updates_after: z.optional(timestamp),
});

/** A change of notification settings. */
export const notificationSettingsChange = withJsonRule(
  z
    .object({
      notifications: notificationSettings,
      /** Required to enable `launch_prepaid_credits`. */
      prepaidAmount: z.optional(z.string().check(z.maxLength(24))),
    })
    .check(
      z.refine((change) => change.notifications.launch_prepaid_credits !== true || change.prepaidAmount !== undefined, {
        path: ["prepaidAmount"],
        error: 'required to enable "launch_prepaid_credits"',
      }),
    ),
  {
    anyOf: [
      { required: ["prepaidAmount"] },
      { properties: { notifications: { properties: { launch_prepaid_credits: { not: { const: true } } } } } },
    ],
  },
);

/** A user, organization, or repository to watch. The Hub notifies you about discussions there. */
export const notificationWatchItem = z.object({ id: z.string(), type: requestEnum(["org", "user", "repo"]) });

/** Items to start or stop watching. */
export const notificationWatchChange = z.object({
  add: z._default(z.array(notificationWatchItem), []),
  delete: z._default(z.array(notificationWatchItem), []),
});

/** A user's tools on the Hub's MCP server. */
export const mcpSettings = z.strictObject({
  builtInTools: z.array(z.string()),
  spaceTools: z.array(z.strictObject({ _id: z.string(), name: z.string(), emoji: z.string(), subdomain: z.string() })),
});

/** A change of your notification settings. Omitted settings keep their values. */
export type NotificationSettingsChange = z.input<typeof notificationSettingsChange>;
/** The ID of a user, organization, or repository to watch. The Hub notifies you about discussions there. */
export type NotificationWatchItem = z.input<typeof notificationWatchItem>;
/** Items to start or stop watching. An item in both lists is deleted. */
export type NotificationWatchChange = z.input<typeof notificationWatchChange>;
/** Your tools on the Hub's MCP server. */
export type McpSettings = z.output<typeof mcpSettings>;

/** The operations on a user's settings (docs/reference/hub-api.md, Settings). */
export const settingsOperations = {
  mcp: {
    requestLine: "GET /api/settings/mcp",
    operationId: "getMcpSettings",
    summary: "Read your MCP tools",
    response: mcpSettings,
  },
  updateNotifications: {
    requestLine: "PATCH /api/settings/notifications",
    operationId: "updateNotificationSettings",
    summary: "Update your notification settings",
    request: { body: jsonBody(notificationSettingsChange) },
    response: undocumentedBody,
  },
  updateWatch: {
    requestLine: "PATCH /api/settings/watch",
    operationId: "updateWatchSettings",
    summary: "Update your watch settings",
    request: { body: jsonBody(notificationWatchChange) },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** The methods of `hub.settings` for the settings of the token's user. */
export class HubSettings {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns your tools on the Hub's MCP server. */
  mcp(options?: CallOptions): Promise<McpSettings> {
    return this.#transport.call(settingsOperations.mcp, {}, options);
  }

  /**
   * Changes the given notification settings. Omitted settings keep their values. To enable `launch_prepaid_credits`, pass a
   * `prepaidAmount` of up to 24 characters.
   *
   * @example
   * ```ts
   * await hub.settings.updateNotifications({ notifications: { daily_papers_digest: false } });
   * ```
   */
  async updateNotifications(change: NotificationSettingsChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(settingsOperations.updateNotifications, { body: change }, options);
  }

  /**
   * Changes the users, organizations, and repositories that you watch. The Hub notifies you about discussions there.
   *
   * @example
   * ```ts
   * await hub.settings.updateWatch({ add: [{ type: "org", id: "65b2f0a1c3d4e5f60718293a" }] });
   * ```
   */
  async updateWatch(change: NotificationWatchChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(settingsOperations.updateWatch, { body: change }, options);
  }
}

/** A claim to be an author of a paper. */
export const paperClaim = z.object({
  /** The identifier of the preprint, such as `2401.12345`. */
  paperId: z.string().check(z.minLength(1)),
  /** The ID of the claimed author entry. Required since 2026-08-17. */
  claimAuthorId: z.optional(objectIdInEitherCase),
  /** The ID of the author's user account. Default: the user of the token. */
  targetUserId: z.optional(objectIdInEitherCase),
});

/** The result of a claim. */
export const paperClaimResult = z.strictObject({ ok: z.boolean(), claimedPaperId: z.string() });

/** A claim to be an author of a paper. */
export type PaperClaim = z.input<typeof paperClaim>;
/** The result of a claim. */
export type PaperClaimResult = z.output<typeof paperClaimResult>;

/** The operations on papers (docs/reference/hub-api.md, Papers). */
export const paperOperations = {
  claim: {
    requestLine: "POST /api/settings/papers/claim",
    operationId: "claimPaper",
    summary: "Claim a paper",
    request: { body: jsonBody(paperClaim) },
    response: paperClaimResult,
  },
} as const satisfies Operations;

/** The methods of `hub.papers` for papers (docs/reference/hub-api.md, Papers). */
export class HubPapers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Claims that the user of the token, or the user `targetUserId`, is an author of a paper. `ok` is `true` if the Hub accepted the
   * claim.
   *
   * @example
   * ```ts
   * const { ok } = await hub.papers.claim({ paperId: "2401.12345" });
   * ```
   */
  claim(claim: PaperClaim, options?: CallOptions): Promise<PaperClaimResult> {
    return this.#transport.call(paperOperations.claim, { body: claim }, options);
  }
}

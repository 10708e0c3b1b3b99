import * as z from "zod/mini";
import { HubError } from "../../core/errors.ts";
import { type CallOptions, jsonBody, type Operations } from "../operation.ts";
import { Pages } from "../pages.ts";
import {
  objectId,
  objectIdInEitherCase,
  organizationName,
  organizationRole,
  type SearchOf,
  undocumentedBody,
  uri,
  wholeNumber,
} from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";
import { type AuditLogEvent, type AuditLogSearch, auditLogEvent, auditLogOperations } from "./audit-log.ts";
import { HubNetworkSecurity } from "./network-security.ts";
import { HubResourceGroups } from "./resource-groups.ts";

/**
 * The methods of `hub.organizations` for organizations. The first argument of each method is the name of the organization. Most
 * methods require an admin's token and a paid plan.
 */
export class HubOrganizations {
  /** Groups of repositories with their own members and roles. Requires an Enterprise plan. */
  readonly resourceGroups: HubResourceGroups;
  /** The networks that can access the organization, and the content that members of the organization can access. */
  readonly networkSecurity: HubNetworkSecurity;
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.resourceGroups = new HubResourceGroups(transport);
    this.networkSecurity = new HubNetworkSecurity(transport);
  }

  /**
   * Revokes the access of a token to the organization. The token keeps its access to other resources. Requires an Enterprise plan.
   *
   * @example
   * ```ts
   * await hub.organizations.revokeToken("acme", { tokenId: "65b2f0a1c3d4e5f60718293a" });
   * ```
   */
  async revokeToken(name: string, revoked: RevokedToken, options?: CallOptions): Promise<void> {
    const repeatable = { ...options, idempotent: true };
    if ("tokenId" in revoked) {
      const params = { name, tokenId: revoked.tokenId };
      await this.#transport.call(tokenOperations.revokeById, { params }, repeatable);
      return;
    }
    const input = { params: { name }, body: revoked };
    await this.#transport.call(tokenOperations.revoke, input, repeatable).catch((error) => {
      throw HubError.isInstance(error) && error.code === "HUB_NOT_FOUND" ? addTokenIdHint(error) : error;
    });
  }

  /**
   * Streams up to 100,000 events of the audit log, newest first. Yields each event as soon as the event arrives, without loading
   * the whole log into memory. Requires a Team or Enterprise plan.
   *
   * @example
   * ```ts
   * for await (const { createdAt, message } of hub.organizations.auditLog("acme", { q: "type:org.change_role" })) {
   *   console.log(createdAt, message);
   * }
   * ```
   */
  auditLog(name: string, search?: AuditLogSearch, options?: CallOptions): AsyncGenerator<AuditLogEvent, void> {
    const input = { params: { name }, query: search, item: auditLogEvent };
    return this.#transport.stream(auditLogOperations.export, input, options);
  }

  /** Returns the URL of the avatar of an organization. */
  avatar(name: string, options?: CallOptions): Promise<{ avatarUrl: string }> {
    return this.#transport.call(avatarOperations.get, { params: { name } }, options);
  }

  /**
   * Lists the members page by page. `limit` is the page size (10 to 10,000, default 500).
   *
   * @example
   * ```ts
   * for await (const { user, role } of hub.organizations.members("acme", { search: "ada" })) console.log(user, role);
   * ```
   */
  members(name: string, search?: MemberSearch, options?: CallOptions): Pages<OrganizationMember> {
    const input = { params: { name }, query: search };
    return new Pages(() => this.#transport.pages(memberOperations.list, input, options), options);
  }

  /**
   * Changes the role of a member in the organization and in the given resource groups. Requires a paid plan.
   *
   * @example
   * ```ts
   * await hub.organizations.setMemberRole("acme", "ada", { role: "write" });
   * ```
   */
  async setMemberRole(name: string, username: string, change: MemberRoleChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(memberOperations.setRole, { params: { name, username }, body: change }, options);
  }

  /** Returns the SCIM configuration. Requires an Enterprise Plus plan and an owner's token with write access. */
  scimConfig(name: string, options?: CallOptions): Promise<ScimConfig> {
    return this.#transport.call(scimOperations.config, { params: { name } }, options);
  }
}

function addTokenIdHint(error: HubError): HubError {
  return new HubError(
    `${error.message} Since 2026-08-12, the Hub revokes tokens by ID. Pass { tokenId } with the ID from the token settings of the organization.`,
    { code: error.code, ...(error.status !== undefined && { status: error.status }), requestId: error.requestId },
  );
}

/** The URL of the avatar of an organization. */
export const organizationAvatar = z.strictObject({ avatarUrl: uri });

/** The operation on the avatar of an organization (docs/reference/hub-api.md, Organizations). */
export const avatarOperations = {
  get: {
    requestLine: "GET /api/organizations/{name}/avatar",
    operationId: "getOrganizationAvatar",
    summary: "Read the avatar of an organization",
    request: { params: organizationName },
    response: organizationAvatar,
  },
} as const satisfies Operations;

/** A member of an organization. */
export const organizationMember = z.strictObject({
  _id: objectId,
  avatarUrl: z.string(),
  fullname: z.string(),
  isPro: z.boolean(),
  /** The username. */
  user: z.string(),
  type: z.literal("user"),
  isFollowing: z.optional(z.boolean()),
  role: z.optional(organizationRole),
  resourceGroups: z.optional(
    z.array(z.strictObject({ name: z.string(), id: z.string(), numUsers: z.number(), role: organizationRole })),
  ),
  twoFaEnabled: z.optional(z.boolean()),
  /** Present only if the token belongs to an admin of an organization with a Team or Enterprise plan. */
  verifiedEmail: z.optional(z.nullable(z.string())),
  isExternalCollaborator: z.optional(z.boolean()),
});

/** The new role of a member in the organization and in some of its resource groups. */
export const memberRoleChange = z.object({
  role: organizationRole,
  resourceGroups: z.optional(z.array(z.object({ id: objectIdInEitherCase, role: organizationRole }))),
});

const search = z.object({
  search: z.optional(z.string()),
  email: z.optional(z.email("expected a complete email address")),
  cursor: z.optional(z.string()),
  limit: wholeNumber({ minimum: 10, maximum: 10_000, fallback: 500 }),
});

/** A member of an organization. */
export type OrganizationMember = z.output<typeof organizationMember>;
/** A search for members. `limit` is the page size, and `cursor` is the start of the page. */
export type MemberSearch = SearchOf<typeof search>;
/** The new role of a member in the organization and in some of its resource groups. */
export type MemberRoleChange = z.input<typeof memberRoleChange>;

/** The operations on the members of an organization (docs/reference/hub-api.md, Organizations). */
export const memberOperations = {
  list: {
    requestLine: "GET /api/organizations/{name}/members",
    operationId: "listOrganizationMembers",
    summary: "List the members of an organization",
    request: { params: organizationName, query: search },
    response: z.array(organizationMember),
  },
  setRole: {
    requestLine: "PUT /api/organizations/{name}/members/{username}/role",
    operationId: "setMemberRole",
    summary: "Change the role of a member",
    request: {
      params: z.object({ ...organizationName.shape, username: z.string() }),
      body: jsonBody(memberRoleChange),
    },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** A request to revoke a token by its value. The Hub accepted this request until 2026-08-12. */
export const tokenRevocation = z.object({
  token: z.string().check(z.regex(/^hf_/, 'expected a complete token, which starts with "hf_"')),
});

/** The token to revoke, by ID, or by value on a Hub from before 2026-08-12. */
export type RevokedToken =
  | {
      /** The ID of the token, which the token settings and the audit log of the organization contain. */
      tokenId: string;
    }
  | {
      /** The token itself, for a Hub from before 2026-08-12. Errors and logs never contain this value. */
      token: string;
    };

/** The operations on tokens (docs/reference/hub-api.md, Organizations). */
export const tokenOperations = {
  revoke: {
    requestLine: "POST /api/organizations/{name}/settings/tokens/revoke",
    operationId: "revokeOrganizationToken",
    summary: "Revoke the access of a token by its value",
    request: { params: organizationName, body: jsonBody(tokenRevocation) },
    response: undocumentedBody,
  },
  revokeById: {
    requestLine: "POST /api/organizations/{name}/settings/tokens/{tokenId}/revoke",
    operationId: "revokeOrganizationTokenById",
    summary: "Revoke the access of a token to the organization",
    request: { params: z.object({ ...organizationName.shape, tokenId: z.string() }) },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** The SCIM configuration of an organization. The Hub does not document the content of `sort` or additional fields. */
export const scimConfig = z.looseObject({
  schemas: z.array(z.string()),
  documentationUri: z.string(),
  patch: z.strictObject({ supported: z.boolean() }),
  bulk: z.strictObject({ supported: z.boolean(), maxOperations: z.number(), maxPayloadSize: z.number() }),
  filter: z.strictObject({ supported: z.boolean(), maxResults: z.number() }),
  changePassword: z.strictObject({ supported: z.boolean() }),
  sort: z.looseObject({}),
});

/** The SCIM configuration of an organization. */
export type ScimConfig = z.output<typeof scimConfig>;

/** The operation on SCIM (docs/reference/hub-api.md, Organizations). */
export const scimOperations = {
  config: {
    requestLine: "GET /api/organizations/{name}/scim/v2/ServiceProviderConfig",
    operationId: "getScimConfig",
    summary: "Read the SCIM configuration of an organization",
    request: { params: organizationName },
    response: scimConfig,
  },
} as const satisfies Operations;

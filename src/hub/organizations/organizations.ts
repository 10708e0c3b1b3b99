import * as z from "zod";
import { HubError } from "../../core/errors.ts";
import type { CallOptions, Operations } from "../operation.ts";
import { jsonBody } from "../operation.ts";
import { Pages } from "../pages.ts";
import { organizationName, undocumentedBody } from "../schemas.ts";
import type { Transport } from "../transport.ts";
import type { AuditLogEvent, AuditLogSearch } from "./audit-log.ts";
import { auditLogEvent, auditLogOperations } from "./audit-log.ts";
import type { MemberRoleChange, MemberSearch, OrganizationMember } from "./members.ts";
import { memberOperations } from "./members.ts";
import { HubNetworkSecurity } from "./network-security.ts";
import { HubResourceGroups } from "./resource-groups.ts";

/** The token that loses its access, as it was issued. The Hub accepts this until 2026-08-12. */
export const tokenRevocation = z.object({
  token: z.string().regex(/^hf_/, 'expected a whole token, which begins with "hf_"'),
});

/** Which token loses its access: by its id, or before 2026-08-12 by its raw value. */
export type RevokedToken =
  | {
      /** As the token settings of the organization and its audit log show it. */
      tokenId: string;
    }
  | {
      /** The raw token, for a Hub from before 2026-08-12. It appears in no error and no log. */
      token: string;
    };

/** The operations on tokens (hub-api.md, Organizations). */
export const tokenOperations = {
  revoke: {
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/revoke",
    operationId: "revokeOrganizationToken",
    summary: "Revoke the access of a token by its value",
    request: { params: organizationName, body: jsonBody(tokenRevocation) },
    response: undocumentedBody,
  },
  revokeById: {
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/{tokenId}/revoke",
    operationId: "revokeOrganizationTokenById",
    summary: "Revoke the access of a token to the organization",
    request: { params: organizationName.extend({ tokenId: z.string() }) },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** Where the picture of an organization is. */
export const organizationAvatar = z.strictObject({ avatarUrl: z.url() });

/** The operation on the picture of an organization (hub-api.md, Organizations). */
export const avatarOperations = {
  get: {
    method: "get",
    path: "/api/organizations/{name}/avatar",
    operationId: "getOrganizationAvatar",
    summary: "Find the avatar of an organization",
    request: { params: organizationName },
    response: organizationAvatar,
  },
} as const satisfies Operations;

const isSupported = z.boolean();

/** What the SCIM interface of an organization can do. What else the answer holds is not shown, nor is what `sort` does. */
export const scimConfig = z.looseObject({
  schemas: z.array(z.string()),
  documentationUri: z.string(),
  patch: z.strictObject({ supported: isSupported }),
  bulk: z.strictObject({ supported: isSupported, maxOperations: z.number(), maxPayloadSize: z.number() }),
  filter: z.strictObject({ supported: isSupported, maxResults: z.number() }),
  changePassword: z.strictObject({ supported: isSupported }),
  sort: z.looseObject({}),
});

/** What the SCIM interface of an organization can do. */
export type ScimConfig = z.output<typeof scimConfig>;

/** The operation on SCIM (hub-api.md, Organizations). */
export const scimOperations = {
  config: {
    method: "get",
    path: "/api/organizations/{name}/scim/v2/ServiceProviderConfig",
    operationId: "getScimConfig",
    summary: "Read the SCIM configuration of an organization",
    request: { params: organizationName },
    response: scimConfig,
  },
} as const satisfies Operations;

/**
 * Organizations: `hub.organizations` (hub-api.md, Organizations). The first argument of every method is the name of the
 * organization; most of them need an admin of it, and a plan that has them.
 */
export class HubOrganizations {
  /** Groups of repositories, and who may do what with them. Enterprise only. */
  readonly resourceGroups: HubResourceGroups;
  /** Who may reach an organization, and what it may reach. */
  readonly networkSecurity: HubNetworkSecurity;
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.resourceGroups = new HubResourceGroups(transport);
    this.networkSecurity = new HubNetworkSecurity(transport);
  }

  /**
   * Revokes the access of a token to the organization. The token itself stays, and works elsewhere. Enterprise only.
   *
   * @example
   * ```ts
   * await hub.organizations.revokeToken("acme", { tokenId: "65b2f0a1c3d4e5f60718293a" });
   * ```
   */
  async revokeToken(name: string, revoked: RevokedToken, options?: CallOptions): Promise<void> {
    const repeatable = { ...options, idempotent: true };
    if ("tokenId" in revoked) {
      const { tokenId } = revoked;
      await this.#transport.call(tokenOperations.revokeById, { params: { name, tokenId } }, repeatable);
      return;
    }
    await this.#transport
      .call(tokenOperations.revoke, { params: { name }, body: revoked }, repeatable)
      .catch((error) => {
        throw HubError.isInstance(error) && error.code === "HUB_NOT_FOUND" ? addTokenIdHint(error) : error;
      });
  }

  /**
   * The audit log, the newest event first, 100,000 at most: each comes as soon as it has arrived, and the whole is never
   * in memory. Team or Enterprise.
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

  /** Where the picture of an organization is. */
  avatar(name: string, options?: CallOptions): Promise<{ avatarUrl: string }> {
    return this.#transport.call(avatarOperations.get, { params: { name } }, options);
  }

  /**
   * The members, page after page; `limit` is how many come in one (10 to 10,000, 500 by default).
   *
   * @example
   * ```ts
   * for await (const { user, role } of hub.organizations.members("acme", { search: "ada" })) console.log(user, role);
   * ```
   */
  members(name: string, search?: MemberSearch, options?: CallOptions): Pages<OrganizationMember> {
    const input = { params: { name }, query: search };
    return new Pages(() => this.#transport.pages(memberOperations.list, input, options), { signal: options?.signal });
  }

  /**
   * Changes what a member may do, in the organization and in the resource groups that are named. Needs a paid plan.
   *
   * @example
   * ```ts
   * await hub.organizations.setMemberRole("acme", "ada", { role: "write" });
   * ```
   */
  async setMemberRole(name: string, username: string, change: MemberRoleChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(memberOperations.setRole, { params: { name, username }, body: change }, options);
  }

  /** What the SCIM interface of an organization can do. Enterprise Plus, for an owner whose token may write to it. */
  scimConfig(name: string, options?: CallOptions): Promise<ScimConfig> {
    return this.#transport.call(scimOperations.config, { params: { name } }, options);
  }
}

function addTokenIdHint(error: HubError): HubError {
  return new HubError(
    `${error.message} Since 2026-08-12 the Hub revokes a token by its id: give { tokenId }, from the token settings of the organization.`,
    { code: error.code, ...(error.status !== undefined && { status: error.status }), requestId: error.requestId },
  );
}

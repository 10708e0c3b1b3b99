import * as z from "zod/mini";
import type { CallOptions, Operations } from "../operation.ts";
import { Pages } from "../pages.ts";
import { organizationName } from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";
import { type AuditLogEvent, type AuditLogSearch, auditLogEvent, auditLogOperations } from "./audit-log.ts";
import { type MemberRoleChange, type MemberSearch, memberOperations, type OrganizationMember } from "./members.ts";
import { HubNetworkSecurity } from "./network-security.ts";
import { HubResourceGroups } from "./resource-groups.ts";
import { type ScimConfig, scimOperations } from "./scim.ts";
import { type RevokedToken, revokeToken } from "./tokens.ts";

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
    await revokeToken(this.#transport, { name, revoked, options });
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
    return new Pages(() => this.#transport.pages(memberOperations.list, input, options), { signal: options?.signal });
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

/** The URL of the avatar of an organization. */
export const organizationAvatar = z.strictObject({ avatarUrl: z.url() });

/** The operation on the avatar of an organization (docs/reference/hub-api.md, Organizations). */
export const avatarOperations = {
  get: {
    method: "get",
    path: "/api/organizations/{name}/avatar",
    operationId: "getOrganizationAvatar",
    summary: "Read the avatar of an organization",
    request: { params: organizationName },
    response: organizationAvatar,
  },
} as const satisfies Operations;

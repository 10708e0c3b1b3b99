import type { CallOptions } from "./call-options.ts";
import {
  type AuditLogEvent,
  type AuditLogSearch,
  auditLogEvent,
  auditLogRoutes,
} from "./contract/organizations/audit-log.ts";
import { avatarRoutes } from "./contract/organizations/avatar.ts";
import {
  type MemberRoleChange,
  type MemberSearch,
  memberRoutes,
  type OrganizationMember,
} from "./contract/organizations/members.ts";
import {
  type NetworkSecurity,
  type NetworkSecurityChange,
  networkSecurityRoutes,
} from "./contract/organizations/network-security.ts";
import {
  type ResourceGroup,
  type ResourceGroupRequest,
  resourceGroupRoutes,
} from "./contract/organizations/resource-groups.ts";
import { type ScimConfig, scimRoutes } from "./contract/organizations/scim.ts";
import { tokenRoutes } from "./contract/organizations/tokens.ts";
import { Pages } from "./pages.ts";
import type { Transport } from "./transport.ts";

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
   * Takes away a token's access to the organization; the token itself stays, and works elsewhere. It is the raw token
   * that is given, which stands in no error and no log. Enterprise only.
   */
  async revokeToken(name: string, revocation: { token: string }, options?: CallOptions): Promise<void> {
    const input = { params: { name }, body: revocation };
    await this.#transport.call(tokenRoutes.revoke, input, { ...options, idempotent: true });
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
    return this.#transport.stream(auditLogRoutes.export, input, options);
  }

  /** Where the picture of an organization is. */
  avatar(name: string, options?: CallOptions): Promise<{ avatarUrl: string }> {
    return this.#transport.call(avatarRoutes.get, { params: { name } }, options);
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
    return new Pages(() => this.#transport.pages(memberRoutes.list, input, options), { signal: options?.signal });
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
    await this.#transport.call(memberRoutes.setRole, { params: { name, username }, body: change }, options);
  }

  /** What the SCIM interface of an organization can do. Enterprise Plus, for an owner whose token may write to it. */
  scimConfig(name: string, options?: CallOptions): Promise<ScimConfig> {
    return this.#transport.call(scimRoutes.config, { params: { name } }, options);
  }
}

/** The resource groups of organizations: `hub.organizations.resourceGroups`. */
export class HubResourceGroups {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Those that you can access. */
  list(name: string, options?: CallOptions): Promise<ResourceGroup[]> {
    return this.#transport.call(resourceGroupRoutes.list, { params: { name } }, options);
  }

  /**
   * Creates one. It is repeated only where it cannot have happened.
   *
   * @example
   * ```ts
   * await hub.organizations.resourceGroups.create("acme", {
   *   name: "vision",
   *   users: [{ user: "ada", role: "write" }],
   *   repos: [{ type: "dataset", name: "acme/images" }],
   *   autoJoin: { enabled: true, role: "read" },
   * });
   * ```
   */
  create(name: string, request: ResourceGroupRequest, options?: CallOptions): Promise<ResourceGroup> {
    return this.#transport.call(resourceGroupRoutes.create, { params: { name }, body: request }, options);
  }
}

/** The network security of organizations: `hub.organizations.networkSecurity`. */
export class HubNetworkSecurity {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What is set at present. */
  get(name: string, options?: CallOptions): Promise<NetworkSecurity> {
    return this.#transport.call(networkSecurityRoutes.get, { params: { name } }, options);
  }

  /**
   * Changes what is given, leaves the rest, and returns the whole.
   *
   * @example
   * ```ts
   * await hub.organizations.networkSecurity.update("acme", {
   *   enforceIpRestriction: true,
   *   ipRanges: ["192.0.2.0/24", "2001:db8::/32"],
   * });
   * ```
   */
  update(name: string, change: NetworkSecurityChange, options?: CallOptions): Promise<NetworkSecurity> {
    return this.#transport.call(networkSecurityRoutes.update, { params: { name }, body: change }, options);
  }
}

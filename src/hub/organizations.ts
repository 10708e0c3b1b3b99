import { HubError } from "../core/errors.ts";
import { argumentInvalid, checkArgument } from "./arguments.ts";
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
  networkSecurityChange,
  networkSecurityRoutes,
} from "./contract/organizations/network-security.ts";
import {
  type ResourceGroup,
  type ResourceGroupRequest,
  type ReturnedResourceGroup,
  resourceGroupRoutes,
} from "./contract/organizations/resource-groups.ts";
import { type ScimConfig, scimRoutes } from "./contract/organizations/scim.ts";
import { type RevokedToken, tokenRoutes } from "./contract/organizations/tokens.ts";
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
      await this.#transport.call(tokenRoutes.revokeById, { params: { name, tokenId } }, repeatable);
      return;
    }
    await this.#transport.call(tokenRoutes.revoke, { params: { name }, body: revoked }, repeatable).catch((error) => {
      throw HubError.isInstance(error) && error.code === "HUB_NOT_FOUND" ? withAdvice(error) : error;
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
  async list(name: string, options?: CallOptions): Promise<ResourceGroup[]> {
    const groups = await this.#transport.call(resourceGroupRoutes.list, { params: { name } }, options);
    return groups.map(withResources);
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
  async create(name: string, request: ResourceGroupRequest, options?: CallOptions): Promise<ResourceGroup> {
    const input = { params: { name }, body: request };
    return withResources(await this.#transport.call(resourceGroupRoutes.create, input, options));
  }
}

/** Before 2026-07-01 the Hub returned the repositories of a group as `repos`, and nothing else of it. */
function withResources(group: ReturnedResourceGroup): ResourceGroup {
  return { ...group, resources: group.resources ?? group.repos ?? [] };
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
   * Changes what is given, leaves the rest, and returns the whole. Since 2026-05-04 the Hub lists `allowedContents` and
   * `blockedContents`, before `allowedUrls` and `blockedUrls`. Where one of these is given, the settings are read first.
   *
   * @throws `ARGUMENT_INVALID`, before anything is changed, when the Hub uses the other names: it would ignore these.
   * @example
   * ```ts
   * await hub.organizations.networkSecurity.update("acme", {
   *   enforceIpRestriction: true,
   *   ipRanges: ["192.0.2.0/24", "2001:db8::/32"],
   * });
   * ```
   */
  async update(name: string, change: NetworkSecurityChange, options?: CallOptions): Promise<NetworkSecurity> {
    checkArgument(networkSecurityChange, { name: "request", value: change });
    const given = renamedLists.filter(({ field }) => change[field] !== undefined);
    if (given.length > 0) checkNames(given, await this.get(name, options));
    return this.#transport.call(networkSecurityRoutes.update, { params: { name }, body: change }, options);
  }
}

const renamedLists = [
  { field: "allowedContents", other: "allowedUrls" },
  { field: "blockedContents", other: "blockedUrls" },
  { field: "allowedUrls", other: "allowedContents" },
  { field: "blockedUrls", other: "blockedContents" },
] as const;

/** The Hub ignores a field that it does not have: a list that somebody relies on would not be in force. */
function checkNames(given: readonly (typeof renamedLists)[number][], current: NetworkSecurity): void {
  const ignored = given.filter(({ field, other }) => current[field] === undefined && current[other] !== undefined);
  if (ignored.length === 0) return;
  throw argumentInvalid(ignored.map(({ field, other }) => ({ field, problem: `this Hub has "${other}" instead` })));
}

function withAdvice(error: HubError): HubError {
  return new HubError(
    `${error.message} Since 2026-08-12 the Hub revokes a token by its id: give { tokenId }, from the token settings of the organization.`,
    { code: error.code, ...(error.status !== undefined && { status: error.status }), requestId: error.requestId },
  );
}

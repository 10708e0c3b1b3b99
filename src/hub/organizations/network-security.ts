import * as z from "zod";
import { repoTypes } from "../../payload/schema.ts";
import { argumentInvalid, checkArgument } from "../arguments.ts";
import { type CallOptions, jsonBody, type Operations } from "../operation.ts";
import { openEnum, organizationName, requestEnum } from "../schemas.ts";
import type { Transport } from "../transport.ts";

/** `pending`: it is asked for, and not granted yet. */
const isOnOrPending = z.union([z.boolean(), z.literal("pending")]);

const contentResources = ["*", ...repoTypes] as const;
const scope = z.string().min(1);

/** Who may reach an organization, and what its members may reach. */
export const networkSecurity = z.strictObject({
  enforceAuth: isOnOrPending,
  enforceIpRestriction: z.boolean(),
  highRateLimits: isOnOrPending,
  ipRanges: z.array(z.string()),
  blockedContents: z.array(z.strictObject({ resource: openEnum(contentResources), scope })).optional(),
  allowedContents: z.array(z.strictObject({ resource: openEnum(contentResources), scope })).optional(),
  keepReposMetadataVisible: z.boolean().optional(),
  /** Before 2026-05-04, in place of `blockedContents`. */
  blockedUrls: z.array(z.string()).optional(),
  /** Before 2026-05-04, in place of `allowedContents`. */
  allowedUrls: z.array(z.string()).optional(),
});

const expectedRange = "expected an IPv4 or IPv6 range such as 192.0.2.0/24 or 2001:db8::/32";
const { cidrv4, cidrv6, ipv4 } = z.regexes;
const group = "(?:[0-9a-fA-F]{1,4}:)";
const groups = [`${group}{6}`, `::${group}{0,5}`, ...[1, 2, 3, 4, 5].map((n) => `${group}{${n}}:${group}{0,${5 - n}}`)];
/** An IPv6 range may end in an IPv4 address, as `::ffff:192.0.2.0/120` does: the pattern of zod knows none of these. */
const cidrv6EndingInIpv4 = `^(?:${groups.join("|")})${ipv4.source.slice(1, -1)}/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])$`;
const ipRange = z.string().regex(new RegExp(`${cidrv4.source}|${cidrv6.source}|${cidrv6EndingInIpv4}`), expectedRange);

const content = z.object({ resource: requestEnum(contentResources), scope });

/** What changes of it; what is left out stays as it is. */
export const networkSecurityChange = z.object({
  enforceAuth: z.boolean().optional(),
  enforceIpRestriction: z.boolean().optional(),
  highRateLimits: z.boolean().optional(),
  ipRanges: z.array(ipRange).optional(),
  blockedContents: z.array(content).optional(),
  allowedContents: z.array(content).optional(),
  keepReposMetadataVisible: z.boolean().optional(),
  /** Before 2026-05-04, in place of `blockedContents`. */
  blockedUrls: z.array(z.string()).optional(),
  /** Before 2026-05-04, in place of `allowedContents`. */
  allowedUrls: z.array(z.string()).optional(),
});

/** Who may reach an organization, and what it may reach. `pending`: it is asked for, and not granted yet. */
export type NetworkSecurity = z.output<typeof networkSecurity>;
/** What changes of an organization's network security; what is left out stays as it is. */
export type NetworkSecurityChange = z.input<typeof networkSecurityChange>;

const path = "/api/organizations/{name}/settings/network-security";

/** The operations on the network security of an organization (hub-api.md, Organizations). */
export const networkSecurityOperations = {
  get: {
    method: "get",
    path,
    operationId: "getNetworkSecurity",
    summary: "Read the network security of an organization",
    request: { params: organizationName },
    response: networkSecurity,
  },
  update: {
    method: "patch",
    path,
    operationId: "updateNetworkSecurity",
    summary: "Change the network security of an organization",
    request: { params: organizationName, body: jsonBody(networkSecurityChange) },
    response: networkSecurity,
  },
} as const satisfies Operations;

/** The network security of organizations: `hub.organizations.networkSecurity`. */
export class HubNetworkSecurity {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the current settings. */
  get(name: string, options?: CallOptions): Promise<NetworkSecurity> {
    return this.#transport.call(networkSecurityOperations.get, { params: { name } }, options);
  }

  /**
   * Changes the given settings and returns all of them. `allowedContents` and `blockedContents` replaced `allowedUrls` and
   * `blockedUrls` on 2026-05-04. If you pass one of these, the current settings are read first.
   *
   * @throws `ARGUMENT_INVALID`, before anything is changed, if the Hub uses the other names and would ignore yours.
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
    if (given.length > 0) checkListNames(given, await this.get(name, options));
    return this.#transport.call(networkSecurityOperations.update, { params: { name }, body: change }, options);
  }
}

const renamedLists = [
  { field: "allowedContents", other: "allowedUrls" },
  { field: "blockedContents", other: "blockedUrls" },
  { field: "allowedUrls", other: "allowedContents" },
  { field: "blockedUrls", other: "blockedContents" },
] as const;

/** The Hub ignores unknown fields, so a list with the wrong name would silently not apply. */
function checkListNames(given: readonly (typeof renamedLists)[number][], current: NetworkSecurity): void {
  const ignored = given.filter(({ field, other }) => current[field] === undefined && current[other] !== undefined);
  if (ignored.length === 0) return;
  throw argumentInvalid(ignored.map(({ field, other }) => ({ field, problem: `this Hub has "${other}" instead` })));
}

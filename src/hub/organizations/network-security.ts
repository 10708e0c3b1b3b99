import * as z from "zod/mini";
import { repoTypes } from "../../payload/names.ts";
import { type CallOptions, jsonBody, type Operations } from "../operation.ts";
import { organizationName, requestEnum, responseEnum } from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";
import { argumentInvalid, checkArgument } from "../validation/arguments.ts";

/** A setting that the Hub must approve. `pending`: the setting was requested but is not approved yet. */
const isOnOrPending = z.union([z.boolean(), z.literal("pending")]);

const contentResources = ["*", ...repoTypes] as const;
const scope = z.string().check(z.minLength(1));
const contents = z.optional(z.array(z.object({ resource: requestEnum(contentResources), scope })));
const returnedContents = z.optional(z.array(z.strictObject({ resource: responseEnum(contentResources), scope })));
const urls = z.optional(z.array(z.string()));
/** The names of `blockedContents` and `allowedContents` before 2026-05-04. */
const formerLists = { blockedUrls: urls, allowedUrls: urls };

/**
 * The network security settings of an organization, such as the networks that can access the organization and the
 * content that its members can access.
 */
export const networkSecurity = z.strictObject({
  enforceAuth: isOnOrPending,
  enforceIpRestriction: z.boolean(),
  highRateLimits: isOnOrPending,
  ipRanges: z.array(z.string()),
  blockedContents: returnedContents,
  allowedContents: returnedContents,
  keepReposMetadataVisible: z.optional(z.boolean()),
  ...formerLists,
});

const expectedRange = "expected an IPv4 or IPv6 range such as 192.0.2.0/24 or 2001:db8::/32";
// Zod's patterns do not accept IPv6 addresses that end in an IPv4 address, and would bring all patterns of zod into a bundle.
const byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const ipv4 = `(?:${byte}\\.){3}${byte}`;
const digits = "[0-9a-fA-F]{1,4}";
const group = `(?:${digits}:)`;
/** The first 96 bits of an IPv6 address, of which `::` can replace some. */
const groups = [`${group}{6}`, `::${group}{0,5}`, ...[1, 2, 3, 4, 5].map((n) => `${group}{${n}}:${group}{0,${5 - n}}`)];
const ipv6 = `(?:(?:${groups.join("|")})(?:${digits}:${digits}|${ipv4})|(?::|${group}{1,6}):${digits}|(?::|${group}{1,7}):)`;
const range = `^(?:${ipv4}/(?:3[0-2]|[12]?[0-9])|${ipv6}/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`;
const ipRange = z.string().check(z.regex(new RegExp(range), expectedRange));

/** A change of network security. Omitted fields keep their values. */
export const networkSecurityChange = z.object({
  enforceAuth: z.optional(z.boolean()),
  enforceIpRestriction: z.optional(z.boolean()),
  highRateLimits: z.optional(z.boolean()),
  ipRanges: z.optional(z.array(ipRange)),
  blockedContents: contents,
  allowedContents: contents,
  keepReposMetadataVisible: z.optional(z.boolean()),
  ...formerLists,
});

/**
 * The network security settings of an organization, such as the networks that can access the organization and the
 * content that its members can access. `pending`: a setting was requested but is not approved yet.
 */
export type NetworkSecurity = z.output<typeof networkSecurity>;
/** A change of network security. Omitted fields keep their values. */
export type NetworkSecurityChange = z.input<typeof networkSecurityChange>;

const path = "/api/organizations/{name}/settings/network-security";

/** The operations on the network security of an organization (docs/reference/hub-api.md, Organizations). */
export const networkSecurityOperations = {
  get: {
    requestLine: `GET ${path}`,
    operationId: "getNetworkSecurity",
    summary: "Read the network security of an organization",
    request: { params: organizationName },
    response: networkSecurity,
  },
  update: {
    requestLine: `PATCH ${path}`,
    operationId: "updateNetworkSecurity",
    summary: "Change the network security of an organization",
    request: { params: organizationName, body: jsonBody(networkSecurityChange) },
    response: networkSecurity,
  },
} as const satisfies Operations;

/** The methods of `hub.organizations.networkSecurity` for the network security of organizations. */
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
   * Changes the given settings, and returns all settings. `allowedContents` and `blockedContents` replaced `allowedUrls` and
   * `blockedUrls` on 2026-05-04. If you pass any of these four fields, the method first reads the current settings.
   *
   * @throws `ARGUMENT_INVALID` if the Hub uses the other names and would ignore the given fields. In this case, no setting is
   *   changed.
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

/** Rejects lists whose names this Hub does not use. The Hub ignores unknown fields, so such lists would have no effect. */
function checkListNames(given: readonly (typeof renamedLists)[number][], current: NetworkSecurity): void {
  const ignored = given.filter(({ field, other }) => current[field] === undefined && current[other] !== undefined);
  if (ignored.length === 0) return;
  throw argumentInvalid(ignored.map(({ field, other }) => ({ field, problem: `use "${other}" on this Hub` })));
}

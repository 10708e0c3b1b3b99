import type { NetworkSecurity } from "../../hub/organizations/network-security.ts";
import type { Store } from "../store/store.ts";

/** What an organization has that has not changed any of it. */
export const initialNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  // Both names of both lists. How the Hub translates one into the other is not published, so each keeps what it is given.
  blockedContents: [],
  allowedContents: [],
  keepReposMetadataVisible: false,
  blockedUrls: [],
  allowedUrls: [],
};

/** The network security of an organization. */
export function networkSecurityOf(store: Pick<Store, "networkSecurity">, organization: string): NetworkSecurity {
  // A state file of an earlier release lacks the newer fields.
  return {
    ...initialNetworkSecurity,
    ...store.networkSecurity.get({ owner: organization, id: "network-security" }),
  };
}

import type { NetworkSecurity } from "../../hub/contract/organizations/network-security.ts";
import type { Store } from "../store/store.ts";

/** What an organization has that has not changed any of it. */
export const initialNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  blockedUrls: [],
  allowedUrls: [],
};

/** The network security of an organization. */
export function networkSecurityOf(store: Pick<Store, "networkSecurity">, organization: string): NetworkSecurity {
  return store.networkSecurity.get({ owner: organization, id: "network-security" }) ?? initialNetworkSecurity;
}

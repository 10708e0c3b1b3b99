import type { NetworkSecurity } from "../../../hub/organizations/network-security.ts";
import type { Store } from "../../store/store.ts";

/** The settings of a new organization. */
export const defaultNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  // Each list has two names. The Hub does not document how it converts between them, so each keeps its own values.
  blockedContents: [],
  allowedContents: [],
  keepReposMetadataVisible: false,
  blockedUrls: [],
  allowedUrls: [],
};

/** Returns the network security settings of an organization. */
export function getNetworkSecurity(store: Pick<Store, "networkSecurity">, organization: string): NetworkSecurity {
  // State files of earlier releases lack newer fields.
  return {
    ...defaultNetworkSecurity,
    ...store.networkSecurity.get({ owner: organization, id: "network-security" }),
  };
}

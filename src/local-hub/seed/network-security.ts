import type { NetworkSecurity } from "../../hub/contract/organizations/network-security.ts";
import { organizationNames } from "../accounts.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import { busyOrganization } from "./members.ts";

/** The network security of an organization in which nobody has changed any of it. */
export const initialNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  blockedUrls: [],
  allowedUrls: [],
};

/** The network security with which organizations start; one of them waits for what it has asked for. */
export function seedNetworkSecurity(): KeyedRecord<NetworkSecurity>[] {
  return organizationNames.map((owner) => ({
    owner,
    id: "network-security",
    record: { ...initialNetworkSecurity, ...(owner === busyOrganization && { highRateLimits: "pending" }) },
  }));
}

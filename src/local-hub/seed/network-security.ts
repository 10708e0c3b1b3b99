import type { NetworkSecurity } from "../../hub/contract/organizations/network-security.ts";
import { initialNetworkSecurity } from "../organizations/network-security.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import { busyOrganization } from "./members.ts";

/** What one of the organizations has set before a local Hub starts: it waits for what it has asked for. */
export function seedNetworkSecurity(): KeyedRecord<NetworkSecurity>[] {
  const record: NetworkSecurity = { ...initialNetworkSecurity, highRateLimits: "pending" };
  return [{ owner: busyOrganization, id: "network-security", record }];
}

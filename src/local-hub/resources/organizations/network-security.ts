import { isDeepStrictEqual } from "node:util";
import type { NetworkSecurity, NetworkSecurityChange } from "../../../hub/organizations/network-security.ts";
import type { HubContext } from "../../hub-context.ts";
import type { Store } from "../../store/store.ts";
import type { ApiRequest } from "./audit-log.ts";

/** The settings of a new organization. */
export const defaultNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  // The Hub has two fields for each list, and does not document how they are related, so each field has its own value.
  blockedContents: [],
  allowedContents: [],
  keepReposMetadataVisible: false,
  blockedUrls: [],
  allowedUrls: [],
};

/** Returns the network security settings of an organization. */
export function getNetworkSecurity(store: Pick<Store, "networkSecurity">, organization: string): NetworkSecurity {
  // Records in state files of earlier releases lack newer fields, so the defaults apply.
  return {
    ...defaultNetworkSecurity,
    ...store.networkSecurity.get({ owner: organization, id: "network-security" }),
  };
}

/** Changes network security settings of an organization, and records the change in the audit log. Returns all settings. */
export function updateNetworkSecurity(
  { store, auditLog }: Pick<HubContext, "store" | "auditLog">,
  { organization, change, request }: { organization: string; change: NetworkSecurityChange; request: ApiRequest },
): NetworkSecurity {
  const before = getNetworkSecurity(store, organization);
  const after = { ...before, ...change };
  const changed = Object.entries(after).filter(
    ([field, value]) => !isDeepStrictEqual(value, Reflect.get(before, field)),
  );
  if (changed.length > 0) {
    store.transaction(() => {
      store.networkSecurity.put({ owner: organization, id: "network-security", record: after });
      auditLog.record({
        organization,
        type: "org.update_settings",
        author: request.caller.user,
        message: `Changed the network security: ${changed.map(([field]) => field).join(", ")}`,
        data: Object.fromEntries(changed),
        request,
      });
    });
  }
  return after;
}

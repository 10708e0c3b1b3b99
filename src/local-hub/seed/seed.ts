import type { Store } from "../store/store.ts";
import { seedAuditLog } from "./audit-log.ts";
import { seedMembers } from "./members.ts";
import { seedNetworkSecurity } from "./network-security.ts";
import { seedNotifications } from "./notifications.ts";
import { seedPapers } from "./papers.ts";
import { seedRepositories } from "./repositories.ts";
import { seedResourceGroups } from "./resource-groups.ts";
import type { SeedOptions } from "./seed-options.ts";
import { seedSettings } from "./settings.ts";

/** Fills the store of a local Hub that has nothing in it yet; one that has something is left alone. */
export function seedStore(store: Store, { now }: SeedOptions): void {
  // An organization never loses its last owner.
  if (store.members.get({ owner: "acme", id: "local-user" })) return;
  store.atOnce(() => {
    store.members.put(...seedMembers());
    store.networkSecurity.put(...seedNetworkSecurity());
    store.notifications.put(...seedNotifications({ now }));
    store.papers.put(...seedPapers());
    for (const repository of seedRepositories()) store.repositories.put(repository);
    store.settings.put(...seedSettings());
    store.resourceGroups.put(...seedResourceGroups({ now }));
    store.auditLog.add(...seedAuditLog({ now }));
  });
}

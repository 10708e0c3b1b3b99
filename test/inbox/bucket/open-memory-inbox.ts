import { onTestFinished } from "vitest";
import type { BucketInbox } from "../../../src/inbox/bucket/bucket-inbox.ts";
import { recordNumber } from "../../../src/inbox/bucket/log.ts";
import { type OpenBucketInboxOptions, openBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { incoming } from "../engine.ts";
import type { MemoryObjectStore, StoreRequest } from "./memory-object-store.ts";

/** Opens an inbox in a store and closes it after the test. Processes of the same Space can take over from each other. */
export async function openMemoryInbox(
  store: MemoryObjectStore,
  options: Partial<OpenBucketInboxOptions> = {},
): Promise<{ inbox: BucketInbox; logger: MemoryLogger }> {
  const logger = createMemoryLogger();
  const inbox = await openBucketInbox({
    store,
    spaceId: "acme/receiver",
    takeOver: false,
    log: logger,
    now: Date.now,
    pollMs: 20,
    ...options,
  });
  onTestFinished(async () => {
    store.intercept = () => undefined;
    await inbox.close(0);
  });
  return { inbox, logger };
}

/** Returns the IDs of all deliveries, oldest first. */
export async function listIds(inbox: Inbox): Promise<string[]> {
  return (await inbox.list({ limit: 1_000 })).deliveries.map(({ id }) => id).reverse();
}

export function storesRecord({ method, key }: StoreRequest): boolean {
  return method === "put" && recordNumber(key) !== undefined;
}

export function lastRecord(store: MemoryObjectStore): number {
  return Math.max(0, ...[...store.objects.keys()].map((key) => recordNumber(key) ?? 0));
}

/** Returns the keys of the manifests of all complete snapshots. */
export function manifests(store: MemoryObjectStore): string[] {
  return [...store.objects.keys()].filter((key) => key.endsWith("/manifest")).sort();
}

/** Stores deliveries, each in its own record, until the owner has stored a number of new snapshots. Adds their IDs. */
export async function storeSnapshots(
  inbox: Inbox,
  store: MemoryObjectStore,
  { count, ids }: { count: number; ids: string[] },
): Promise<void> {
  for (let stored = 0; stored < count; stored += 1) {
    const newest = manifests(store).at(-1);
    while (manifests(store).at(-1) === newest) {
      await acceptNext(inbox, ids);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Stores one more delivery in a record of its own. */
export async function acceptNext(inbox: Inbox, ids: string[]): Promise<void> {
  const id = `d${ids.length}`;
  await inbox.accept(incoming(id));
  ids.push(id);
}

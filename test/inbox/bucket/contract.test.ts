// @module-tag slow

import { test } from "vitest";
import { openBucketReader } from "../../../src/inbox/bucket/bucket-reader.ts";
import { openBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeInboxContract } from "../contract.ts";
import { expectCrashesSurvived } from "../crash-contract.ts";
import { openers, openTestBucket } from "../openers.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

const stores = new Map<string, MemoryObjectStore>();

function storeOf(name: string): MemoryObjectStore {
  const store = stores.get(name) ?? new MemoryObjectStore();
  stores.set(name, store);
  return store;
}

describeInboxContract({
  name: "Bucket",
  emptyStore: () => `bucket ${crypto.randomUUID()}`,
  open: ({ store, leaseMs: _unused, ...options }) => {
    const owner = { spaceId: "acme/receiver", takeOver: false };
    return openBucketInbox({ store: storeOf(store), ...owner, now: Date.now, pollMs: 20, ...options });
  },
  openReader: (store) => openBucketReader({ store: storeOf(store), log: createMemoryLogger() }),
});

test("The delivery that causes crashes is dead after them, and the others run", { timeout: 150_000 }, async () => {
  await using hub = await LocalHub.launch();
  await expectCrashesSurvived({
    name: "Bucket",
    emptyStore: () => JSON.stringify(hub.createBucket("local-user/inbox")),
    open: openers.Bucket,
    openReader: async (store) => openBucketReader({ store: await openTestBucket(store), log: createMemoryLogger() }),
  });
});

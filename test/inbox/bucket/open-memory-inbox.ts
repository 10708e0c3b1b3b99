import { onTestFinished } from "vitest";
import type { BucketInbox } from "../../../src/inbox/bucket/bucket-inbox.ts";
import { type OpenBucketInboxOptions, openBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import type { MemoryObjectStore } from "./memory-object-store.ts";

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

import type { Logger } from "../../src/core/logger.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";

/** Options of {@link openFaultInbox}. An omitted option has the same default as in the package. */
export interface FaultInboxOptions {
  leaseMs?: number;
  maxQueued?: number;
  /** Only for a bucket. */
  minSnapshotRecords?: number;
  /** Only for a bucket. */
  maxWaitMs?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** Opens an inbox with limits that are short enough for tests. */
export async function openFaultInbox(
  url: string,
  { minSnapshotRecords, maxWaitMs, ...options }: FaultInboxOptions,
): Promise<Inbox> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return new SqliteInbox({ file, pollMs: 50, ...options });
  if (url.startsWith("hf:")) {
    const [{ openBucketInbox }, { openTestBucket }] = await Promise.all([
      import("../../src/inbox/bucket/open-bucket-inbox.ts"),
      import("../inbox/openers.ts"),
    ]);
    const store = await openTestBucket(JSON.stringify(process.env));
    return openBucketInbox({
      store,
      spaceId: process.env.SPACE_ID,
      takeOver: false,
      pollMs: 50,
      minSnapshotRecords,
      maxWaitMs,
      ...options,
    });
  }
  const { openBullmqInbox } = await import("../../src/inbox/bullmq/open-bullmq-inbox.ts");
  return openBullmqInbox({ url, ...options });
}

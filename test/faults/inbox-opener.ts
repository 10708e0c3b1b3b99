import type { Logger } from "../../src/core/log.ts";
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
  /** Only for a bucket. */
  heartbeatMs?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** Opens an inbox with limits that are short enough for tests. */
export async function openFaultInbox(
  url: string,
  { minSnapshotRecords, maxWaitMs, heartbeatMs, ...options }: FaultInboxOptions,
): Promise<Inbox> {
  const limits = {
    ...(minSnapshotRecords !== undefined && { minSnapshotRecords }),
    ...(maxWaitMs !== undefined && { maxWaitMs }),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  };
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return new SqliteInbox({ file, pollMs: 50, ...options });
  if (/^(hf|s3):/.test(url)) {
    const { openBucket } = await import("../../src/inbox/bucket/open-bucket.ts");
    const onFailure = (error: unknown) => {
      throw error;
    };
    return openBucket({ url, mustExist: false, pollMs: 50, onFailure, ...limits, ...options });
  }
  const { openBullmqInbox } = await import("../../src/inbox/bullmq/bullmq-inbox.ts");
  return openBullmqInbox({ url, ...options });
}

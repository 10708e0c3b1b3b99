import type { Logger } from "../../src/core/logger.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";

/** Options of {@link openFaultInbox}. An omitted option has the same default as in the package. */
export interface FaultInboxOptions {
  leaseMs?: number;
  maxQueued?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** Opens an inbox with limits that are short enough for tests. */
export async function openFaultInbox(url: string, options: FaultInboxOptions): Promise<Inbox> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return new SqliteInbox({ file, pollMs: 50, ...options });
  const { openBullmqInbox } = await import("../../src/inbox/bullmq/open-bullmq-inbox.ts");
  return openBullmqInbox({ url, ...options });
}

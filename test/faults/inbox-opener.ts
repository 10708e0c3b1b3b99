import type { Logger } from "../../src/core/logger.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";

/** What {@link openFaultInbox} may be given; what is left out is as the product has it. */
export interface FaultInboxOptions {
  leaseMs?: number;
  maxQueued?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
}

/** Opens the inbox of a URL with limits that nobody has to wait for. */
export async function openFaultInbox(url: string, options: FaultInboxOptions): Promise<Inbox> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return new SqliteInbox({ file, pollMs: 50, ...options });
  const { openBullmqInbox } = await import("../../src/inbox/bullmq/open-bullmq-inbox.ts");
  return openBullmqInbox({ url, ...options });
}

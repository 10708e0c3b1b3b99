import type { DeliveryCounts, Inbox } from "../inbox/inbox.ts";
import { CachedRead } from "./cached-read.ts";

interface InboxCountsOptions {
  /** The inbox, if it is open or opening: reading counts never opens it. */
  inbox: () => Promise<Inbox> | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Max time that a reader waits. Default 1,000. */
  timeoutMs?: number;
}

/** By endpoint; `unknown`: the inbox failed, or did not answer in time. */
export type InboxCount = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** Reads how many deliveries the inbox holds, for metrics and pages. */
export class InboxCounts {
  readonly #inbox: InboxCountsOptions["inbox"];
  readonly #counts: CachedRead<InboxCount>;

  constructor({ inbox, now, timeoutMs = 1_000 }: InboxCountsOptions) {
    this.#inbox = inbox;
    this.#counts = new CachedRead({ now, timeoutMs, late: "unknown" });
  }

  /** Never rejects; `undefined` while no inbox is open. */
  async read(): Promise<InboxCount | undefined> {
    const inbox = this.#inbox();
    return inbox && this.#counts.of(inbox, readCounts);
  }
}

async function readCounts(inbox: Promise<Inbox>): Promise<InboxCount> {
  try {
    return await (await inbox).counts();
  } catch {
    return "unknown";
  }
}

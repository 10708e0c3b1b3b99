import type { DeliveryCounts, Inbox } from "../inbox/inbox.ts";
import { CachedRead } from "./cached-read.ts";

interface InboxCountsReaderOptions {
  /** The inbox, if it is open or opening: reading counts never opens it. */
  inbox: () => Promise<Inbox> | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Max time that a reader waits. Default 1,000. */
  timeoutMs?: number;
}

/** The number of deliveries by endpoint and status; `unknown`: the inbox failed, or did not answer in time. */
export type InboxCounts = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** Reads how many deliveries the inbox holds, for metrics and pages. */
export class InboxCountsReader {
  readonly #inbox: InboxCountsReaderOptions["inbox"];
  readonly #counts: CachedRead<InboxCounts>;

  constructor({ inbox, now, timeoutMs = 1_000 }: InboxCountsReaderOptions) {
    this.#inbox = inbox;
    this.#counts = new CachedRead({ now, timeoutMs, fallback: "unknown" });
  }

  /** Never rejects; `undefined` while no inbox is open. */
  async read(): Promise<InboxCounts | undefined> {
    const inbox = this.#inbox();
    return inbox && this.#counts.get(inbox, readCounts);
  }
}

async function readCounts(inbox: Promise<Inbox>): Promise<InboxCounts> {
  try {
    return await (await inbox).counts();
  } catch {
    return "unknown";
  }
}

import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { CachedRead } from "./cached-read.ts";

interface InboxCountsReaderOptions {
  /** Returns the inbox if it is open or opening. Reading the counts never opens the inbox. */
  inbox: () => Promise<Inbox> | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The maximum time that a caller waits. Default `1000`. */
  timeoutMs?: number;
}

/** The number of deliveries by endpoint and status, or `unknown` if the inbox failed or did not respond in time. */
export type InboxCounts = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** Reads the number of deliveries in the inbox, for metrics and pages. */
export class InboxCountsReader {
  readonly #inbox: InboxCountsReaderOptions["inbox"];
  readonly #counts: CachedRead<InboxCounts>;

  constructor({ inbox, now, timeoutMs = 1_000 }: InboxCountsReaderOptions) {
    this.#inbox = inbox;
    this.#counts = new CachedRead({ now, timeoutMs, fallback: "unknown" });
  }

  /** Returns the counts, or `undefined` while no inbox is open. Never rejects. */
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

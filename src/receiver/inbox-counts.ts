import type { DeliveryCounts, Inbox } from "../inbox/inbox.ts";
import { ThrottledRead } from "./throttled-read.ts";

/** What an {@link InboxCounts} is made from. */
export interface InboxCountsOptions {
  /** The inbox, once somebody opened it; it is never opened to be counted. */
  inbox: () => Promise<Inbox> | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How many milliseconds a reader waits at most. Default 1,000. */
  timeoutMs?: number;
}

/** By endpoint; `unknown`: the inbox does not say it, or not in time. */
export type InboxCount = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** How many deliveries wait in the inbox, for those who look at it from outside. */
export class InboxCounts {
  readonly #inbox: InboxCountsOptions["inbox"];
  readonly #counts: ThrottledRead<InboxCount>;

  constructor({ inbox, now, timeoutMs = 1_000 }: InboxCountsOptions) {
    this.#inbox = inbox;
    this.#counts = new ThrottledRead({ now, timeoutMs, late: "unknown" });
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

import type { DeliveryCounts, Inbox } from "../inbox/inbox.ts";

/** What an {@link InboxCounts} is made from. */
export interface InboxCountsOptions {
  /** The inbox, once somebody opened it; it is never opened to be counted. */
  inbox: () => Promise<Inbox> | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How many milliseconds a reader waits at most. Default 1,000. */
  patienceMs?: number;
}

/** By endpoint; `unknown`: the inbox does not say it, or not in time. */
export type InboxCount = Readonly<Record<string, DeliveryCounts>> | "unknown";

/** For how many milliseconds an answer is given again: anyone may ask, and each question costs the inbox something. */
const freshMs = 1_000;

/**
 * How many deliveries wait in the inbox, for those who look at it from outside: asked at most once a second, and never
 * a second time while the first question is not answered.
 */
export class InboxCounts {
  readonly #options: InboxCountsOptions;
  #question: Promise<InboxCount> | undefined;
  #askedAt = 0;
  #isAnswered = false;

  constructor(options: InboxCountsOptions) {
    this.#options = options;
  }

  /** Never rejects; `undefined` while no inbox is open. */
  async read(): Promise<InboxCount | undefined> {
    const inbox = this.#options.inbox();
    if (!inbox) return undefined;
    return within(this.#options.patienceMs ?? 1_000, this.#ask(inbox));
  }

  #ask(inbox: Promise<Inbox>): Promise<InboxCount> {
    const age = this.#options.now() - this.#askedAt;
    const isFresh = age >= 0 && age < freshMs;
    if (this.#question && (isFresh || !this.#isAnswered)) return this.#question;
    this.#askedAt = this.#options.now();
    this.#isAnswered = false;
    this.#question = inbox
      .then((opened) => opened.counts())
      .catch(() => "unknown" as const)
      .finally(() => {
        this.#isAnswered = true;
      });
    return this.#question;
  }
}

async function within(milliseconds: number, question: Promise<InboxCount>): Promise<InboxCount> {
  const late = Promise.withResolvers<"unknown">();
  const timer = setTimeout(() => late.resolve("unknown"), milliseconds);
  try {
    return await Promise.race([question, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

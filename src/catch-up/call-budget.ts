/** The share of the account's rate limit that catch-up uses. The rest is for handlers and other programs. */
const share = 0.2;
/** The Hub's limit for a free account, in calls per window. */
const freeLimit = 1_000;
const windowMs = 5 * 60_000;

interface CallBudgetOptions {
  /** Milliseconds that only increase. */
  monotonicNow: () => number;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The rate limit of the account in calls per 5 minutes. Default `1000`, the limit of a free account. */
  limit?: number | undefined;
}

/** Limits the calls to the Hub to a fifth of the account's rate limit. */
export class CallBudget {
  readonly #options: CallBudgetOptions;
  /** The number of calls per window. */
  readonly perWindow: number;
  #windowStart = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(options: CallBudgetOptions) {
    this.#options = options;
    this.perWindow = Math.floor((options.limit ?? freeLimit) * share);
  }

  /** Waits until a call is allowed, and counts it. @throws the abort reason of the signal. */
  async take(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#options.monotonicNow();
      if (now - this.#windowStart >= windowMs) {
        this.#windowStart = now;
        this.#used = 0;
      }
      if (this.#used < this.perWindow) {
        this.#used += 1;
        return;
      }
      await this.#options.wait(this.#windowStart + windowMs - now, signal);
    }
  }

  /** Returns the shortest interval in milliseconds in which this number of calls is possible. */
  shortestInterval(calls: number): number {
    return Math.ceil((calls / this.perWindow) * windowMs);
  }
}

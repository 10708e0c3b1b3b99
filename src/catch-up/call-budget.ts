/** The share of the account's rate limit that catch-up uses. The rest is for handlers and other programs. */
const share = 0.2;
/** The Hub's limit for a free account, in calls per window, until an answer of the Hub contains the limit of the account. */
const freeLimit = 1_000;
const windowMs = 5 * 60_000;

interface CallBudgetOptions {
  monotonicNow: () => number;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The rate limit of the account in calls per 5 minutes. Default `1000`, the limit of a free account. */
  limit?: number | undefined;
}

export class CallBudget {
  readonly #options: CallBudgetOptions;
  #perWindow: number;
  #windowStart = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(options: CallBudgetOptions) {
    this.#options = options;
    this.#perWindow = (options.limit ?? freeLimit) * share;
  }

  /** Adopts the limit of the account from an answer of the Hub, such as `RateLimit-Policy: "fixed window";"api";q=1000;w=300`. */
  adopt(headers: Headers): void {
    if (this.#perWindow === Number.POSITIVE_INFINITY) return;
    const [, calls, seconds] = /"api";q=(\d{1,9});w=(\d{1,9})/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
    const perWindow = ((Number(calls) * windowMs) / (Number(seconds) * 1_000)) * share;
    if (perWindow >= 1 && Number.isFinite(perWindow)) this.#perWindow = perWindow;
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
      if (this.#used + 1 <= this.#perWindow) {
        this.#used += 1;
        return;
      }
      await this.#options.wait(this.#windowStart + windowMs - now, signal);
    }
  }

  /** Returns the shortest interval in milliseconds in which this number of calls is possible. */
  shortestInterval(calls: number): number {
    return Math.ceil((calls / this.#perWindow) * windowMs);
  }
}

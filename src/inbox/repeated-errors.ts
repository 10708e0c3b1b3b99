import { messageOf } from "../core/describe-error.ts";

/** The minimum time between two log lines about errors with the same message, in milliseconds. */
const logIntervalMs = 60_000;

/** Limits the log lines about repeated errors to one per minute and message. */
export class RepeatedErrors {
  readonly #now: () => number;
  /** When an error with each message was last logged. */
  readonly #loggedAt = new Map<string, number>();

  /** @param now Returns a time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to log an error now. If `true`, the error counts as logged. */
  shouldLog(error: unknown): boolean {
    const message = messageOf(error);
    const now = this.#now();
    if (now - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < logIntervalMs) return false;
    this.#loggedAt.set(message, now);
    return true;
  }
}

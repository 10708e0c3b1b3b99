import { type Duration, toMilliseconds } from "../duration.ts";
import { WebhookError } from "../errors.ts";

/** How long to wait between the attempts at a delivery. */
export interface Backoff {
  /** The longest wait before the second attempt; it doubles with each further one. Default `"1s"`. */
  first?: Duration;
  /** No wait is longer than this. Default `"10m"`. */
  longest?: Duration;
}

/** How often a delivery is tried, and when. */
export interface RetryPolicy {
  attempts: number;
  /** Milliseconds to wait after the attempt of this number has failed. */
  waitAfter(attempt: number): number;
}

/**
 * When the next attempt is due, in milliseconds since the epoch: when the handler asked for it, else after the wait.
 * Where the handler asked for no time that there is (`new Date("soon")`), it has not asked.
 *
 * @param attempt number of the attempt that has failed.
 */
export function nextAttemptAt(
  policy: RetryPolicy,
  { attempt, retryAt, now }: { attempt: number; retryAt: Date | undefined; now: number },
): number {
  const asked = retryAt?.getTime() ?? Number.NaN;
  return Number.isNaN(asked) ? now + policy.waitAfter(attempt) : asked;
}

const defaultAttempts = 5;

/**
 * Makes the policy of an endpoint: exponential, with full jitter, so that what failed together does not come back
 * together.
 *
 * @param random from 0 up to 1.
 * @throws `OPTION_INVALID`.
 */
export function createRetryPolicy(
  { attempts = defaultAttempts, backoff = {} }: { attempts?: number | undefined; backoff?: Backoff | undefined },
  random: () => number = Math.random,
): RetryPolicy {
  if (!Number.isSafeInteger(attempts) || attempts < 1) {
    throw new WebhookError(`Option "attempts" is ${attempts}: give a whole number from 1 on.`, {
      code: "OPTION_INVALID",
    });
  }
  const first = toMilliseconds(backoff.first ?? "1s", "backoff.first");
  const longest = toMilliseconds(backoff.longest ?? "10m", "backoff.longest");
  return {
    attempts,
    waitAfter: (attempt) => Math.round(random() * Math.min(longest, first * 2 ** (attempt - 1))),
  };
}

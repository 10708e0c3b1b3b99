import { exponentialBackoff } from "../core/backoff.ts";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { checkCount, optionError } from "../core/option-error.ts";

/**
 * The waits between the attempts of a delivery: a list of waits, of which the last one repeats, or waits that double from
 * `first` up to `max`. Each wait varies by ±20 %, so that deliveries that failed together are not retried together.
 *
 * @example
 * ```ts
 * // Four attempts.
 * server.webhook("retrain", { background: true, backoff: ["10s", "1m", "1h"] }, async ({ repo }) => repo.name);
 * ```
 */
export type Backoff =
  | readonly Duration[]
  | {
      /** The wait before the second attempt. Default `"5s"`. */
      first?: Duration;
      /** The longest wait, apart from the ±20 %. Default `"12h"`, or `first` if that is longer. */
      max?: Duration;
    };

/** The number of attempts of a delivery, and the waits between them. */
export interface RetryPolicy {
  attempts: number;
  /** Milliseconds to wait after this attempt has failed, from 1. */
  waitAfter(attempt: number): number;
  /** The maximum sum of all waits, in milliseconds. */
  totalWaitMs: number;
}

/**
 * When the next attempt is due, in milliseconds since the epoch: at `retryAt` if the handler set it to a valid date, otherwise
 * after `retryDelayMs`.
 */
export function nextAttemptAt({
  retryDelayMs,
  retryAt,
  now,
}: {
  retryDelayMs: number;
  retryAt: Date | undefined;
  now: number;
}): number {
  const requested = retryAt?.getTime() ?? Number.NaN;
  return Number.isNaN(requested) ? now + retryDelayMs : requested;
}

/** About 22 hours in total: longer than most outages, shorter than a day. */
const defaultWaits: readonly Duration[] = ["5s", "30s", "2m", "10m", "30m", "1h", "2h", "6h", "12h"];
const defaultFirst: Duration = "5s";
const defaultMax: Duration = "12h";
const jitter = 0.2;

/**
 * Creates the retry policy of an endpoint.
 *
 * @param random from 0 up to 1.
 * @throws `OPTION_INVALID`.
 */
export function createRetryPolicy(
  { attempts: given, backoff }: { attempts?: number | undefined; backoff?: Backoff | undefined },
  random: () => number = Math.random,
): RetryPolicy {
  const waits = waitsOf(backoff);
  const attempts = given ?? (isList(backoff) ? waits.length : defaultWaits.length) + 1;
  checkCount(attempts, "attempts");
  const last = waits.at(-1) ?? 0;
  const retries = attempts - 1;
  const sum = waits.slice(0, retries).reduce((total, wait) => total + wait, 0);
  return {
    attempts,
    waitAfter: (attempt) => Math.round((waits[attempt - 1] ?? last) * (1 - jitter + 2 * jitter * random())),
    totalWaitMs: Math.ceil((sum + Math.max(0, retries - waits.length) * last) * (1 + jitter)),
  };
}

/** The waits in milliseconds; the last one repeats. */
function waitsOf(backoff: Backoff = defaultWaits): readonly number[] {
  if (isList(backoff)) {
    if (backoff.length === 0)
      throw optionError('Option "backoff" is an empty list. Give one wait or more, as in ["10s"].');
    return backoff.map((wait, index) => toMilliseconds(wait, `backoff[${index}]`));
  }
  if (typeof backoff !== "object" || backoff === null) {
    throw optionError(
      `Option "backoff" is ${JSON.stringify(backoff)}. Give a list of waits, as in ["10s", "1m"], or { first, max }.`,
    );
  }
  const unknown = Object.keys(backoff).find((name) => name !== "first" && name !== "max");
  if (unknown !== undefined) {
    throw optionError(`Unknown option "backoff.${unknown}". Valid options: first, max, or a list of waits.`);
  }
  const first = toMilliseconds(backoff.first ?? defaultFirst, "backoff.first");
  const max =
    backoff.max === undefined
      ? Math.max(first, toMilliseconds(defaultMax, "backoff.max"))
      : toMilliseconds(backoff.max, "backoff.max");
  if (first > max) {
    throw optionError(
      `Option "backoff.first" (${JSON.stringify(backoff.first)}) is longer than "backoff.max" (${JSON.stringify(backoff.max)}). Swap them, or leave "max" out.`,
    );
  }
  const waits = [first];
  while ((waits.at(-1) ?? max) < max) waits.push(exponentialBackoff(waits.length + 1, { firstMs: first, maxMs: max }));
  return waits;
}

function isList(backoff: Backoff | undefined): backoff is readonly Duration[] {
  return Array.isArray(backoff);
}

import { checkCount, type Duration, optionError, toMilliseconds } from "../core/options.ts";
import { exponentialBackoff } from "../core/time.ts";

/**
 * The waits between the attempts of a delivery: either a list of waits, whose last wait repeats, or waits that double from `first`
 * up to `max`. Each wait varies by ±20%, so that deliveries that failed together are not retried together.
 *
 * @example
 * ```ts
 * // Three waits allow four attempts.
 * server.webhook("retrain", { background: true, backoff: ["10s", "1m", "1h"] }, async ({ repo }) => repo.name);
 * ```
 */
export type Backoff =
  | readonly Duration[]
  | {
      /** The wait before the second attempt. Default `"5s"`. */
      first?: Duration;
      /** The maximum wait, before the variation of ±20%. Default `"12h"`, or `first` if it is longer. */
      max?: Duration;
    };

/** The maximum number of attempts per delivery, and the waits between attempts. */
export interface RetryPolicy {
  maxAttempts: number;
  /** Returns the wait after a failed attempt, in milliseconds. The first attempt has number 1. */
  waitAfter(attempt: number): number;
  /** The maximum sum of all waits. */
  totalWaitMs: number;
}

/** The waits add up to about 22 hours, which is longer than most outages and shorter than a day. */
const defaultWaits: readonly Duration[] = ["5s", "30s", "2m", "10m", "30m", "1h", "2h", "6h", "12h"];
const defaultFirst: Duration = "5s";
const defaultMax: Duration = "12h";
const jitter = 0.2;

/**
 * Creates the retry policy of an endpoint.
 *
 * @param random returns a random number from 0 to 1.
 * @throws `OPTION_INVALID` if an option is invalid.
 */
export function createRetryPolicy(
  { attempts, backoff }: { attempts?: number | undefined; backoff?: Backoff | undefined },
  random: () => number = Math.random,
): RetryPolicy {
  const waits = waitsOf(backoff);
  const maxAttempts = attempts ?? (isList(backoff) ? waits.length : defaultWaits.length) + 1;
  checkCount(maxAttempts, "attempts");
  const last = waits.at(-1) ?? 0;
  const retries = maxAttempts - 1;
  const sum = waits.slice(0, retries).reduce((total, wait) => total + wait, 0);
  return {
    maxAttempts,
    waitAfter: (attempt) => Math.round((waits[attempt - 1] ?? last) * (1 - jitter + 2 * jitter * random())),
    totalWaitMs: Math.ceil((sum + Math.max(0, retries - waits.length) * last) * (1 + jitter)),
  };
}

function waitsOf(backoff: Backoff = defaultWaits): readonly number[] {
  if (isList(backoff)) {
    if (backoff.length === 0)
      throw optionError('Option "backoff" is an empty list. Specify at least one wait, as in ["10s"].');
    return backoff.map((wait, index) => toMilliseconds(wait, `backoff[${index}]`));
  }
  if (typeof backoff !== "object" || backoff === null) {
    throw optionError(
      `Option "backoff" is ${JSON.stringify(backoff)}. Specify a list of waits, as in ["10s", "1m"], or { first, max }.`,
    );
  }
  const unknown = Object.keys(backoff).find((name) => name !== "first" && name !== "max");
  if (unknown !== undefined) {
    throw optionError(
      `Unknown option "backoff.${unknown}". Valid options: first, max. Instead of an object, you can also specify a list of waits.`,
    );
  }
  const first = toMilliseconds(backoff.first ?? defaultFirst, "backoff.first");
  const max =
    backoff.max === undefined
      ? Math.max(first, toMilliseconds(defaultMax, "backoff.max"))
      : toMilliseconds(backoff.max, "backoff.max");
  if (first > max) {
    throw optionError(
      `Option "backoff.first" (${JSON.stringify(backoff.first)}) is longer than "backoff.max" (${JSON.stringify(backoff.max)}). Swap the values, or omit "max".`,
    );
  }
  const waits = [first];
  while ((waits.at(-1) ?? max) < max) waits.push(exponentialBackoff(waits.length + 1, { firstMs: first, maxMs: max }));
  return waits;
}

function isList(backoff: Backoff | undefined): backoff is readonly Duration[] {
  return Array.isArray(backoff);
}

const dayMs = 24 * 3_600_000;

/** The retention periods of a finished delivery's data. */
export interface Retention {
  /** The retention period of bodies and attempts. */
  bodiesMs: number;
  /** The retention period of IDs, which are kept to detect duplicates. */
  idsMs: number;
}

/** The default of the `retention` endpoint option. */
export const defaultRetentionMs = 14 * dayMs;

/** The minimum retention period of the ID of a finished delivery. */
export const minIdRetentionMs = 7 * dayMs;
/** With a very high number of attempts, their waits are longer than any database can count. */
const maxIdRetentionMs = 3_650 * dayMs;

/** The retention of endpoints that this process does not serve and that have no stored retention. */
export const defaultRetention: Retention = { bodiesMs: defaultRetentionMs, idsMs: minIdRetentionMs };

/** Returns an endpoint's retention. IDs are kept longer than a delivery can be retried. */
export function retentionOf(queue: { retentionMs: number; policy: Pick<RetryPolicy, "totalWaitMs"> }): Retention {
  const neededMs = Math.max(minIdRetentionMs, queue.policy.totalWaitMs + dayMs);
  return { bodiesMs: queue.retentionMs, idsMs: Math.min(maxIdRetentionMs, neededMs) };
}

/*
 * Terms of crash recovery:
 *
 * - A process has crashed if it stopped before it recorded the results of its running deliveries, or if it did not renew their leases.
 * - A suspect is a delivery that was running when its process crashed. The suspect may have caused the crash.
 * - A delivery runs alone if it runs while no other delivery is running in the same process.
 *
 * A suspect is retried alone if possible. If the process then crashes again, the suspect caused the crash, and the crash
 * counts as an attempt. A crash while other deliveries were running does not count (at most three times per delivery),
 * because any of these deliveries may have caused it.
 */

/**
 * The maximum number of crashes that do not count. Later crashes count even if other deliveries were running. Otherwise, a delivery that
 * never runs alone could crash the process forever.
 */
const maxUncountedCrashes = 3;

export function countsAsAttempt(crash: { wasAlone: boolean; uncountedCrashes: number }): boolean {
  return crash.wasAlone || crash.uncountedCrashes >= maxUncountedCrashes;
}

/** The maximum time that a suspect holds back other deliveries. Without a limit, one slow handler could block all endpoints. */
export const maxHoldMs = 60_000;

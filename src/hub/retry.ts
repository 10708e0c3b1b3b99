import { exponentialBackoff } from "../core/backoff.ts";

/** Unless the Hub asks for a longer wait. */
const backoff = { firstMs: 500, maxMs: 20_000 };
/** The Hub may ask for a longer wait; whoever called should not hang for longer than this, in seconds. */
export const maxRetryAfterSeconds = 60;

/**
 * How long the Hub asks to wait, in whole seconds: `Retry-After` (seconds or a date) or `RateLimit: "api";r=0;t=55`
 * (nothing remains, 55 seconds to the reset), the longer of the two; `undefined` when it does not ask.
 */
export function readRetryAfterSeconds(headers: Headers, now: number): number | undefined {
  const asked = [retryAfter(headers.get("retry-after"), now), ...exhaustedLimits(headers.get("ratelimit"))];
  const known = asked.filter((seconds) => seconds !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = value.endsWith("GMT") ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** The seconds to the reset of each limit of which nothing remains. */
function exhaustedLimits(value: string | null): number[] {
  return (value ?? "")
    .split(",")
    .filter((limit) => /;\s*r=0(?:\s*;|\s*$)/.test(limit))
    .flatMap((limit) => /;\s*t=(\d{1,9})(?:\s*;|\s*$)/.exec(limit)?.[1] ?? [])
    .map(Number);
}

/**
 * How many milliseconds to wait before the next attempt, `attempt` being the number of the one that failed: a random
 * part of a span that doubles, so that many clients do not come back at once, and never less than the Hub asks for.
 */
export function retryDelayMs({
  attempt,
  random,
  asked = 0,
}: {
  attempt: number;
  random: number;
  asked: number | undefined;
}): number {
  return Math.max(asked * 1000, Math.floor(random * exponentialBackoff(attempt, backoff)));
}

const connectFailureCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Whether `fetch` failed before it had a connection: then nothing of the request can have arrived. */
export function isConnectFailure(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause !== "object" || cause === null) return false;
  const failed = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors : [cause];
  return failed.every(
    (failure: unknown) =>
      typeof failure === "object" &&
      failure !== null &&
      (("code" in failure && typeof failure.code === "string" && connectFailureCodes.has(failure.code)) ||
        ("syscall" in failure && failure.syscall === "connect")),
  );
}

/**
 * Resolves after so many milliseconds.
 *
 * @throws the reason of the signal as soon as it is aborted.
 */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    function abort(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

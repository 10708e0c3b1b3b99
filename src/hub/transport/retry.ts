import { exponentialBackoff } from "../../core/time.ts";

const backoff = { firstMs: 500, maxMs: 20_000 };
/**
 * The maximum delay that the client waits for, in seconds. If the Hub requests a longer delay, the call fails instead of blocking
 * the caller.
 */
export const maxRetryAfterSeconds = 60;

/**
 * Returns the delay that the Hub requests, in seconds. The delay is the longer one of `Retry-After` (seconds or a date) and an
 * exhausted `RateLimit`, such as `"api";r=0;t=55` (no requests remain, reset in 55 s). Returns `undefined` if neither header is
 * present.
 */
export function readRetryAfterSeconds(headers: Headers, now: number): number | undefined {
  const requested = [retryAfter(headers.get("retry-after"), now), ...exhaustedLimits(headers.get("ratelimit"))];
  const known = requested.filter((seconds) => seconds !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = value.endsWith("GMT") ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Returns the time until each exhausted limit is reset, in seconds. */
function exhaustedLimits(value: string | null): number[] {
  return (value ?? "")
    .split(",")
    .filter((limit) => /;\s*r=0(?:\s*;|\s*$)/.test(limit))
    .flatMap((limit) => /;\s*t=(\d{1,9})(?:\s*;|\s*$)/.exec(limit)?.[1] ?? [])
    .map(Number);
}

/**
 * Returns the delay before the next attempt, in milliseconds. `attempt` is the number of the failed attempt. Uses exponential
 * backoff with full jitter, so that many clients do not retry at the same time. The delay is at least as long as the Hub requests.
 */
export function retryDelayMs({
  attempt,
  random,
  requestedSeconds = 0,
}: {
  attempt: number;
  random: number;
  requestedSeconds: number | undefined;
}): number {
  return Math.max(requestedSeconds * 1000, Math.floor(random * exponentialBackoff(attempt, backoff)));
}

const connectFailureCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Whether `fetch` failed before a connection was open, so that the Hub received no part of the request. */
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
 * Resolves after a delay.
 *
 * @throws the signal's abort reason as soon as the signal is aborted.
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

/**
 * Waits up to `ms` milliseconds for a promise. Ignores a later rejection of the promise.
 *
 * @throws the error that `late` returns, if the promise is still pending after `ms` milliseconds.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(late()), ms);
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for a promise until the signal aborts. Ignores a later rejection of the promise.
 *
 * @throws the abort reason of the signal.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Returns the wait after a failed attempt, starting at 1. The first wait is `firstMs`. Each later wait doubles, up to `maxMs`. */
export function exponentialBackoff(
  attempt: number,
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: { firstMs: number; maxMs?: number },
): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

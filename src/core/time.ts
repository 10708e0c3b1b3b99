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

/** Waits up to `ms` milliseconds for a promise. Returns whether it resolved. Ignores a later rejection. */
export async function resolvesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const over = Promise.withResolvers<false>();
  const timer = setTimeout(over.resolve, ms, false);
  try {
    return await Promise.race([promise.then(() => true), over.promise]);
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

/** Returns a function that calls `load` once and returns its promise. After a failed call, the next call calls `load` again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Returns a function that calls `run`. Calls during a run return the promise of this run. */
export function shareRun<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Returns the wait after a failed attempt, starting at 1. The first wait is `firstMs`. Each later wait doubles, up to `maxMs`. */
export function exponentialBackoff(
  attempt: number,
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: { firstMs: number; maxMs?: number },
): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

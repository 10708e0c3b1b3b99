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

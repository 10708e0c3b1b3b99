/**
 * Waits for a promise, but no longer than `ms`. What the promise throws after that is ignored.
 *
 * @throws `late()` when the time is over.
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

/**
 * Waits for a promise, for at most `ms` milliseconds. Ignores its rejection after that.
 *
 * @throws `late()` after the deadline.
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

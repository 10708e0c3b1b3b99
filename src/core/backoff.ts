/**
 * Returns the milliseconds to wait after a failed attempt. The first wait is `firstMs`. Each later wait is twice as
 * long, up to `maxMs`.
 *
 * @param attempt the number of the attempt that failed, starting at 1.
 */
export function exponentialBackoff(
  attempt: number,
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: { firstMs: number; maxMs?: number },
): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

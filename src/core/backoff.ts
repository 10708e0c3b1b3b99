/**
 * Milliseconds to wait after a failed attempt: `firstMs` after the first, twice as long after each further one, and never
 * more than `maxMs`.
 *
 * @param attempt the number of the attempt that failed, from 1.
 */
export function exponentialBackoff(
  attempt: number,
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: { firstMs: number; maxMs?: number },
): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

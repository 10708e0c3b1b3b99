import type { RetryPolicy } from "./retry-policy.ts";

const dayMs = 24 * 3_600_000;

/** How long the id of a finished delivery is kept at least, in milliseconds, to recognize a duplicate. */
export const idsKnownMs = 7 * dayMs;

/** How long the ids of an endpoint are kept, in milliseconds: longer than all retries of a delivery can take. */
export function idsKeptMs({ totalWaitMs }: Pick<RetryPolicy, "totalWaitMs">): number {
  return Math.max(idsKnownMs, totalWaitMs + dayMs);
}

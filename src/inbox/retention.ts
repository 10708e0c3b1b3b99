import type { RetryPolicy } from "./retry-policy.ts";

const dayMs = 24 * 3_600_000;

/** How long the parts of finished deliveries are kept. */
export interface Retention {
  /** Bodies and attempts, in milliseconds. */
  bodiesMs: number;
  /** IDs, which identify duplicates, in milliseconds. */
  idsMs: number;
}

/** How long a finished delivery is kept unless its endpoint sets `retention`, in milliseconds. */
export const defaultRetentionMs = 14 * dayMs;

/** How long the ID of a finished delivery is kept at least, in milliseconds. */
export const minIdRetentionMs = 7 * dayMs;

/** The retention of endpoints that this process does not serve and whose retention is not stored. */
export const defaultRetention: Retention = { bodiesMs: defaultRetentionMs, idsMs: minIdRetentionMs };

/** The retention of an endpoint. IDs are kept for longer than all retries of a delivery can take. */
export function retentionOf({
  retentionMs,
  policy,
}: {
  retentionMs: number;
  policy: Pick<RetryPolicy, "totalWaitMs">;
}): Retention {
  return { bodiesMs: retentionMs, idsMs: Math.max(minIdRetentionMs, policy.totalWaitMs + dayMs) };
}

import type { RetryPolicy } from "./retry-policy.ts";

const dayMs = 24 * 3_600_000;

/** How long finished deliveries are kept. */
export interface Retention {
  /** For their bodies and attempts, in milliseconds. */
  bodiesMs: number;
  /** For their IDs, by which duplicates are recognized, in milliseconds. */
  idsMs: number;
}

/** How long a finished delivery is kept unless its endpoint sets `retention`, in milliseconds. */
export const defaultRetentionMs = 14 * dayMs;

/** How long the ID of a finished delivery is kept at least, in milliseconds. */
export const minIdRetentionMs = 7 * dayMs;

/** The retention of endpoints that no receiver has registered since the inbox stores it. */
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

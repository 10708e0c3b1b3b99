import type { RetryPolicy } from "./retry-policy.ts";

const dayMs = 24 * 3_600_000;

/** The retention periods of a finished delivery's data. */
export interface Retention {
  /** The retention period of bodies and attempts, in milliseconds. */
  bodiesMs: number;
  /** The retention period of IDs, which are kept to detect duplicates, in milliseconds. */
  idsMs: number;
}

/** The default of the `retention` endpoint option, in milliseconds. */
export const defaultRetentionMs = 14 * dayMs;

/** The minimum retention period of the ID of a finished delivery, in milliseconds. */
export const minIdRetentionMs = 7 * dayMs;

/** The retention of endpoints that this process does not serve and that have no stored retention. */
export const defaultRetention: Retention = { bodiesMs: defaultRetentionMs, idsMs: minIdRetentionMs };

/** Returns an endpoint's retention. IDs are kept longer than a delivery can be retried. */
export function retentionOf({
  retentionMs,
  policy,
}: {
  retentionMs: number;
  policy: Pick<RetryPolicy, "totalWaitMs">;
}): Retention {
  return { bodiesMs: retentionMs, idsMs: Math.max(minIdRetentionMs, policy.totalWaitMs + dayMs) };
}

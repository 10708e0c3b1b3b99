import type { RetryPolicy } from "./retry-policy.ts";

const dayMs = 24 * 3_600_000;

/** How long the data of a finished delivery is kept. */
export interface Retention {
  /** How long bodies and attempts are kept, in milliseconds. */
  bodiesMs: number;
  /** How long IDs are kept to detect duplicates, in milliseconds. */
  idsMs: number;
}

/** The default of the endpoint option `retention`, in milliseconds. */
export const defaultRetentionMs = 14 * dayMs;

/** The minimum time for which the ID of a finished delivery is kept, in milliseconds. */
export const minIdRetentionMs = 7 * dayMs;

/** The retention of endpoints that this process does not serve and that have no stored retention. */
export const defaultRetention: Retention = { bodiesMs: defaultRetentionMs, idsMs: minIdRetentionMs };

/** Returns the retention of an endpoint. IDs are kept longer than all retries of a delivery can take. */
export function retentionOf({
  retentionMs,
  policy,
}: {
  retentionMs: number;
  policy: Pick<RetryPolicy, "totalWaitMs">;
}): Retention {
  return { bodiesMs: retentionMs, idsMs: Math.max(minIdRetentionMs, policy.totalWaitMs + dayMs) };
}

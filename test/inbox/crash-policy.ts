import type { RetryPolicy } from "../../src/inbox/retry-policy.ts";

/** Two attempts, without a wait that a test has to wait for. */
export const crashPolicy: RetryPolicy = { attempts: 2, waitAfter: () => 1, totalWaitMs: 0 };

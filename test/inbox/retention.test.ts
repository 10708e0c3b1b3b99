import { describe, expect, test } from "vitest";
import { createRetryPolicy, minIdRetentionMs, retentionOf } from "../../src/inbox/retry.ts";

const dayMs = 24 * 3_600_000;

describe("The IDs of finished deliveries", () => {
  test("are kept for a week if all retries take less", () => {
    expect(retentionOf({ retentionMs: 1, policy: createRetryPolicy({}) })).toEqual({ bodiesMs: 1, idsMs: 7 * dayMs });
    expect(minIdRetentionMs).toBe(7 * dayMs);
  });

  test.each([
    ["the default waits, with more attempts", { attempts: 40 }],
    ["a list of waits", { backoff: ["6d", "6d"] as const }],
    ["a list of waits whose last one repeats", { attempts: 9, backoff: ["1s", "3d"] as const }],
    ["exponential waits", { attempts: 30, backoff: { first: "1h", max: "2d" } as const }],
  ])("are kept for a day longer than all retries can take: %s", (_what, options) => {
    const policy = createRetryPolicy(options, () => 1);
    const waits = Array.from({ length: policy.maxAttempts - 1 }, (_, index) => policy.waitAfter(index + 1));
    const longestMs = waits.reduce((sum, wait) => sum + wait, 0);
    expect(longestMs).toBeGreaterThan(7 * dayMs);
    expect(policy.totalWaitMs).toBe(longestMs);
    expect(retentionOf({ retentionMs: 1, policy }).idsMs).toBe(longestMs + dayMs);
  });

  test("is a whole number of at most ten years, also with attempts without end", () => {
    const policy = createRetryPolicy({ attempts: Number.MAX_SAFE_INTEGER });
    expect(retentionOf({ retentionMs: 1, policy }).idsMs).toBe(3_650 * dayMs);
  });
});

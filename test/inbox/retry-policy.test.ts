import { describe, expect, test } from "vitest";
import { createRetryPolicy } from "../../src/inbox/retry-policy.ts";

describe("The wait after an attempt", () => {
  const backoff = { first: "1s", longest: "5s" } as const;

  test("is at longest the first one, and twice as long after each further attempt, up to the longest", () => {
    const { waitAfter } = createRetryPolicy({ backoff }, () => 1);
    expect([1, 2, 3, 4, 50].map(waitAfter)).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  test("is any part of that, so that what failed together does not come back together", () => {
    expect(createRetryPolicy({ backoff }, () => 0).waitAfter(1)).toBe(0);
    expect(createRetryPolicy({ backoff }, () => 0.25).waitAfter(2)).toBe(500);
  });

  test("is up to a second and up to ten minutes where nothing is said, for five attempts", () => {
    const { attempts, waitAfter } = createRetryPolicy({}, () => 1);
    expect([attempts, waitAfter(1), waitAfter(50)]).toEqual([5, 1_000, 600_000]);
  });
});

import { describe, expect, test } from "vitest";
import { nextStep } from "../../src/inbox/inbox.ts";
import { type Backoff, createRetryPolicy, minIdRetentionMs, retentionOf } from "../../src/inbox/retry.ts";
import { failed, succeeded } from "./engine.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Replaces `random` with a value that results in no jitter. */
const middle = () => 0.5;

describe("The default retry policy", () => {
  test("spreads ten attempts over about 22 hours", () => {
    const { maxAttempts, waitAfter } = createRetryPolicy({}, middle);
    const waits = Array.from({ length: maxAttempts - 1 }, (_, index) => waitAfter(index + 1));
    expect(maxAttempts).toBe(10);
    expect(waits).toEqual([
      ...[5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute],
      ...[hour, 2 * hour, 6 * hour, 12 * hour],
    ]);
  });

  test("uses the first waits for fewer attempts, and repeats the last one for more", () => {
    expect(createRetryPolicy({ attempts: 3 }, middle).totalWaitMs).toBe(1.2 * 35 * second);
    const { waitAfter } = createRetryPolicy({ attempts: 12 }, middle);
    expect([10, 11].map(waitAfter)).toEqual([12 * hour, 12 * hour]);
  });
});

describe("A wait", () => {
  test("varies by up to 20 %", () => {
    const waitOf = (random: number) => createRetryPolicy({ backoff: ["10s"] }, () => random).waitAfter(1);
    expect([0, 0.5, 0.999_999].map(waitOf)).toEqual([8 * second, 10 * second, 12 * second]);
  });
});

describe("A list of waits", () => {
  test("allows one attempt more than it has waits", () => {
    const { maxAttempts, waitAfter } = createRetryPolicy({ backoff: ["10s", "1m"] }, middle);
    expect([maxAttempts, waitAfter(1), waitAfter(2)]).toEqual([3, 10 * second, minute]);
  });

  test("repeats its last wait for more attempts", () => {
    const { maxAttempts, waitAfter } = createRetryPolicy({ attempts: 5, backoff: ["10s", "1m"] }, middle);
    expect([maxAttempts, ...[1, 2, 3, 4].map(waitAfter)]).toEqual([5, 10 * second, minute, minute, minute]);
  });
});

describe("Exponential waits", () => {
  test("double from the first up to the maximum", () => {
    const { maxAttempts, waitAfter } = createRetryPolicy({ backoff: { first: "1s", max: "5s" } }, middle);
    expect([maxAttempts, ...[1, 2, 3, 4, 50].map(waitAfter)]).toEqual([10, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  test("grow from 5 s to 12 h by default", () => {
    const { waitAfter } = createRetryPolicy({ backoff: {} }, middle);
    expect([1, 2, 100].map(waitAfter)).toEqual([5 * second, 10 * second, 12 * hour]);
  });

  test("stay at `first` if it is longer than the default maximum", () => {
    const { waitAfter } = createRetryPolicy({ backoff: { first: "1d" } }, middle);
    expect([1, 2].map(waitAfter)).toEqual([24 * hour, 24 * hour]);
  });
});

describe("The maximum sum of all waits", () => {
  test.each<[string, { attempts?: number; backoff?: Backoff }, number]>([
    ["one attempt", { attempts: 1 }, 0],
    ["fewer attempts than waits", { attempts: 2, backoff: ["10s", "1h"] }, 12 * second],
    ["as many waits as are needed", { backoff: ["10s", "20s"] }, 36 * second],
    ["a last wait that repeats", { attempts: 4, backoff: ["10s", "20s"] }, 60 * second],
    ["exponential waits", { attempts: 5, backoff: { first: "1s", max: "2s" } }, 8.4 * second],
  ])("includes the jitter: %s", (_what, options, totalWaitMs) => {
    expect(createRetryPolicy(options).totalWaitMs).toBe(totalWaitMs);
  });
});

describe("A retry policy", () => {
  test.each<[object, string]>([
    [{ attempts: 0 }, "attempts"],
    [{ attempts: 1.5 }, "attempts"],
    [{ backoff: [] }, "backoff"],
    [{ backoff: ["soon"] }, "backoff[0]"],
    [{ backoff: ["1s", 0] }, "backoff[1]"],
    [{ backoff: "10s" }, "backoff"],
    [{ backoff: null }, "backoff"],
    [{ backoff: { first: "soon" } }, "backoff.first"],
    [{ backoff: { max: -1 } }, "backoff.max"],
    [{ backoff: { first: "2m", max: "1m" } }, "backoff.first"],
    [{ backoff: { longest: "1m" } }, "backoff.longest"],
  ])("rejects %j, and names the option", (options, name) => {
    expect(() => createRetryPolicy(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(`"${name}"`) }),
    );
  });
});

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

const claimed = { isLastAttempt: false, retryDelayMs: 10_000 };
const attempt = { claimed, isInterrupted: false, now: 100 };

describe("The next step of a delivery", () => {
  test.each([["succeeded", succeeded], ["ignored", { status: "ignored", reason: "scope" }] as const])(
    "is the outcome %s, even if its signal was aborted",
    (status, outcome) => {
      expect(nextStep(outcome, attempt)).toEqual({ status });
      expect(nextStep(outcome, { ...attempt, isInterrupted: true })).toEqual({ status });
    },
  );

  test("is a retry at the time that the handler requested", () => {
    const outcome = failed({ retryAt: new Date(5) });
    expect(nextStep(outcome, attempt)).toEqual({ status: "queued", dueAt: 5, counts: true });
  });

  test.each([undefined, new Date("soon")])(
    "is a retry after the wait of the policy if the requested time is %s",
    (retryAt) => {
      const outcome = failed({ ...(retryAt && { retryAt }) });
      expect(nextStep(outcome, attempt)).toEqual({ status: "queued", dueAt: 10_100, counts: true });
    },
  );

  test("is dead after the last attempt and after an error that cannot be retried", () => {
    expect(nextStep(failed(), { ...attempt, claimed: { ...claimed, isLastAttempt: true } })).toEqual({
      status: "dead",
    });
    expect(nextStep(failed({ retryable: false }), attempt)).toEqual({ status: "dead" });
  });

  test("is an immediate run that does not count the attempt if the attempt was interrupted", () => {
    const last = { claimed: { ...claimed, isLastAttempt: true }, isInterrupted: true, now: 100 };
    const outcome = failed({ retryable: false, retryAt: new Date(5) });
    expect(nextStep(outcome, last)).toEqual({ status: "queued", dueAt: 100, counts: false });
  });
});

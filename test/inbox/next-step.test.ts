import { describe, expect, test } from "vitest";
import { nextStep } from "../../src/inbox/inbox.ts";
import { failed, succeeded } from "./engine.ts";

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

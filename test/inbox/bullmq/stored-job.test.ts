import { describe, expect, test } from "vitest";
import {
  attemptEntry,
  attemptsIn,
  bodyOf,
  countedAttempts,
  crashedClaims,
  crashesIn,
  type DeliveryJob,
  finalOutcome,
  hasEnded,
  isSuspect,
  type RunState,
  readHistory,
  replayEntry,
  retryFinished,
  toJobData,
} from "../../../src/inbox/bullmq/stored-job.ts";
import { storedClosingError, storedCrashError } from "../../../src/inbox/errors.ts";
import type { DeliveryAttempt } from "../../../src/inbox/inbox.ts";
import { incoming } from "../engine.ts";

const skipped = (claim: number) => JSON.stringify({ claim, skipped: true });
const runState = (claim: number, value: RunState) => JSON.stringify({ claim, runState: value });
const replayed = (attemptsStarted: number) => replayEntry({ attemptsStarted });
const ended = (
  claim: number,
  outcome: DeliveryAttempt["outcome"],
  { number = claim, counts = true, error = {} } = {},
) => attemptEntry({ claim, attempt: { number, outcome, ...error }, counts });
const crashed = (claim: number, { counts = false } = {}) =>
  ended(claim, "abandoned", { counts, error: { error: storedCrashError } });
const closed = (claim: number) => ended(claim, "abandoned", { counts: false, error: { error: storedClosingError } });

describe("The history of a delivery", () => {
  test("skips unsupported entries", () => {
    expect(readHistory(["", "{", '{"other":1}', "null", skipped(1)])).toHaveLength(1);
  });

  test.each([
    ["a success after a lost lease", ["abandoned", "succeeded"], "succeeded"],
    ["a failure after a lost lease", ["abandoned", "failed"], "failed"],
    ["a success before a crash was recorded", ["succeeded", "abandoned"], "succeeded"],
    ["a success before a failure", ["succeeded", "failed"], "succeeded"],
  ] as const)("keeps the most certain result of an attempt: %s", (_what, outcomes, known) => {
    const history = readHistory(outcomes.map((outcome) => ended(1, outcome)));
    expect(attemptsIn(history)).toMatchObject([{ number: 1, outcome: known }]);
  });

  test("has an end for claims that ran or were skipped, not for those that are waiting or running", () => {
    const history = readHistory([ended(1, "failed"), skipped(2), runState(3, "alone")]);
    expect([1, 2, 3, 4].map((claim) => hasEnded(history, claim))).toEqual([true, true, false, false]);
  });

  test("finds the claims that a crash interrupted, and whether other deliveries were running", () => {
    const entries = [
      ended(1, "failed"),
      skipped(2),
      runState(3, "waiting"),
      runState(4, "waiting"),
      runState(4, "alone"),
    ];
    const history = readHistory([
      ...entries,
      runState(5, "alone"),
      runState(5, "shared"),
      runState(6, "alone"),
      ended(6, "failed"),
    ]);
    expect(crashedClaims(history, { attemptsStarted: 8 })).toEqual([
      { claim: 4, wasAlone: true },
      { claim: 5, wasAlone: false },
      { claim: 7, wasAlone: false },
    ]);
  });

  test.each([
    ["recorded", [crashed(1)]],
    ["not recorded", []],
    ["followed by a shutdown", [crashed(1), closed(2)]],
  ])("does not count a suspect that was still waiting: its first crash is %s", (_what, entries) => {
    const claims = crashedClaims(readHistory(entries), { attemptsStarted: 4 });
    expect(claims.map(({ claim }) => claim)).toEqual(entries.length === 0 ? [1] : []);
  });

  test("no longer suspects a delivery after a finished run", () => {
    const history = readHistory([crashed(1), runState(2, "alone"), ended(2, "failed")]);
    expect(crashedClaims(history, { attemptsStarted: 4 })).toEqual([{ claim: 3, wasAlone: false }]);
  });

  test.each([
    ["a success", [ended(1, "succeeded")], "succeeded"],
    ["a success after another run has failed", [ended(2, "failed"), ended(1, "succeeded")], "succeeded"],
    ["a failure", [ended(1, "failed")], undefined],
    ["an ignored delivery", [ended(2, "failed"), ended(1, "ignored")], "ignored"],
    ["a success and a run that ignored the delivery", [ended(2, "ignored"), ended(1, "succeeded")], "succeeded"],
    ["a success before a replay", [ended(1, "succeeded"), replayed(1)], undefined],
    ["a success that ended after a replay was requested", [replayed(1), ended(1, "succeeded")], undefined],
    ["a success after a replay", [ended(1, "ignored"), replayed(1), ended(2, "succeeded")], "succeeded"],
  ] as const)("shows the final outcome of a delivery: %s", (_what, entries, outcome) => {
    expect(finalOutcome(readHistory(entries))).toBe(outcome);
  });

  test("counts each attempt since the last replay once, and crashes separately", () => {
    const history = readHistory([
      crashed(1, { counts: true }),
      replayed(1),
      crashed(2),
      crashed(3, { counts: true }),
      ended(3, "failed"),
      ended(4, "failed"),
      closed(5),
    ]);
    expect(countedAttempts(history)).toBe(2);
    expect(crashesIn(history)).toEqual({ counted: 1, uncounted: 1 });
  });

  test.each([
    ["nothing", [], false],
    ["a crash", [crashed(1)], true],
    ["a crash, then a shutdown", [crashed(1), closed(2)], true],
    ["a crash before a replay", [crashed(1), replayed(1)], true],
    ["a crash, then a failure", [crashed(1), ended(2, "failed")], false],
    ["a shutdown", [closed(1)], false],
  ])("shows whether a delivery is a suspect: %s", (_what, entries, suspected) => {
    expect(isSuspect(readHistory(entries))).toBe(suspected);
  });
});

test.each(["{}", "Grüße 🪝", "\u0000", "\ud83d", "\udf32\ud83d", ""])("A job stores the body %j unchanged", (body) => {
  expect(bodyOf(toJobData(incoming("a", { body })))).toBe(body);
});

test.each(["\u0000", "\ud83d", "\udf32\ud83d"])("A job encodes the body %j, which jsonb cannot store", (body) => {
  expect(JSON.stringify(toJobData(incoming("a", { body })))).toMatch(/^[\w{}:=",+/]*$/);
});

describe("A dead delivery that cannot be queued again", () => {
  const refused = new Error("The job cannot be retried.");

  function jobIn(state: string, error = refused): DeliveryJob {
    const job: Partial<DeliveryJob> = {
      attemptsStarted: 1,
      log: async () => 1,
      retry: () => Promise.reject(error),
      getState: async () => state as "failed",
    };
    return job as DeliveryJob;
  }

  test("was replayed by another process if it is no longer dead", async () => {
    expect(await retryFinished(jobIn("waiting"), "failed")).toBe(false);
  });

  test("was replayed by another process if it is dead again", async () => {
    const error = Object.assign(new Error("Job is not in the failed state."), { code: -3 });
    expect(await retryFinished(jobIn("failed", error), "failed")).toBe(false);
  });

  test("was pruned by another process if it is no longer stored", async () => {
    expect(await retryFinished(jobIn("unknown"), "failed")).toBeUndefined();
  });

  test("is an error if it is still dead", async () => {
    await expect(retryFinished(jobIn("failed"), "failed")).rejects.toBe(refused);
  });
});

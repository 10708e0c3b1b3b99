import { expect, onTestFinished, test, vi } from "vitest";
import { StallDetector } from "../../../src/inbox/bullmq/health.ts";

const stalledMs = 1_000;

/** Creates a detector for one stalled worker. The test controls its state and the clock. */
function createDetector() {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const detector = new StallDetector(stalledMs);
  const progress = { isRunning: true, hasCapacity: true, claimed: 0 };
  const state = { hasWaiting: true };
  const isStalled = async () => {
    const workers = new Map([["retrain", { progress }]]);
    return (await detector.findProblem(workers, async () => state.hasWaiting)) !== undefined;
  };
  return { progress, state, isStalled };
}

test("An endpoint is stalled if its deliveries wait for too long and none is claimed", async () => {
  const { progress, isStalled } = createDetector();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs - 1);
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await isStalled()).toBe(true);
  progress.claimed += 1;
  expect(await isStalled()).toBe(false);
});

test.each([
  { reason: "nothing waits", busy: { hasCapacity: true }, hasWaiting: false },
  { reason: "its worker is busy", busy: { hasCapacity: false }, hasWaiting: true },
])("The time of a stall starts again when $reason", async ({ busy, hasWaiting }) => {
  const { progress, state, isStalled } = createDetector();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  Object.assign(progress, busy);
  state.hasWaiting = hasWaiting;
  expect(await isStalled()).toBe(false);
  Object.assign(progress, { hasCapacity: true });
  state.hasWaiting = true;
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  expect(await isStalled()).toBe(true);
});

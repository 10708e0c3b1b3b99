import { expect, onTestFinished, test, vi } from "vitest";
import { StallDetector } from "../../../src/inbox/bullmq/problems.ts";

const stalledMs = 1_000;

/** A watch over one worker that takes nothing, whose state and clock a test decides on. */
function openWatch() {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const watch = new StallDetector(stalledMs);
  const progress = { isRunning: true, isFree: true, taken: 0 };
  const state = { hasWaiting: true };
  const isStalled = async () => {
    const problems = await watch.stalled(new Map([["retrain", { progress }]]), async () => state.hasWaiting);
    return problems.length > 0;
  };
  return { progress, state, isStalled };
}

test("An endpoint is stalled once deliveries have waited for so long without one being taken", async () => {
  const { progress, isStalled } = openWatch();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs - 1);
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await isStalled()).toBe(true);
  progress.taken += 1;
  expect(await isStalled()).toBe(false);
});

test.each([
  { what: "nothing waited", busy: { isFree: true }, hasWaiting: false },
  { what: "its worker was busy", busy: { isFree: false }, hasWaiting: true },
])("An endpoint is not stalled by what was before a time at which $what", async ({ busy, hasWaiting }) => {
  const { progress, state, isStalled } = openWatch();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  Object.assign(progress, busy);
  state.hasWaiting = hasWaiting;
  expect(await isStalled()).toBe(false);
  Object.assign(progress, { isFree: true });
  state.hasWaiting = true;
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  expect(await isStalled()).toBe(true);
});

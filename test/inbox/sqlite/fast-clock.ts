import { onTestFinished, vi } from "vitest";

/** Returns a monotonic clock that advances by `stepMs` on each read. */
export function fastClock(stepMs = 0) {
  const clock = {
    stepMs,
    /** The number of reads. */
    reads: 0,
    time: 0,
    now: () => {
      clock.reads += 1;
      clock.time += clock.stepMs;
      return clock.time;
    },
  };
  return clock;
}

/** Lets `performance` pass 50 times as fast until the test ends or the returned function is called, so that locks time out. */
export function hurry(): () => void {
  const { now } = performance;
  const startedAt = performance.now();
  const hurried = vi
    .spyOn(performance, "now")
    .mockImplementation(() => startedAt + 50 * (now.call(performance) - startedAt));
  onTestFinished(() => hurried.mockRestore());
  return () => hurried.mockRestore();
}

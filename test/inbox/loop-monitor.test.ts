import { afterEach, expect, test, vi } from "vitest";
import { createLoopCounter, LoopMonitor } from "../../src/inbox/loop-monitor.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("Measures how long the counter of the event loop has not changed", () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const beat = createLoopCounter();
  Atomics.add(beat, 0, 7);
  const loop = new LoopMonitor(beat);
  clock.mockReturnValue(1_400);
  expect(loop.blockedMs()).toBe(400);
  Atomics.add(beat, 0, 1);
  clock.mockReturnValue(1_500);
  expect(loop.blockedMs()).toBe(0);
  clock.mockReturnValue(1_800);
  expect(loop.blockedMs()).toBe(300);
});

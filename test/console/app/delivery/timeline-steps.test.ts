import { expect, test } from "vitest";
import { listSteps } from "../../../../src/console/app/delivery/timeline.tsx";
import type { AttemptInfo } from "../../../../src/console/protocol/deliveries.ts";

function attempt(number: number, startedAt: number): AttemptInfo {
  return { number, startedAt, durationMs: 200, outcome: "failed" };
}

test("shows the waits between attempts, and the next attempt", () => {
  const timeline = [attempt(1, 1_000), attempt(2, 1_250), attempt(3, 31_450)];
  expect(listSteps({ timeline, status: "retrying", nextAttemptAt: 99_000 })).toEqual([
    { type: "attempt", attempt: timeline[0], isLast: false },
    { type: "attempt", attempt: timeline[1], isLast: false },
    { type: "wait", before: 3, ms: 30_000 },
    { type: "attempt", attempt: timeline[2], isLast: true },
    { type: "next", number: 4, at: 99_000 },
  ]);
});

test("shows no next attempt of a dead delivery", () => {
  expect(listSteps({ timeline: [attempt(1, 0)], status: "dead" })).toHaveLength(1);
});

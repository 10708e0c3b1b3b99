import type { AttemptInfo, DeliveryDetails } from "../../protocol/deliveries.ts";

/** A part of the timeline. */
export type TimelineStep =
  | { type: "attempt"; attempt: AttemptInfo; isLast: boolean }
  /** `before` is the number of the attempt that follows. */
  | { type: "wait"; before: number; ms: number }
  /** The next attempt. `at` is missing if it starts as soon as a worker is free. */
  | { type: "next"; number: number; at: number | undefined };

/** Shorter waits are not shown. */
const minWaitMs = 100;

/** Lists the attempts with the waits between them, and the next attempt. */
export function listSteps({
  timeline,
  status,
  nextAttemptAt,
}: Pick<DeliveryDetails, "timeline" | "status" | "nextAttemptAt">): TimelineStep[] {
  const steps: TimelineStep[] = [];
  timeline.forEach((attempt, index) => {
    const wait = waitBetween(timeline[index - 1], attempt);
    if (wait !== undefined && wait >= minWaitMs) steps.push({ type: "wait", before: attempt.number, ms: wait });
    steps.push({ type: "attempt", attempt, isLast: index === timeline.length - 1 });
  });
  if (status === "queued" || status === "retrying") {
    steps.push({ type: "next", number: (timeline.at(-1)?.number ?? 0) + 1, at: nextAttemptAt });
  }
  return steps;
}

function waitBetween(earlier: AttemptInfo | undefined, later: AttemptInfo): number | undefined {
  if (earlier?.startedAt === undefined || later.startedAt === undefined) return undefined;
  return later.startedAt - earlier.startedAt - (earlier.durationMs ?? 0);
}

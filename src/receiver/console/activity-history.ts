import type { ActivityBar, ActivityWindow } from "../../console/protocol/endpoints.ts";
import { hour, minute, type SlotSize, slotOf } from "../endpoint/activity.ts";
import type { ShownActivity } from "./earlier-activity.ts";

const windows: Readonly<Record<ActivityWindow, { length: number; slotsPerBar: number; size: SlotSize }>> = {
  "15m": { length: 15, slotsPerBar: 1, size: minute },
  "1h": { length: 12, slotsPerBar: 5, size: minute },
  "24h": { length: 24, slotsPerBar: 1, size: hour },
};

/** Returns the counts of an endpoint in the bars of a window, oldest first. `now`: milliseconds since the epoch. */
export function activityHistory(
  activity: Pick<ShownActivity, "countsIn">,
  { window, now }: { window: ActivityWindow; now: number },
): readonly ActivityBar[] {
  const { length, slotsPerBar, size } = windows[window];
  const first = slotOf(now, size) - length * slotsPerBar + 1;
  return Array.from({ length }, (_, bar) => {
    const sums = [0, 0, 0, 0];
    for (let slot = first + bar * slotsPerBar; slot < first + (bar + 1) * slotsPerBar; slot += 1) {
      const counts = activity.countsIn(size, slot);
      sums.forEach((sum, kind) => {
        sums[kind] = sum + (counts[kind] ?? 0);
      });
    }
    const [deliveries = 0, failures = 0, attempts = 0, failedAttempts = 0] = sums;
    return { deliveries, failures, attempts, failedAttempts };
  });
}

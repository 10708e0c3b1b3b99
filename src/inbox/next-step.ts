import type { Outcome } from "../payload/delivery.ts";
import type { ClaimedDelivery } from "./inbox.ts";

/** The status of a delivery after an attempt. */
export type NextStep =
  | { status: "succeeded" | "dead" }
  | {
      status: "queued";
      /** When the next attempt is due, in milliseconds since the epoch. */
      dueAt: number;
      /** Whether the attempt counts toward `maxAttempts`. An interrupted attempt does not count. */
      counts: boolean;
    };

/**
 * Returns the next step after an attempt. All inboxes and the log use this function, so that they agree.
 *
 * - A delivery that the handler processed or the filter ignored has succeeded.
 * - If the attempt was interrupted, the delivery runs again immediately.
 * - After a failure, the delivery is retried at the requested time, otherwise after the wait of the retry policy. The delivery is
 *   dead if the error is not retryable or no attempts are left.
 */
export function nextStep(
  outcome: Outcome,
  {
    claimed,
    isInterrupted,
    now,
  }: {
    claimed: Pick<ClaimedDelivery, "isLastAttempt" | "retryDelayMs">;
    /** Whether the handler's signal was aborted before the handler finished, by a shutdown or because the lease was lost. */
    isInterrupted: boolean;
    /** Milliseconds since the epoch. */
    now: number;
  },
): NextStep {
  if (outcome.status !== "failed") return { status: "succeeded" };
  if (isInterrupted) return { status: "queued", dueAt: now, counts: false };
  if (!outcome.error.retryable || claimed.isLastAttempt) return { status: "dead" };
  const requested = outcome.retryAt?.getTime() ?? Number.NaN;
  return { status: "queued", dueAt: Number.isNaN(requested) ? now + claimed.retryDelayMs : requested, counts: true };
}

import type { Outcome } from "../payload/parse.ts";
import type { ClaimedDelivery, NextStep } from "./inbox.ts";

/**
 * Returns the next step after an attempt. An inbox decides it once, stores it unless the delivery was replayed meanwhile, and passes
 * the stored step to `FinishedRun.onStored`.
 *
 * - A delivery that the handler processed has succeeded, and one that a condition ignored is ignored.
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
  if (outcome.status !== "failed") return { status: outcome.status };
  if (isInterrupted) return { status: "queued", dueAt: now, counts: false };
  if (!outcome.error.retryable || claimed.isLastAttempt) return { status: "dead" };
  const requested = outcome.retryAt?.getTime() ?? Number.NaN;
  return { status: "queued", dueAt: Number.isNaN(requested) ? now + claimed.retryDelayMs : requested, counts: true };
}

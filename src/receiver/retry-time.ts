import { WebhookError } from "../core/errors.ts";
import type { Task } from "../inbox/inbox.ts";
import type { Outcome } from "../payload/delivery.ts";
import type { Endpoint } from "./endpoint.ts";

/** The attempt that asked for a time, and the clock. */
export interface RetryTimeContext {
  endpoint: Pick<Endpoint, "name" | "background">;
  task: Pick<Task, "isLast">;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Drops a retry time that a handler asked for and that is no date, or lies beyond the endpoint's retention: the inbox
 * would keep the delivery queued for as long as the handler likes. The delivery is retried after the policy's own wait.
 */
export function refuseLateRetry(outcome: Outcome, { endpoint, task, now }: RetryTimeContext): Outcome {
  if (outcome.status !== "failed" || outcome.retryAt === undefined) return outcome;
  const { error, retryAt } = outcome;
  if (task.isLast || !error.retryable) return outcome;
  const latest = now() + (endpoint.background?.retentionMs ?? Number.POSITIVE_INFINITY);
  const asked = retryAt.getTime();
  if (asked <= latest) return outcome;
  const problem = Number.isNaN(asked)
    ? "at an invalid date"
    : `at ${retryAt.toISOString()}, beyond its retention (until ${new Date(latest).toISOString()})`;
  return {
    status: "failed",
    error: new WebhookError(
      `The handler of endpoint "${endpoint.name}" asked to be retried ${problem}. The endpoint's own wait is used instead: ask for an earlier time, or set a longer "retention".`,
      { code: "RETRY_TIME_INVALID", status: 500, retryable: true, cause: error.cause },
    ),
  };
}

import { describeError } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { Redaction } from "../core/redaction.ts";
import type { Outcome } from "../payload/delivery.ts";

/** The outcome as an inbox may store it: a failure without secrets in its message and in that of its cause. */
export function redactOutcome(outcome: Outcome, redaction: Redaction): Outcome {
  if (outcome.status !== "failed") return outcome;
  const { code, status, retryable, retryAfterSeconds, message, cause } = outcome.error;
  const reason = cause === undefined ? undefined : describeError(cause).message;
  const shown = { message: redaction.text(message), reason: reason && redaction.text(reason) };
  if (shown.message === message && shown.reason === reason) return outcome;
  const error = new WebhookError(shown.message, {
    ...{ code, retryable, cause: shown.reason },
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
  return { ...outcome, error };
}

import { withDeadline } from "../../core/deadline.ts";
import { WebhookError } from "../../core/errors.ts";

/** After this time, an inbox counts as down, so that a page shows an error instead of loading forever. In milliseconds. */
const defaultTimeoutMs = 5_000;

/**
 * Waits for an answer of the inbox.
 *
 * @throws `INBOX_UNAVAILABLE` (503) after the timeout.
 */
export function withInboxDeadline<Result>(
  pending: Promise<Result>,
  timeoutMs: number = defaultTimeoutMs,
): Promise<Result> {
  const late = () =>
    new WebhookError(`The inbox did not answer within ${timeoutMs / 1000} s. Check whether its server is up.`, {
      code: "INBOX_UNAVAILABLE",
      status: 503,
    });
  return withDeadline(pending, timeoutMs, late);
}

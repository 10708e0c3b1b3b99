import { type Duration, toMilliseconds } from "./duration.ts";
import { WebhookError } from "./errors.ts";

/**
 * Thrown by a handler whose delivery can never succeed: a background endpoint does not try it again, and keeps it as
 * dead.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new PermanentError("There is no such model.");
 * ```
 */
export class PermanentError extends WebhookError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "PERMANENT_FAILURE", status: 500, ...options });
  }
}

/**
 * Thrown by a handler that knows when to try again: a background endpoint waits until then, or for so long. The attempt
 * counts all the same.
 *
 * @throws `OPTION_INVALID` when `when` is no duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
export class RetryAfterError extends WebhookError {
  /** When to try again. */
  readonly retryAt: Date;

  constructor(when: Duration | Date, { message, cause }: { message?: string; cause?: unknown } = {}) {
    super(message ?? "The handler asks to be run again later.", {
      code: "RETRY_LATER",
      status: 500,
      retryable: true,
      cause,
    });
    this.retryAt = when instanceof Date ? when : new Date(Date.now() + toMilliseconds(when, "when"));
  }
}

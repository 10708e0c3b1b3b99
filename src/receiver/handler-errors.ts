import { readField } from "../core/describe-error.ts";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { HubError, WebhookError, type WebhookErrorCode } from "../core/errors.ts";

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
 * counts all the same. A time that is no date, or beyond the endpoint's `retention`, is refused with a warning
 * (`RETRY_TIME_INVALID`), and the endpoint's own wait is used.
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

/**
 * Refusals of the Hub that no repetition within minutes cures: the request or the token has to be another one. What is
 * not there yet (404), or in the way (409), may be otherwise soon.
 */
const refusedForGood: ReadonlySet<WebhookErrorCode> = new Set<WebhookErrorCode>([
  "ARGUMENT_INVALID",
  "TOKEN_MISSING",
  "TOKEN_INVALID",
  "HUB_REQUEST_INVALID",
  "HUB_UNAUTHORIZED",
  "HUB_FORBIDDEN",
]);

/** Whoever answers in the Hub's place may ask for years; the Hub's own limits are over within minutes. */
const longestAskedSeconds = 3600;

/** Whether what a handler threw says that it will fail each time. */
export function isPermanent(thrown: unknown): boolean {
  if (HubError.isInstance(thrown)) return refusedForGood.has(thrown.code);
  return WebhookError.isInstance(thrown) && thrown.code === "PERMANENT_FAILURE";
}

/** When to try again, where the thrown error has a `retryAt` or is a refusal of the Hub with a wait. */
export function retryTimeOf(thrown: unknown): Date | undefined {
  const retryAt = readField(thrown, "retryAt");
  if (isDate(retryAt)) return retryAt;
  // At once is not what is meant after so many attempts: then the endpoint's own wait is better.
  if (!HubError.isInstance(thrown) || !thrown.retryAfterSeconds) return undefined;
  return new Date(Date.now() + Math.min(thrown.retryAfterSeconds, longestAskedSeconds) * 1000);
}

function isDate(value: unknown): value is Date {
  try {
    return value instanceof Date;
  } catch {
    return false;
  }
}

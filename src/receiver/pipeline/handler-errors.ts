import { type Duration, toMilliseconds } from "../../core/duration.ts";
import { HubError, WebhookError, type WebhookErrorCode } from "../../core/errors.ts";
import { readField } from "../../core/read-field.ts";
import type { ClaimedDelivery } from "../../inbox/inbox.ts";
import { nextStep } from "../../inbox/next-step.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";

/**
 * Throw this error from a handler when a retry cannot succeed. A background endpoint then marks the delivery as dead
 * immediately.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new NonRetriableError("The model does not exist.");
 * ```
 */
export class NonRetriableError extends WebhookError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "NON_RETRIABLE", status: 500, ...options });
  }
}

/**
 * Throw this error from a handler to choose when a background endpoint retries the delivery. The attempt counts toward
 * `attempts`. If the date is invalid or beyond the endpoint's `retention`, the server logs `RETRY_TIME_INVALID` and uses the
 * endpoint's `backoff`.
 *
 * @throws `OPTION_INVALID` when `when` is not a duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
export class RetryAfterError extends WebhookError {
  /** The time of the retry. */
  readonly retryAt: Date;

  constructor(when: Duration | Date, { message, cause }: { message?: string; cause?: unknown } = {}) {
    super(message ?? "The handler requested a retry.", {
      code: "RETRY_LATER",
      status: 500,
      retryable: true,
      cause,
    });
    this.retryAt = when instanceof Date ? when : new Date(Date.now() + toMilliseconds(when, "when"));
  }
}

/**
 * Hub errors that require a different request, file, or token, so a retry cannot succeed. Missing (404) and conflicting (409)
 * resources can change, so these errors are retried.
 */
const nonRetriableHubErrors: ReadonlySet<WebhookErrorCode> = new Set<WebhookErrorCode>([
  "ARGUMENT_INVALID",
  "HUB_TOKEN_MISSING",
  "HUB_TOKEN_INVALID",
  "HUB_REQUEST_INVALID",
  "HUB_UNAUTHORIZED",
  "HUB_FORBIDDEN",
  "FILE_TOO_LARGE",
  "FILE_INVALID",
  "LARGE_FILE_UNSUPPORTED",
]);

/**
 * The maximum `Retry-After` of a Hub response, in seconds. The Hub's own rate limits reset within minutes, but a proxy
 * in front of the Hub can send any value.
 */
const maxRetryAfterSeconds = 3600;

/** Whether a retry cannot succeed after the error that a handler threw. */
export function isNonRetriable(thrown: unknown): boolean {
  if (HubError.isInstance(thrown)) return nonRetriableHubErrors.has(thrown.code);
  return WebhookError.isInstance(thrown) && thrown.code === "NON_RETRIABLE";
}

/** Returns the retry time that a thrown error requests: its `retryAt`, or the `Retry-After` of the Hub's response. */
export function retryTimeOf(thrown: unknown): Date | undefined {
  const retryAt = readField(thrown, "retryAt");
  if (isDate(retryAt)) return retryAt;
  // Ignores `Retry-After: 0`: the Hub client has already retried immediately, so the endpoint's backoff applies.
  if (!HubError.isInstance(thrown) || !thrown.retryAfterSeconds) return undefined;
  return new Date(Date.now() + Math.min(thrown.retryAfterSeconds, maxRetryAfterSeconds) * 1000);
}

function isDate(value: unknown): value is Date {
  try {
    return value instanceof Date;
  } catch {
    return false;
  }
}

/**
 * Removes a requested retry time that is not a valid date or is beyond the endpoint's retention, so that a handler cannot
 * keep a delivery queued without a limit. The endpoint's backoff applies instead.
 */
export function dropInvalidRetryTime(
  outcome: Outcome,
  {
    endpoint,
    claimed,
    isInterrupted,
    now,
  }: {
    endpoint: Pick<Endpoint, "name" | "queue">;
    claimed: Pick<ClaimedDelivery, "isLastAttempt" | "retryDelayMs">;
    isInterrupted: boolean;
    now: () => number;
  },
): Outcome {
  if (outcome.status !== "failed" || outcome.retryAt === undefined) return outcome;
  const { error, retryAt } = outcome;
  const next = nextStep(outcome, { claimed, isInterrupted, now: now() });
  if (next.status !== "queued" || !next.counts) return outcome;
  const latest = now() + (endpoint.queue?.retentionMs ?? Number.POSITIVE_INFINITY);
  const requested = retryAt.getTime();
  if (requested <= latest) return outcome;
  const problem = Number.isNaN(requested)
    ? "at an invalid date"
    : `at ${retryAt.toISOString()}, which is beyond the retention of the delivery (until ${new Date(latest).toISOString()})`;
  return {
    status: "failed",
    error: new WebhookError(
      `The handler of endpoint "${endpoint.name}" requested a retry ${problem}. The endpoint's backoff applies instead. Request an earlier time, or set a longer "retention".`,
      { code: "RETRY_TIME_INVALID", status: 500, retryable: true, cause: error.cause },
    ),
  };
}

/** Returns the error of a delivery whose handler did not run, because the delivery was interrupted before. */
export function notChecked(cause: unknown): WebhookError {
  return new WebhookError("The delivery was interrupted before its handler ran.", {
    code: "CLOSING",
    status: 503,
    retryable: true,
    cause,
  });
}

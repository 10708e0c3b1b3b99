import { type Duration, toMilliseconds } from "../core/duration.ts";
import { HubError, WebhookError, type WebhookErrorCode } from "../core/errors.ts";
import { readField } from "../core/read-field.ts";
import type { ClaimedDelivery } from "../inbox/inbox.ts";
import type { Outcome } from "../payload/delivery.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * Throw this from a handler when retrying cannot help: a background endpoint marks the delivery as dead at once.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new NonRetriableError("There is no such model.");
 * ```
 */
export class NonRetriableError extends WebhookError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "NON_RETRIABLE", status: 500, ...options });
  }
}

/**
 * Throw this from a handler to choose when a background endpoint retries the delivery. The attempt counts toward
 * `attempts`. An invalid date, or one beyond the endpoint's `retention`, is logged as `RETRY_TIME_INVALID`, and the
 * endpoint's `backoff` applies instead.
 *
 * @throws `OPTION_INVALID` when `when` is not a duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
export class RetryAfterError extends WebhookError {
  /** When to retry. */
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
 * Errors of the Hub that a retry cannot fix: the request or the token has to change. A missing (404) or conflicting (409)
 * resource may change soon, so these are retried.
 */
const nonRetriableHubErrors: ReadonlySet<WebhookErrorCode> = new Set<WebhookErrorCode>([
  "ARGUMENT_INVALID",
  "HUB_TOKEN_MISSING",
  "HUB_TOKEN_INVALID",
  "HUB_REQUEST_INVALID",
  "HUB_UNAUTHORIZED",
  "HUB_FORBIDDEN",
]);

/** A proxy in front of the Hub may send any `Retry-After`; the Hub's own rate limits reset within minutes. */
const maxRetryAfterSeconds = 3600;

/** Whether a retry cannot fix the error that a handler threw. */
export function isNonRetriable(thrown: unknown): boolean {
  if (HubError.isInstance(thrown)) return nonRetriableHubErrors.has(thrown.code);
  return WebhookError.isInstance(thrown) && thrown.code === "NON_RETRIABLE";
}

/** The retry time that a thrown error requests: its `retryAt`, or the `Retry-After` of a Hub response. */
export function retryTimeOf(thrown: unknown): Date | undefined {
  const retryAt = readField(thrown, "retryAt");
  if (isDate(retryAt)) return retryAt;
  // The client has already retried `Retry-After: 0`: the endpoint's backoff is better.
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
 * Replaces a requested retry time that is not a valid date, or lies beyond the endpoint's retention: the inbox would keep
 * the delivery queued for as long as the handler likes. The endpoint's backoff applies instead.
 */
export function dropInvalidRetryTime(
  outcome: Outcome,
  {
    endpoint,
    claimed,
    now,
  }: {
    endpoint: Pick<Endpoint, "name" | "background">;
    claimed: Pick<ClaimedDelivery, "isLastAttempt">;
    now: () => number;
  },
): Outcome {
  if (outcome.status !== "failed" || outcome.retryAt === undefined) return outcome;
  const { error, retryAt } = outcome;
  if (claimed.isLastAttempt || !error.retryable) return outcome;
  const latest = now() + (endpoint.background?.retentionMs ?? Number.POSITIVE_INFINITY);
  const requested = retryAt.getTime();
  if (requested <= latest) return outcome;
  const problem = Number.isNaN(requested)
    ? "at an invalid date"
    : `at ${retryAt.toISOString()}, beyond its retention (until ${new Date(latest).toISOString()})`;
  return {
    status: "failed",
    error: new WebhookError(
      `The handler of endpoint "${endpoint.name}" requested a retry ${problem}. The endpoint's backoff applies instead. Request an earlier time, or set a longer "retention".`,
      { code: "RETRY_TIME_INVALID", status: 500, retryable: true, cause: error.cause },
    ),
  };
}

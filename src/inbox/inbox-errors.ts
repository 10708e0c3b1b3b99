import { describeError } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/option-error.ts";
import type { DeliveryAttempt, DeliveryKey } from "./inbox.ts";

/** The endpoint has too many queued deliveries. */
export function inboxFull(endpoint: string): WebhookError {
  return new WebhookError(`Too many deliveries of "${endpoint}" are queued. Send this one again later.`, {
    code: "INBOX_FULL",
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
  });
}

export function inboxUnavailable(cause: unknown): WebhookError {
  return new WebhookError("The delivery could not be stored. Send it again.", {
    code: "INBOX_UNAVAILABLE",
    status: 503,
    retryable: true,
    retryAfterSeconds: 5,
    cause,
  });
}

export function deliveryUnknown({ id, endpoint }: DeliveryKey): WebhookError {
  return new WebhookError(`Endpoint "${endpoint}" has no delivery "${id}" to replay, or its body is no longer kept.`, {
    code: "DELIVERY_UNKNOWN",
    status: 404,
  });
}

/** The cursor was not returned by a page. */
export function cursorInvalid(): WebhookError {
  return optionError({ option: "cursor", expected: "`next` of the previous page" });
}

/** The reason of a handler's aborted signal when the inbox closes. */
export function inboxClosing(): WebhookError {
  return new WebhookError("The receiver is shutting down. Unfinished deliveries run again after the next start.", {
    code: "CLOSING",
    retryable: true,
  });
}

/** The reason of a handler's aborted signal when another process has taken over its delivery. */
export function leaseLost(): WebhookError {
  return new WebhookError("The lease of this delivery has expired, and another process may run it.", {
    code: "LEASE_LOST",
    retryable: true,
  });
}

type AttemptError = NonNullable<DeliveryAttempt["error"]>;

/** The stored error of an attempt that a shutdown interrupted. Such an attempt does not count. */
export const closingError: AttemptError = { code: "CLOSING", message: "The receiver was shut down." };

/** The stored error of an attempt whose process stopped without storing a result. */
export const abandonedError: AttemptError = {
  code: "ABANDONED",
  message: "The process that ran the delivery stopped, or did not renew its lease in time.",
};

const maxMessageLength = 2_000;

/** The stored error of a failed attempt: with the message of its cause, which only the owner can see. */
export function toAttemptError({ code, cause, message }: WebhookError): AttemptError {
  return { code, message: (cause === undefined ? message : describeError(cause).message).slice(0, maxMessageLength) };
}

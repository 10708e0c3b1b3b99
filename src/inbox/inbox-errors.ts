import { WebhookError } from "../core/errors.ts";
import type { DeliveryKey } from "./inbox.ts";

/** More queued deliveries of an endpoint would only fail later. */
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

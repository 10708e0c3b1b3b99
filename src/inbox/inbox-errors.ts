import { WebhookError } from "../core/errors.ts";
import type { DeliveryKey } from "./inbox.ts";

/** Too many deliveries of an endpoint wait: more of them would only be lost later. */
export function inboxFull(endpoint: string): WebhookError {
  return new WebhookError(`Too many deliveries of "${endpoint}" wait already: send this one again later.`, {
    code: "INBOX_FULL",
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
  });
}

/** The store did not take what was to be written. */
export function inboxUnavailable(cause: unknown): WebhookError {
  return new WebhookError("The delivery could not be stored: send it again.", {
    code: "INBOX_UNAVAILABLE",
    status: 503,
    retryable: true,
    retryAfterSeconds: 5,
    cause,
  });
}

/** There is nothing to replay. */
export function deliveryUnknown({ id, endpoint }: DeliveryKey): WebhookError {
  return new WebhookError(
    `There is no delivery "${id}" of endpoint "${endpoint}" to replay, or its body is not kept any more.`,
    { code: "DELIVERY_UNKNOWN", status: 404 },
  );
}

/** Why a handler's signal is aborted when the inbox closes. */
export function inboxClosing(): WebhookError {
  return new WebhookError("The receiver is shutting down: what is not done is run again after the next start.", {
    code: "CLOSING",
    retryable: true,
  });
}

/** Why a handler's signal is aborted when its delivery belongs to somebody else by now. */
export function leaseLost(): WebhookError {
  return new WebhookError("The lease of this delivery has ended, and somebody else works on it.", {
    code: "LEASE_LOST",
    retryable: true,
  });
}

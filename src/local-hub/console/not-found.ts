import { WebhookError } from "../../core/errors.ts";

/** Creates the error for an item that does not exist. */
export function notFound(message: string): WebhookError {
  return new WebhookError(message, { code: "NOT_FOUND", status: 404 });
}

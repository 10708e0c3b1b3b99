import { WebhookError } from "../core/errors.ts";

/** The error of a server's file that is not there, does not load or makes no server. `message` says what to do. */
export function serverFileInvalid(message: string, options: { cause?: unknown } = {}): WebhookError {
  return new WebhookError(message, { code: "SERVER_FILE_INVALID", ...options });
}

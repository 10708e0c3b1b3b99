import { WebhookError } from "../core/errors.ts";

/** The error of a command that was given what it cannot work with; the run ends with exit code 2. */
export function wrongUsage(message: string): WebhookError {
  return new WebhookError(message, { code: "ARGUMENT_INVALID" });
}

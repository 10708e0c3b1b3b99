import { describeError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";

/** Returns the error for an inbox that does not exist and must not be created. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return new WebhookError(
    `There is no inbox at ${protocol}//${host}${pathname}. Set INBOX_URL to the inbox of the server. The server creates the inbox when it first starts.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/**
 * Returns the error for an inbox server that cannot be reached or used. The message does not contain the password of the URL.
 *
 * @param options.hint an additional remedy.
 */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "Check INBOX_URL, and check that the inbox server is running and reachable from this machine.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}). ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

/** Returns the error for an inbox server that was not ready in time. */
export function serverSlow(): Error {
  return Object.assign(new Error("the inbox server did not respond in time"), { code: "ETIMEDOUT" });
}

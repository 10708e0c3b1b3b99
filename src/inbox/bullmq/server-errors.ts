import { describeError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";

/** The server has no inbox yet, and the caller must not create one. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return new WebhookError(
    `There is no inbox at ${protocol}//${host}${pathname}. Set INBOX_URL to the inbox of the receiver, which creates it at its first start.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/**
 * The server cannot be reached or used. The message does not contain the password of the URL.
 *
 * @param options.hint what else to check.
 */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "Check INBOX_URL, and that the server runs and is reachable from this machine.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}). ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

/** The server was not ready in time. */
export function serverSlow(): Error {
  return Object.assign(new Error("it did not respond in time"), { code: "ETIMEDOUT" });
}

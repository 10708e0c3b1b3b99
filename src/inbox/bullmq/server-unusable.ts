import { describeError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";

/** A server that has no inbox yet, told to whoever only wants to look into one. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return new WebhookError(
    `There is no inbox at ${protocol}//${host}${pathname}: name the server's own by its URL (INBOX_URL). A server makes it at its first start.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/**
 * A server that cannot be reached, or not be used; the URL's password is not shown.
 *
 * @param options.hint what else to check.
 */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "check INBOX_URL, and that the server runs and can be reached from here.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}): ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

/** A server that took too long to be ready. */
export function serverSlow(): Error {
  return Object.assign(new Error("it does not answer in time"), { code: "ETIMEDOUT" });
}

import { WebhookError } from "../../errors.ts";

/** A server that cannot be reached, or not be used; the URL's password is not shown. */
export function serverUnusable({ url, cause }: { url: string; cause: unknown }): WebhookError {
  const { protocol, host } = new URL(url);
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${reason}): check INBOX_URL, and that the server runs and can be reached from here.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

import { isTestRun, readEnvironment } from "../../core/environment.ts";
import { defaultInboxUrl, maskUrl } from "../../core/urls.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { type OpenInboxOptions, openInbox, parseInboxUrl } from "../../inbox/open-inbox.ts";

interface ConfiguredInboxOptions extends Required<Pick<OpenInboxOptions, "log" | "now" | "signal" | "onFailure">> {
  /** The URL of the inbox (see {@link configuredUrl}), or an `Inbox` object in place of the inbox of a session. */
  inbox: string | Inbox | undefined;
}

/** Limits the wait before retries, so that tests do not wait for the default backoff of seconds to hours. */
const maxTestRetryWaitMs = 50;

/**
 * Returns the URL of a server's inbox: the given one, else `INBOX_URL`, else `sqlite:./.hub-webhooks/inbox.db`. Returns `undefined`
 * under a test runner if no inbox is set: it is then in memory.
 */
export function configuredUrl(url: string | undefined): string | undefined {
  return url ?? readEnvironment("INBOX_URL") ?? (isTestRun() ? undefined : defaultInboxUrl);
}

/**
 * Opens the inbox of a server with background endpoints. Returns an `Inbox` object with a warning, because the session cannot
 * replace it. `maxRetryWaitMs`: limits the wait before retries, if there is a limit.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export async function openConfiguredInbox({
  inbox,
  ...options
}: ConfiguredInboxOptions): Promise<{ inbox: Inbox; maxRetryWaitMs?: number }> {
  const { log, now } = options;
  if (typeof inbox === "object") {
    log.warn(
      "The server uses its own Inbox object, not the inbox of this session, and runs the deliveries in it. To keep the session separate, pass a URL to new WebhooksServer({ inbox }) instead.",
    );
    return { inbox };
  }
  const url = configuredUrl(inbox);
  if (url === undefined) {
    // A file would be shared with a server in the same folder.
    log.info(
      'The inbox is in memory, because a test runner is active. Set INBOX_URL or the "inbox" option to use another inbox.',
    );
    const { SqliteInbox } = await import("../../inbox/sqlite/sqlite-inbox.ts");
    return { inbox: new SqliteInbox({ file: ":memory:", log, now }), maxRetryWaitMs: maxTestRetryWaitMs };
  }
  const opened = await openInbox({ url, ...options });
  // A bucket can be unavailable at the start. Its inbox logs when it is open.
  if (parseInboxUrl(url).engine !== "bucket") {
    log.info({ inbox: maskUrl(url) }, "Opened the inbox for background deliveries.");
  }
  return { inbox: opened };
}

export const spaceDiskWarning =
  "The inbox is on the disk of this Space. Every restart erases the disk, including queued deliveries. Set INBOX_URL (Settings, Variables and secrets) to a Storage Bucket, such as hf://buckets/me/inbox, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to its S3 credentials. Redis and PostgreSQL servers need port 80, 443, or 8080, because a Space cannot connect to other ports.";

import { defaultInboxUrl } from "../../core/defaults.ts";
import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/logger.ts";
import { isTestRun } from "../../core/test-run.ts";
import { maskUrl } from "../../core/urls.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { openInbox } from "../../inbox/open-inbox.ts";

interface ConfiguredInboxOptions {
  /** The URL of the inbox. Default: `INBOX_URL`, else memory under a test runner, else `sqlite:./.hub-webhooks/inbox.db`. */
  url: string | undefined;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Stops the retries while a bucket is unavailable. */
  signal: AbortSignal;
}

/** An open inbox, and the limit on retry waits that applies to it. */
export interface ConfiguredInbox {
  inbox: Inbox;
  /** The maximum wait before a retry, unless the handler requests a longer wait. Missing if there is no limit. */
  maxRetryWaitMs?: number;
}

/** Limits the wait before retries, so that tests do not wait for the default backoff of seconds to hours. */
const maxTestRetryWaitMs = 50;

/**
 * Opens the inbox of a server with background endpoints.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export async function openConfiguredInbox({ url, log, now, signal }: ConfiguredInboxOptions): Promise<ConfiguredInbox> {
  const chosen = url ?? readEnvironment("INBOX_URL");
  if (chosen === undefined && isTestRun()) {
    return { inbox: await openTestInbox({ log, now }), maxRetryWaitMs: maxTestRetryWaitMs };
  }
  const wanted = chosen ?? defaultInboxUrl;
  const inbox = await openInbox({ url: wanted, log, now, signal });
  log.info({ inbox: maskUrl(wanted) }, "Opened the inbox for background deliveries.");
  return { inbox };
}

/** Opens an inbox in memory, so that a test does not share an inbox file with a server in the same folder. */
async function openTestInbox({ log, now }: Pick<ConfiguredInboxOptions, "log" | "now">): Promise<Inbox> {
  log.info(
    'The inbox is in memory, because a test runner is active. Set INBOX_URL or the "inbox" option to use another inbox.',
  );
  const { SqliteInbox } = await import("../../inbox/sqlite/sqlite-inbox.ts");
  return new SqliteInbox({ file: ":memory:", log, now });
}

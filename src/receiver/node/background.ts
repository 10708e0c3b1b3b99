import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/logger.ts";
import { maskUrl } from "../../core/urls.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { defaultInboxUrl, openInbox } from "../../inbox/open-inbox.ts";
import { isTestRun } from "../runtime.ts";

/** What {@link openServerInbox} needs. */
export interface OpenServerInboxOptions {
  /** Default `INBOX_URL`, else an inbox in memory under a test runner, else `sqlite:./.hub-webhooks/inbox.db`. */
  url: string | undefined;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The inbox of a server with background endpoints. */
export interface ServerInboxFound {
  inbox: Inbox;
  /** No retry waits for longer, in milliseconds, unless its handler asks to. Absent: the waits of the endpoints. */
  maxRetryWaitMs?: number;
}

/** A test waits for the end of a delivery, not for its default waits of seconds and hours. */
const maxTestRetryWaitMs = 50;

/**
 * Opens the inbox of a server with background endpoints.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export async function openServerInbox({ url, log, now }: OpenServerInboxOptions): Promise<ServerInboxFound> {
  const chosen = url ?? readEnvironment("INBOX_URL");
  if (chosen === undefined && isTestRun()) {
    return { inbox: await openTestInbox({ log, now }), maxRetryWaitMs: maxTestRetryWaitMs };
  }
  const wanted = chosen ?? defaultInboxUrl;
  const inbox = await openInbox({ url: wanted, log, now });
  log().info({ inbox: maskUrl(wanted) }, "Deliveries of background endpoints are kept in this inbox");
  return { inbox };
}

/** A test must not run what a server of the same folder has queued, nor leave anything behind for it. */
async function openTestInbox({ log, now }: Pick<OpenServerInboxOptions, "log" | "now">): Promise<Inbox> {
  log().info("Test run: the inbox is in memory. Set INBOX_URL or the option inbox to use another one.");
  const { SqliteInbox } = await import("../../inbox/sqlite/sqlite-inbox.ts");
  return new SqliteInbox({ file: ":memory:", log, now });
}

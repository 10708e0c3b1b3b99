import { WebhookError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { Inbox } from "./inbox.ts";
import { SqliteInbox } from "./sqlite/sqlite-inbox.ts";

/** Where the inbox is, unless it is said. */
const defaultUrl = "sqlite:./.hub-webhooks/inbox.db";

/** What {@link openInbox} needs. */
export interface OpenInboxOptions {
  /** `sqlite:PATH`, or `sqlite::memory:`. Default `sqlite:./.hub-webhooks/inbox.db`. */
  url: string | undefined;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Opens the inbox that a URL names.
 *
 * @throws `OPTION_INVALID` for a URL of another kind, `INBOX_UNUSABLE`.
 */
export async function openInbox({ url = defaultUrl, log, now }: OpenInboxOptions): Promise<Inbox> {
  const file = /^sqlite:(?:\/\/)?(.+)$/s.exec(url)?.[1];
  if (file === undefined) {
    // Not shown: it may hold a password.
    throw new WebhookError(
      'INBOX_URL is no inbox that is known: give "sqlite:" and a file, as in sqlite:./data/inbox.db.',
      {
        code: "OPTION_INVALID",
      },
    );
  }
  if (file === ":memory:") {
    log().warn(
      "The inbox is in memory: what it has acknowledged is lost when this process ends. Use it for tests only.",
    );
  }
  return new SqliteInbox({ file, log, now });
}

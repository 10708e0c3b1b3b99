import { readEnvironment } from "../../environment.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { openInbox } from "../../inbox/open-inbox.ts";
import type { Logger } from "../../logger.ts";

/** What {@link openServerInbox} needs. */
export interface OpenServerInboxOptions {
  /** Default `INBOX_URL`. */
  url: string | undefined;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Opens the inbox of a server with background endpoints.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export function openServerInbox({ url, log, now }: OpenServerInboxOptions): Promise<Inbox> {
  return openInbox({ url: url ?? readEnvironment("INBOX_URL"), log, now });
}

import { readEnvironment } from "../../environment.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { openInbox } from "../../inbox/open-inbox.ts";
import type { Logger } from "../../logger.ts";

/**
 * Opens the inbox of a server with background endpoints, where `INBOX_URL` says.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export function openServerInbox({ log, now }: { log: () => Logger; now: () => number }): Promise<Inbox> {
  return openInbox({ url: readEnvironment("INBOX_URL"), log, now });
}

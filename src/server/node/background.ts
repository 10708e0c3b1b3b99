import { readEnvironment } from "../../environment.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { defaultInboxUrl, openInbox } from "../../inbox/open-inbox.ts";
import type { Logger } from "../../logger.ts";
import { maskUrl } from "../../url-secrets.ts";

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
export async function openServerInbox({ url, log, now }: OpenServerInboxOptions): Promise<Inbox> {
  const wanted = url ?? readEnvironment("INBOX_URL") ?? defaultInboxUrl;
  const inbox = await openInbox({ url: wanted, log, now });
  log().info({ inbox: maskUrl(wanted) }, "Deliveries of background endpoints are kept in this inbox");
  return inbox;
}

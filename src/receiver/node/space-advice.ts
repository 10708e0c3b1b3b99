import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/logger.ts";
import type { Inbox } from "../../inbox/inbox.ts";

/** What {@link adviseInSpace} looks at. */
export interface SpaceAdviceOptions {
  /** The inbox of the background endpoints, as it was given; `undefined` for `INBOX_URL`. */
  inbox: string | Inbox | undefined;
  hasBackgroundEndpoints: boolean;
  log: () => Logger;
}

/** Says at the start what becomes of a receiver in a Space (the Hub's documentation of Spaces). */
export function adviseInSpace({ inbox, hasBackgroundEndpoints, log }: SpaceAdviceOptions): void {
  log().info(
    "The Hub can post to a public or protected Space only. On free hardware (cpu-basic) a Space sleeps after 48 hours without a request: where deliveries must not wait, let something ask for /health, or choose other hardware.",
  );
  if (!hasBackgroundEndpoints || !isOnDisk(inbox)) return;
  log().warn(
    "The inbox is on the disk of this Space, which is lost at every restart with all that waits in it. Set INBOX_URL to a Redis or PostgreSQL server (Settings, Variables and secrets). A Space can only connect to ports 80, 443 and 8080.",
  );
}

function isOnDisk(inbox: string | Inbox | undefined): boolean {
  if (typeof inbox === "object") return false;
  const url = inbox ?? readEnvironment("INBOX_URL") ?? "sqlite:";
  // A mounted bucket is no disk that SQLite takes unless it is told to.
  return url.startsWith("sqlite:") && !url.endsWith("?unsafe-file-system=allow");
}

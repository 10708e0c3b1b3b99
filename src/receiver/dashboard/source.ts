import type { Logger } from "../../core/logger.ts";
import type { ServerInbox } from "../background/server-inbox.ts";
import type { MountPoint } from "../routes/mount-point.ts";
import type { OwnerCheck } from "../security/owner-check.ts";

/** What the dashboard needs of the server. */
export interface DashboardSource {
  ownerCheck: OwnerCheck;
  mountPoint: MountPoint;
  inbox: ServerInbox;
  /** Names of the endpoints that work in the background. */
  endpointNames: () => readonly string[];
  log: Logger;
  /** Where refused requests are logged. */
  refusalLog: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

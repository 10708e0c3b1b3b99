import type { OutputLine } from "../server-file/server-process-handle.ts";

/** An endpoint of a session. */
export interface DevEndpoint {
  name: string;
  /** The URL of its webhook. */
  url: string;
  /** What its webhook watches, as `type:name`. Empty if it has no webhook. */
  watch: readonly string[];
  /** The arguments of `hub-webhooks trigger` that send it a test event. Only on a local Hub. */
  trigger?: readonly string[];
}

/** The current addresses and endpoints of a session. */
export interface DevState {
  /** The local address, without a trailing slash. */
  url: string;
  /** The address that the Hub posts to. Without a tunnel, the same as `url`. */
  publicUrl: string;
  /** The Hub with the webhooks of the session. */
  hub: {
    kind: "local" | "real";
    url: string;
  };
  endpoints: readonly DevEndpoint[];
  /** The page that shows the deliveries of background endpoints; absent if there are none. */
  dashboardUrl?: string;
  /** URL of the session's inbox, with a masked password; absent if no endpoint runs in the background. */
  inbox?: string;
}

/** An event of a session. */
export type DevEvent =
  /** A test request through the public address has arrived: deliveries of the Hub do, too. Emitted once. */
  | ({ event: "ready" } & DevState)
  /** The public address is no longer reachable, and why. The tunnel reconnects until the session is closed. */
  | { event: "down"; reason: string }
  /** Deliveries arrive again. */
  | { event: "up"; publicUrl: string }
  /** The public address has changed. The webhooks of the session are updated. */
  | { event: "urlChanged"; publicUrl: string }
  /** Source files have changed. Deliveries wait until the server is reloaded. */
  | { event: "reloading"; files: readonly string[] }
  /** The server is running again, and its webhooks are in sync. */
  | { event: "reloaded"; endpoints: readonly DevEndpoint[] }
  /** The server failed to load, or its process exited. Deliveries return 503, which the Hub retries. */
  | {
      event: "broken";
      reason: string;
      /** The stack trace, reduced to the user's own files. */
      stack?: string;
      /** Whether the server is restarted without a change of its files. */
      isRestarted: boolean;
    }
  /** A delivery was answered. */
  | ({ event: "delivery" } & ProxiedDelivery)
  /** The webhooks of the session were changed. The steps are text for people. */
  | { event: "webhooks"; steps: readonly string[] }
  /** Something failed that is retried, or that only you can fix. */
  | { event: "problem"; code: string; message: string }
  /** A line of output of the server: JSON of its logger, or text that your code prints. */
  | ({ event: "output" } & OutputLine);

/** A delivery that was answered. */
export interface ProxiedDelivery {
  endpoint: string;
  /** Its `Webhook-Id`; absent if the sender set none. */
  deliveryId?: string;
  /** HTTP status of the response. */
  status: number;
  /** From its headers to the end of the response, in milliseconds. Includes the time it waited for the server. */
  durationMs: number;
  /** Why the server did not answer it, if so. The Hub retries such a delivery. */
  reason?: string;
}

/** The result of a replay. */
export interface ReplayResult {
  endpoint: string;
  deliveryId: string;
  /** HTTP status of the response. */
  status: number;
}

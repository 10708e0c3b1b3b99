import type { OutputLine } from "../server-file/server-process.ts";
import type { PassedDelivery } from "./passed-delivery.ts";

/** An endpoint, as it is reached and registered in a session. */
export interface DevEndpoint {
  name: string;
  /** Where the Hub posts its deliveries. */
  url: string;
  /** What its webhook watches, as `type:name`; empty where it has none. */
  watch: readonly string[];
  /** What to give `hub-webhooks trigger`, word by word, to try it on a local Hub. */
  trigger?: readonly string[];
}

/** The state of a session once deliveries arrive. */
export interface DevReady {
  /** The address on this machine, without a trailing slash. */
  url: string;
  /** The address that the Hub posts to; the same without a tunnel. */
  publicUrl: string;
  /** The Hub on which the webhooks are, and its address. */
  hub: {
    kind: "local" | "real";
    url: string;
  };
  endpoints: readonly DevEndpoint[];
  /** The page that shows the deliveries of background endpoints; absent where there are none. */
  console?: string;
  /** URL of the session's inbox, with its password hidden; absent where no endpoint runs in the background. */
  inbox?: string;
}

/** What happens in a session. */
export type DevEvent =
  /** A delivery of the Hub would arrive now: a request through the public address has come back. Comes once. */
  | ({ event: "ready" } & DevReady)
  /** Nothing arrives through the public address any more, and why. It is opened again without end. */
  | { event: "down"; reason: string }
  /** Deliveries arrive again. */
  | { event: "up"; publicUrl: string }
  /** The public address is another one; the webhooks of the session follow it. */
  | { event: "urlChanged"; publicUrl: string }
  /** Sources have changed: deliveries wait until the server is loaded anew. */
  | { event: "reloading"; files: readonly string[] }
  /** The server serves again, and its webhooks are in step with its endpoints. */
  | { event: "reloaded"; endpoints: readonly DevEndpoint[] }
  /** The server does not load, or its process has ended; deliveries get 503, which the Hub tries again. */
  | {
      event: "broken";
      reason: string;
      /** Where the file threw: the lines of the user's own files. */
      stack?: string;
      isRestarted: boolean;
    }
  /** A delivery was answered. */
  | ({ event: "delivery" } & PassedDelivery)
  /** What was done to the webhooks of the session, for a person. */
  | { event: "webhooks"; steps: readonly string[] }
  /** Something does not work that is tried again, or that only the user can mend. */
  | { event: "problem"; code: string; message: string }
  /** A line that the server has written: JSON of its logger, or whatever the user's code prints. */
  | ({ event: "output" } & OutputLine);

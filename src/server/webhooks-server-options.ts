import type { Inbox } from "../inbox/inbox.ts";
import type { Logger } from "../logger.ts";
import type { LandingPage } from "./landing/source.ts";

/** What a `WebhooksServer` may be given. */
export interface WebhooksServerOptions {
  /**
   * The secret that every delivery must carry, or several, all accepted, while one replaces the other; `false` accepts
   * deliveries without one. Default: `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`; where neither is set, the endpoints
   * are open to everyone, with a warning. An empty secret is an error (`OPTION_INVALID`), in the environment too.
   */
  secret?: string | readonly string[] | false;
  /**
   * Whether `?secret=` in the URL is accepted where there is no header, for senders that cannot set one. Default
   * `false`: URLs end up in the logs of whatever stands in between.
   */
  secretInQuery?: boolean;
  /**
   * The password (HTTP Basic, any user name) with which the owner opens the dashboard. Default: `DASHBOARD_TOKEN`.
   * Without any, it opens in a browser on this machine only, and never in a Space or where a public address leads here
   * (`PUBLIC_URL`, `launch({ publicUrl })`).
   */
  dashboardToken?: string;
  /**
   * Where the deliveries of background endpoints are kept: a URL as in `INBOX_URL`, which it goes before, or an inbox
   * of your own, which is closed with the server. Default: `INBOX_URL`, else `sqlite:./.hub-webhooks/inbox.db`.
   */
  inbox?: string | Inbox;
  /** Default: pino on standard output once launched (level `LOG_LEVEL`, else `info`), the console elsewhere. */
  logger?: Logger;
  /** Largest body in bytes. Default 10 MiB: a bucket's payload may list ten thousand files. */
  bodyLimit?: number;
  /** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
  landingPage?: LandingPage;
  /**
   * Whether `GET /metrics` tells Prometheus, or any owner, what there is to measure; needs the package `prom-client`.
   * Default: whether `METRICS` is 1.
   */
  metrics?: boolean;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** Makes the id of a delivery that came without a `Webhook-Id`. Default `crypto.randomUUID`. */
  createId?: () => string;
}

import type { Logger } from "../core/logger.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { LandingPage } from "./landing/source.ts";
import type { HonoApp } from "./server-app.ts";

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
   * of your own, which is closed with the server. Default: `INBOX_URL`, else `sqlite:./.hub-webhooks/inbox.db`, or an
   * inbox in memory under vitest, `node --test` and where `NODE_ENV` is `test`.
   */
  inbox?: string | Inbox;
  /** Default: pino on standard output once launched (level `LOG_LEVEL`, else `info`), the console elsewhere. */
  logger?: Logger;
  /**
   * A Hono app with middleware on it, such as a rate limit, an allow list or tracing. The built-in routes are added behind
   * everything that is registered on it, so its middleware runs for deliveries, the landing page, `/health`, `/metrics` and
   * the dashboard, and its routes take precedence. Its `onError` and `notFound` stay. Register middleware before you create
   * the server: afterwards `app.use()` throws `MIDDLEWARE_TOO_LATE`. Default: an app without middleware.
   *
   * @example
   * ```ts
   * import { Hono } from "hono";
   * import { secureHeaders } from "hono/secure-headers";
   *
   * const app = new Hono();
   * app.use(secureHeaders());
   * const server = new WebhooksServer({ app });
   * ```
   */
  app?: HonoApp;
  /**
   * The path under which another app or a proxy mounts this server, as the client sees it, such as `/hub`. The URLs and
   * links of the landing page begin with it. Requests match with the prefix and without it, so it does not matter whether
   * the mount removes it. Default: the prefix of `parent.route(prefix, server.app)`, else none.
   *
   * @example
   * ```ts
   * // app/api/webhooks/[...path]/route.ts of a Next.js app
   * const server = new WebhooksServer({ basePath: "/api" });
   * ```
   */
  basePath?: string;
  /**
   * Whether `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` are used for the URLs and links of the landing
   * page. Set it only where a proxy sets or removes all three: otherwise any client can choose what the page shows. Default
   * `false`.
   */
  trustProxy?: boolean;
  /** Largest body in bytes. Default 10 MiB: a bucket's payload may list ten thousand files. */
  bodyLimit?: number;
  /** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
  landingPage?: LandingPage;
  /**
   * Whether `GET /metrics` tells Prometheus, or any owner, what there is to measure; needs the package `prom-client`.
   * Default: whether `METRICS` is 1.
   */
  metrics?: boolean;
  /** @internal The clock, in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** @internal Creates the id of a delivery without a `Webhook-Id`. Default `crypto.randomUUID`. */
  createId?: () => string;
}

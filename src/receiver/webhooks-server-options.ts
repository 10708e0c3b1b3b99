import type { Logger } from "../core/logger.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { LandingPage } from "./landing/source.ts";
import type { HonoApp } from "./server-app.ts";

/** Options of a `WebhooksServer`. */
export interface WebhooksServerOptions {
  /**
   * The secret that every delivery must carry, or several valid ones during a rotation; `false` accepts deliveries without
   * a secret. Default: `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`. If neither is set, the endpoints are open to
   * everyone, with a warning. An empty secret is an error (`OPTION_INVALID`), also in the environment.
   */
  secret?: string | readonly string[] | false;
  /**
   * Whether to accept `?secret=` in the URL, for senders that cannot set headers. Default `false`: proxies log URLs.
   */
  secretInQuery?: boolean;
  /**
   * The password (HTTP Basic, any user name) for the dashboard. Default: `DASHBOARD_TOKEN`. Without a password, the
   * dashboard only opens in a browser on this machine, and never in a Space or with a public address (`PUBLIC_URL`,
   * `launch({ publicUrl })`).
   */
  dashboardToken?: string;
  /**
   * Where to store the deliveries of background endpoints: a URL, which overrides `INBOX_URL`, or your own inbox, which is
   * closed with the server. Default: `INBOX_URL`, else `sqlite:./.hub-webhooks/inbox.db`, or an inbox in memory under a
   * test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  inbox?: string | Inbox;
  /** Default: pino on standard output after `launch()` or `ready()` (level `LOG_LEVEL`, else `info`), else the console. */
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
  /** Max size of a body in bytes. Default 10 MiB: the payload of a bucket may list 10,000 files. */
  bodyLimit?: number;
  /** The landing page at `GET /`: HTML, a Hono app, a function that returns a page, or `false` for none. Default: built in. */
  landingPage?: LandingPage;
  /**
   * Whether to serve metrics for Prometheus at `GET /metrics`. Requires the package `prom-client`. Default: whether
   * `METRICS` is 1.
   */
  metrics?: boolean;
  /** @internal The clock, in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** @internal Creates the id of a delivery without a `Webhook-Id`. Default `crypto.randomUUID`. */
  createId?: () => string;
}

import type { Hono } from "hono";
import type { Logger } from "../core/log.ts";
import { checkOptionNames, type Duration, optionError } from "../core/options.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { OpenTunnelOptions } from "../tunnel/tunnel.ts";
import type { HonoApp } from "./app.ts";
import type { ActivityOutcome, EndpointRegistration, HandlerTime } from "./counts.ts";
import type { HubOption } from "./hub.ts";

/** Options of `launch()`. */
export interface LaunchOptions {
  /** The port to listen on, or 0 for any free port. Default: `PORT`, else `7860`, the default port of a Space. */
  port?: number;
  /**
   * The host to listen on. Default: `HOST`, else `0.0.0.0` in a Space, else `127.0.0.1`, to which only this machine can
   * connect.
   */
  host?: string;
  /**
   * Whether to open a tunnel, or the tunnel's options. The tunnel has a temporary public URL for `/webhooks/*`, and
   * closes after 72 hours. Default: `TUNNEL` (`1` or the name of a provider), else no tunnel. If no secret is set, the
   * server creates and prints a secret for the session. If the options contain an `existingUrl`, no tunnel is opened:
   * the server only polls this URL, which must point to the server's port.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * The interval in which the server asks the Hub for changes of everything that its endpoints `watch`, instead of waiting for
   * webhooks: without a webhook, a tunnel, a public URL, or write access, also for repositories of others. `launch()` resolves after the
   * first comparison, from which changes are delivered. Requires `background: true` for each endpoint with `watch`. An interval that the
   * Hub's rate limit does not allow is refused. Default: `POLL`, else no polling. See `catchUp` of the endpoints for what can be found out.
   */
  poll?: Duration;
  /**
   * The public URL of this server, for the log and the landing page. Pass a function if the URL may change. Default:
   * `PUBLIC_URL`, else the URL of the Space or tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to log the URLs of the server and whether a secret is set at startup. Warnings are always logged. Default
   * `true`.
   */
  announce?: boolean;
  /**
   * The maximum times for a client to send the headers (`headers`, default `"15s"`), to send a whole request (`request`,
   * default `"30s"`), to send the next request on the same connection (`keepAlive`, default `"10s"`), and to read a response
   * (`write`, default `"30s"`). `headers` must not be longer than `request`.
   */
  timeouts?: { headers?: Duration; request?: Duration; keepAlive?: Duration; write?: Duration };
  /**
   * The maximum number of open connections. At the limit, a new connection closes the oldest one without a request in
   * progress, or, if more clients are sending requests, the oldest one of those. If all clients wait for responses, the new
   * connection is closed. `Infinity` disables the limit. Default `2000`.
   */
  maxConnections?: number;
  /**
   * The maximum number of requests on one connection, which is closed after the last response. `Infinity` disables the
   * limit. A client that pipelines more than 16 unanswered requests is always disconnected. Default `1000`.
   */
  maxRequestsPerSocket?: number;
  /**
   * How long `close()`, SIGTERM, and SIGINT wait for running handlers. The server first waits for requests in progress.
   * In the remaining time, it aborts the `signal` of background handlers and waits for them. Background deliveries that
   * do not finish are queued again. Default `"30s"`.
   */
  shutdownGrace?: Duration;
  /**
   * Whether the server handles signals and errors of the process. Default `true`, but `false` under a test runner (vitest,
   * `node --test`, or `NODE_ENV=test`). If `true`:
   *
   * - SIGTERM and SIGINT let running requests finish, and exit the process with code 0, or with code 1 if requests do not
   *   finish within `shutdownGrace`. A second signal exits immediately.
   * - Unhandled rejections are logged and do not crash the process.
   * - A failed launch logs one line and exits the process with code 1.
   *
   * If `false`, a failed `launch()` rejects, and signals and rejections are not handled.
   */
  handleSignals?: boolean;
}

/** The port and URLs of a launched server. */
export interface LaunchedServer {
  /** The port on which the server listens. */
  port: number;
  /** The URL of the server on this machine, without a trailing slash. */
  url: string;
  /**
   * The public URL: from the `publicUrl` option or `PUBLIC_URL`, else from the Space or tunnel, else the same as `url`.
   * The URL of a tunnel can change.
   */
  publicUrl: string;
}

/** Options of a `WebhooksServer`. */
export interface WebhooksServerOptions {
  /**
   * The secret of deliveries, several valid secrets during a rotation, or `false` to accept deliveries without a secret.
   * Default: `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`. If neither is set, the endpoints are open to everyone, and the
   * server logs a warning. An empty secret, in the option or in the environment, is an error (`OPTION_INVALID`). So is an
   * `undefined` option without the variables, because `secret: process.env.MY_SECRET` must not open the server if
   * `MY_SECRET` is missing.
   */
  secret?: string | readonly string[] | false;
  /**
   * Whether to accept `?secret=` in the URL, for senders that cannot set headers. Default `false`, because proxies log URLs.
   */
  secretInQuery?: boolean;
  /**
   * The token that signs in to the console at `/_console/`, and the password of `/metrics` and the details of `/ready` (HTTP Basic
   * authentication with any username). A shorter token than 16 characters is an error (`OPTION_INVALID`). Default
   * `CONSOLE_TOKEN`. Without a token, `launch()` logs a one-time link to the console, and the metrics are only available on this
   * machine, and never in a Space or with a public URL (`PUBLIC_URL`, `launch({ publicUrl })`).
   */
  consoleToken?: string;
  /**
   * The inbox that stores the deliveries of background endpoints: a URL, which overrides `INBOX_URL`, or an `Inbox` object,
   * which the server closes when it closes. Default: `INBOX_URL`, else an inbox in memory under a test runner (vitest, `node
   * --test`, or `NODE_ENV=test`), else `sqlite:./.hub-webhooks/inbox.db`. In a Space, use a Storage Bucket, such as
   * `hf://buckets/me/inbox`: a restart erases the disk.
   */
  inbox?: string | Inbox;
  /**
   * The logger. Default: the console, and pino on standard output after `launch()` or `ready()`. `LOG_LEVEL` sets the level, by
   * default `info`. Under a test runner, the default logger is silent without `LOG_LEVEL`.
   */
  logger?: Logger;
  /**
   * A Hono app with middleware, such as a rate limit, an allow list, or tracing. The built-in routes are added after
   * the routes and middleware of this app. The app's middleware therefore runs for deliveries, the landing page,
   * `/health`, `/metrics`, and the console, and the app's routes take precedence. The app keeps its `onError` and
   * `notFound` handlers. Add middleware before you create the server: afterward, `app.use()` throws
   * `MIDDLEWARE_TOO_LATE`. Default: an app without middleware.
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
   * The path under which another app or a proxy mounts this server, such as `/hub`. The URLs and links on the landing page
   * start with this path. Requests match with and without the path, so the app or proxy may remove it. Default: the prefix
   * of `parent.route(prefix, server.app)`, else no prefix.
   *
   * @example
   * ```ts
   * // app/api/webhooks/[...path]/route.ts of a Next.js app
   * const server = new WebhooksServer({ basePath: "/api" });
   * ```
   */
  basePath?: string;
  /**
   * Whether the URLs and links on the landing page use `X-Forwarded-Proto`, `X-Forwarded-Host`, and
   * `X-Forwarded-Prefix`. Set this option only if a proxy sets or removes all three headers. Otherwise, any client can
   * choose the URLs on the page. Default `false`.
   */
  trustProxy?: boolean;
  /** The maximum size of a body in bytes. Default: 10 MiB, because a bucket payload can list 10,000 files. */
  bodyLimit?: number;
  /**
   * The landing page at `GET /`: HTML, a Hono app, a function that returns a page, or `false` for no page. Default: the
   * built-in page.
   */
  landingPage?: LandingPage;
  /**
   * Whether to record, for the console, the request headers of each delivery (at most 4 KiB, secrets redacted), and the handler's
   * log lines, result, and stack of each attempt (at most 16 KiB). The inbox stores them with the delivery, until its retention
   * period ends. Deliveries of inline endpoints are kept in memory: the latest 500 runs, at most 16 MiB. If more than 500 arrive in
   * one second, only failures are added. Default `true`.
   */
  recordDetails?: boolean;
  /**
   * Whether to serve metrics for Prometheus at `GET /metrics`. Requires the package `prom-client`. Default: `true` if
   * `METRICS` is `1`, else `false`.
   */
  metrics?: boolean;
  /**
   * The Hub client of handlers (`context.hub`) and of `server.hub`: the options of a client, or a client. Default: a client with
   * `HF_TOKEN` and `HF_ENDPOINT`. In a bundle for an edge worker, which does not contain the client otherwise, pass a client.
   *
   * @example
   * ```ts
   * // In a test, the local Hub replaces the Hub.
   * const server = new WebhooksServer({ hub: { hubUrl: localHub.url, token: "hf_local" } });
   * ```
   */
  hub?: HubOption;
  /**
   * The name of this server in the markers of its commits, discussions, and comments, which `ignoreSelf` and the `marker` options
   * of the client recognize. Replicas of one server must have the same name, and the name must stay the same across restarts. Set
   * different names if several servers use the same Hub account, and should see each other's changes. Maximum: 200 characters.
   * Default: `SPACE_ID`, else `"server"`.
   */
  hubSignature?: string;
  /** @internal Returns the current time, in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** @internal Creates the ID of a delivery without a `Webhook-Id` header. Default `crypto.randomUUID`. */
  createId?: () => string;
}

/** The outcomes on the landing page, where `failed` includes dead background deliveries. */
type LandingOutcome = Exclude<ActivityOutcome, "dead">;

/** An endpoint on the landing page. The page is public, so no value comes from a payload. */
export interface LandingEndpoint {
  /** The part of the path after `/webhooks/`. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host can come from the client's `Host` header. */
  url: string;
  /** Always `POST`, the only method that the Hub uses. */
  method: "POST";
  /** Whether deliveries are stored and the handler runs in the background. */
  background: boolean;
  /** The scopes that match the filter of the endpoint. Empty: every scope. */
  scopes: readonly string[];
  /**
   * Whether a webhook on the Hub is known to deliver to the endpoint, without a request to the Hub. `registered`: a delivery
   * with a `Webhook-Id` has arrived since the process started, or `register()` found or created the webhook. `missing`:
   * `register()` did not create the webhook. Otherwise `unknown`.
   */
  registration?: EndpointRegistration;
  /** The number of new deliveries since the process started, without refused and duplicate deliveries. */
  deliveries: number;
  /**
   * The number of new deliveries in the current clock hour and the 23 before it. The Hub triggers a webhook at most 1,000
   * times in 24 hours.
   */
  lastDay: number;
  /** The outcome of the latest delivery or background attempt, and its time (ISO 8601). Absent before the first. */
  last?: { outcome: LandingOutcome; at: string };
}

/**
 * The counts of one clock hour. `succeeded`, `ignored`, and `failed` count finished deliveries, where `failed` includes dead
 * background deliveries. A replayed delivery counts again. `retrying` does not count deliveries, but failed background attempts
 * with a retry left.
 */
export interface LandingHour extends Readonly<Record<LandingOutcome, number>> {
  /** The start of the hour (ISO 8601). */
  startedAt: string;
}

/** The activity of all endpoints since the process started. It is kept in memory, so a restart clears it. */
export interface LandingActivity {
  /** The current clock hour and up to 23 before it, oldest first, without hours before the start. */
  hours: readonly LandingHour[];
  /** The duration of the latest handler runs (at most 1,024), in milliseconds. Absent before the first run. */
  handlerTime?: HandlerTime;
  /**
   * The number of queued, running, and dead deliveries in the inbox; `unknown` if the inbox does not respond. Absent without
   * a background endpoint, and before the inbox is open.
   */
  queue?: { queued: number; running: number; dead: number } | "unknown";
}

/**
 * The data of the landing page. The built-in page renders it, and a function set as `landingPage` receives it.
 *
 * @example
 * ```ts
 * import { html } from "hono/html"; // escapes interpolated values
 *
 * new WebhooksServer({ landingPage: (info) => html`<ul>${info.endpoints.map(({ url }) => html`<li>${url}</li>`)}</ul>` });
 * ```
 */
export interface LandingInfo {
  endpoints: readonly LandingEndpoint[];
  /** Whether deliveries must contain a secret. The secret itself is not included. */
  secretIsSet: boolean;
  /** The public URL of the server, without a trailing slash. Escape it, like the endpoint URLs that start with it. */
  baseUrl: string;
  /**
   * The path prefix of the server as the client sees it, such as `/hub`, without a trailing slash. Empty at the root, and
   * if a proxy removes a prefix that neither `basePath` nor `X-Forwarded-Prefix` contains.
   */
  basePath: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  activity: LandingActivity;
  /** The Space that runs the server (`SPACE_ID`, such as `acme/bot`). Absent outside a Space. */
  space?: { id: string };
  /** The theme from the query `?__theme=`. Absent: use the theme of the user's system. */
  theme?: "light" | "dark";
}

/** The landing page at `GET /`: HTML, a Hono app, a function that returns HTML or a response, or `false` for none. */
export type LandingPage =
  | string
  | Hono
  | ((info: LandingInfo) => string | Response | Promise<string | Response>)
  | false;

/** The options that users can set; internal options are valid too, but not part of messages. */
const publicOptionNames = {
  secret: true,
  secretInQuery: true,
  consoleToken: true,
  inbox: true,
  logger: true,
  app: true,
  basePath: true,
  trustProxy: true,
  bodyLimit: true,
  landingPage: true,
  recordDetails: true,
  metrics: true,
  hub: true,
  hubSignature: true,
} satisfies Record<Exclude<keyof WebhooksServerOptions, "now" | "createId">, true>;

/**
 * Checks the names of the options, and the type of `hub`.
 *
 * @throws `OPTION_INVALID` for an unknown name or an invalid `hub`.
 */
export function checkServerOptions({ now: _now, createId: _createId, ...options }: WebhooksServerOptions): void {
  checkOptionNames(options, { valid: Object.keys(publicOptionNames), kind: "WebhooksServer" });
  const { hub } = options;
  if (hub === undefined || (typeof hub === "object" && hub !== null)) return;
  throw optionError({
    option: "hub",
    expected: "a HubClient, or the options of a HubClient such as { token, hubUrl }",
  });
}

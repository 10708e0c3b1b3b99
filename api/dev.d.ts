import "zod";
/** Milliseconds per unit of a {@link Duration}. */
declare const unitMs: {
  readonly ms: 1;
  readonly s: 1000;
  readonly m: 60000;
  readonly h: 3600000;
  readonly d: 86400000;
};
type Unit = keyof typeof unitMs;
type NonZeroDigit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type DurationText = (`${NonZeroDigit}${string}` | `0.${string}`) & (`${bigint}${Unit}` | `${bigint}.${number}${Unit}`);
/**
 * A span of time above zero: a number of milliseconds, or a text with a unit (`ms`, `s`, `m`, `h`, `d`) such as `"250ms"`,
 * `"25s"`, `"10m"`, `"1.5h"` or `"14d"`. At most 24 days, the longest time that a timer can wait.
 */
type Duration = number | DurationText;
/**
 * Every error code of this package, with its cause and fix. Branch on codes, never on messages.
 *
 * The value of a code is where it occurs: in the `response` to a delivery or to a browser, in an error that is `thrown` at
 * you, or in a failed call of the `hub` API.
 */
interface WebhookErrorCodes {
  /** 401: the delivery has no secret. Set the secret of the webhook on the Hub to that of the server. */
  SECRET_MISSING: "response";
  /** 403: the delivery has another secret. Set the secret of the webhook on the Hub to that of the server. */
  SECRET_INVALID: "response";
  /** 429: a client sent many wrong secrets or passwords. Wait for the time in `Retry-After`. */
  TOO_MANY_FAILURES: "response";
  /** The server has no endpoint with this name. Check the URL of the webhook, or the option `endpoint`. */
  ENDPOINT_UNKNOWN: "response" | "thrown";
  /** 405: the request has another method than those in `Allow`. Send deliveries with POST. */
  METHOD_NOT_ALLOWED: "response";
  /** 415: the request does not declare JSON. Set `Content-Type: application/json`. */
  MEDIA_TYPE_UNSUPPORTED: "response";
  /** 415: the body is compressed. Send it without `Content-Encoding`. */
  ENCODING_UNSUPPORTED: "response";
  /** 413: the body is larger than the option `bodyLimit`. Raise the limit, or send less. */
  BODY_TOO_LARGE: "response";
  /** The connection closed or timed out before the whole body arrived. Send the delivery again. */
  BODY_INCOMPLETE: "response";
  /** The body is not valid JSON. Send the payload as JSON in UTF-8. */
  BODY_NOT_JSON: "response" | "thrown";
  /** The body nests more than 100 levels deep. Send a flatter payload. */
  BODY_TOO_DEEP: "response" | "thrown";
  /** 500: a body parser read the body before the server did. Mount the server before the body parser. */
  BODY_CONSUMED: "response";
  /** 422: the body is JSON, but not a payload that the endpoint accepts. Fix the paths in the message. */
  PAYLOAD_INVALID: "response" | "thrown";
  /** 500: the handler threw an error. See `cause` or the log of the server. */
  HANDLER_FAILED: "response" | "thrown";
  /** 504: the handler took longer than its `timeout`. Make it faster, or run it in the background. */
  HANDLER_TIMED_OUT: "response" | "thrown";
  /** 500: the handler returned a value that has no JSON. Return plain data, or nothing. */
  RESULT_NOT_JSON: "response" | "thrown";
  /** 401: the request has no password. Sign in with `DASHBOARD_TOKEN`. */
  DASHBOARD_TOKEN_MISSING: "response";
  /** 401: the password is not the value of `DASHBOARD_TOKEN`. Check the value. */
  DASHBOARD_TOKEN_INVALID: "response";
  /** 403: the page is only for the owner of the server. Set `DASHBOARD_TOKEN`, and sign in with it. */
  OWNER_ONLY: "response";
  /** 403: a page of another site sent the request. Set a webhook secret, or open the page directly. */
  CROSS_SITE_REFUSED: "response";
  /** The server is shutting down. Send the delivery again: the next start accepts it. */
  CLOSING: "response" | "thrown";
  /** 503: too many deliveries of the endpoint are queued. Send it again later; raise `concurrency`. */
  INBOX_FULL: "response" | "thrown";
  /** 503: the inbox cannot store or read deliveries right now. Send it again; check the disk or the server of the inbox. */
  INBOX_UNAVAILABLE: "response" | "thrown";
  /** 404: no route has this path. Check the URL, and the option `basePath`. */
  NOT_FOUND: "response";
  /** An unexpected error. See `cause` or the log of the server. */
  INTERNAL: "response" | "thrown";
  /** An endpoint was registered without a name, and its handler has none. Name the endpoint or the function. */
  ENDPOINT_NAME_MISSING: "thrown";
  /** The name of an endpoint cannot be part of a URL. Use letters, digits, `-` and `_`. */
  ENDPOINT_NAME_INVALID: "thrown";
  /** Two endpoints have the same name. Rename one of them. */
  ENDPOINT_EXISTS: "thrown";
  /** `@webhook` decorates something other than a method of a class. Register other functions with `server.webhook()`. */
  DECORATOR_INVALID: "thrown";
  /** An option or environment variable has a wrong value. The message has its name and what is valid. */
  OPTION_INVALID: "response" | "thrown" | "hub";
  /** A middleware was added after a route that it should run before. Add it before the first endpoint. */
  MIDDLEWARE_TOO_LATE: "thrown";
  /** The server has several endpoints, and none was chosen. Pass the option `endpoint`. */
  ENDPOINT_REQUIRED: "thrown";
  /** `WEBHOOK_PAYLOAD` is not set. Run the file in a job of a webhook, or set the variable to a payload. */
  PAYLOAD_MISSING: "thrown";
  /** Another process listens on the port. Stop it, or choose another `port`. */
  PORT_IN_USE: "thrown";
  /** The server cannot listen on the host and port. See `cause`. */
  LISTEN_FAILED: "thrown";
  /** The tunnel could not be opened, or was lost. Follow the message, or try another provider. */
  TUNNEL_FAILED: "thrown";
  /** Another client has the requested tunnel name. Choose another `subdomain`. */
  TUNNEL_NAME_TAKEN: "thrown";
  /** The state file cannot be read or written. Fix or delete the file in the message. */
  STATE_UNUSABLE: "thrown";
  /** The server file does not exist, does not load, or exports no server. Fix it as the message says. */
  SERVER_FILE_INVALID: "thrown";
  /** The command needs a newer Node. Install the version in the message. */
  NODE_REQUIRED: "thrown";
  /** The folder cannot be created or written to. Choose another one, or fix its permissions. */
  FOLDER_UNUSABLE: "thrown";
  /** The inbox cannot be opened. Check `INBOX_URL`, and the file or server that it points to. */
  INBOX_UNUSABLE: "response" | "thrown";
  /** Another process uses the inbox file. Stop the server first. */
  INBOX_IN_USE: "thrown";
  /** The inbox has no such delivery, or no longer its body. Check the id and the endpoint. */
  DELIVERY_UNKNOWN: "response" | "thrown";
  /** The reason of a handler's aborted signal: another process took over its delivery. Stop working on it. */
  LEASE_LOST: "thrown";
  /** A `NonRetriableError` of a handler: the delivery is not retried. */
  NON_RETRIABLE: "response" | "thrown";
  /** A `RetryAfterError` of a handler: the delivery is retried at that time. */
  RETRY_LATER: "response" | "thrown";
  /** A handler asked for a retry at an invalid time. Pass a duration or a valid date to `RetryAfterError`. */
  RETRY_TIME_INVALID: "response" | "thrown";
  /** Deliveries were still queued or running when `settled()` timed out. Raise its `timeout`, or shorten `backoff`. */
  NOT_SETTLED: "thrown";
  /** An argument has a wrong value. The message and `fields` have its name. */
  ARGUMENT_INVALID: "thrown" | "hub";
  /** No access token for the Hub was found. Set `HF_TOKEN`, or run `hf auth login`. */
  HUB_TOKEN_MISSING: "hub";
  /** The access token for the Hub has a wrong format. Copy it again, on one line. */
  HUB_TOKEN_INVALID: "hub";
  /** The webhook has values that the Hub does not return, and an update would lose them. Pass them again. */
  VALUE_UNREADABLE: "hub";
  /** 400, 413 or 422: the Hub rejected the request as invalid. Fix the arguments in `fields`. */
  HUB_REQUEST_INVALID: "hub";
  /** 401: the Hub does not accept the token. Create a new one. */
  HUB_UNAUTHORIZED: "hub";
  /** 403: the token lacks a permission. Grant it in the settings of the token. */
  HUB_FORBIDDEN: "hub";
  /** 404: the Hub has no such resource, or the token cannot see it. Check its name or id. */
  HUB_NOT_FOUND: "hub";
  /** 429: too many requests. Wait for `retryAfterSeconds`. */
  HUB_RATE_LIMITED: "hub";
  /** Another 4xx status or a redirect. The message has the reason of the Hub. */
  HUB_REFUSED: "hub";
  /** 5xx: the Hub failed. Try again later. */
  HUB_FAILED: "hub";
  /** There was no connection to the Hub. Check the network and `HF_ENDPOINT`. */
  HUB_UNREACHABLE: "hub";
  /** The Hub took longer than `timeout` to respond. Try again, or raise `timeout`. */
  HUB_TIMED_OUT: "hub";
  /** The Hub sent a response with an unexpected format. Check `HF_ENDPOINT`, and update this package. */
  HUB_RESPONSE_INVALID: "hub";
}
/** The stable name of an error: see {@link WebhookErrorCodes} for cause and fix of each. */
type WebhookErrorCode = keyof WebhookErrorCodes;
/** The options of a {@link WebhookError}. */
interface WebhookErrorOptions {
  code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  status?: number;
  /** Whether trying again may succeed. Default `false`. */
  retryable?: boolean;
  /** The original error. Never sent to clients. */
  cause?: unknown;
  /** Seconds to wait before trying again, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}
declare const brand: unique symbol;
/**
 * The error class of this package. `message` is for people: what happened and what to do next. `code` is for programs, and
 * does not change between releases.
 *
 * @example
 * ```ts
 * try {
 *   await server.launch({ handleSignals: false });
 * } catch (error) {
 *   if (WebhookError.isInstance(error) && error.code === "PORT_IN_USE") await server.launch({ port: 7861 });
 * }
 * ```
 */
declare class WebhookError extends Error {
  readonly name: string;
  /** What went wrong, for programs: see {@link WebhookErrorCodes}. */
  readonly code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  readonly status: number | undefined;
  /** Whether trying again may succeed. */
  readonly retryable: boolean;
  /** Seconds to wait before trying again, if known. */
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;
  constructor(message: string, options: WebhookErrorOptions);
  /**
   * Recognizes a `WebhookError` of any installed copy of this package, unlike `instanceof`. Never throws, even for values
   * whose fields cannot be read.
   */
  static isInstance(value: unknown): value is WebhookError;
}
/** The public URL that a provider is to open for a local port. */
interface ProviderRequest {
  /** The local port, 1 to 65535. */
  port: number;
  /** The address of the provider's server. Default: the provider's own. */
  host: string | undefined;
  /** The requested name in the public URL. */
  subdomain: string | undefined;
  /** Cancels the opening, at the deadline or on behalf of the caller. Has no effect once the tunnel is open. */
  signal: AbortSignal;
}
/** A tunnel that one provider has opened, once deliveries can arrive. */
interface ProviderTunnel {
  /** The public address without a trailing slash, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** The name to request in order to get this URL again; `undefined` if the provider has no such names. */
  readonly name: string | undefined;
  /**
   * Aborts with a {@link WebhookError} when the provider has lost the tunnel, not when it is closed. A lost tunnel does
   * not recover: close it and open another.
   */
  readonly lost: AbortSignal;
  /** Closes the tunnel and resolves when all its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Opens one tunnel with one provider. There is one file per provider.
 *
 * When it rejects, it leaves nothing behind, and it rejects as soon as `request.signal` aborts.
 */
type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;
/**
 * Opens a tunnel with the package `localtunnel`, in a worker process that can be stopped at any time.
 *
 * @throws `TUNNEL_FAILED` with the reason, `OPTION_INVALID` when `request.host` is not an address.
 */
declare function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel>;
/** The events of an open tunnel, and the values that its listeners receive. */
interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries no longer arrive, and why. The tunnel reconnects until it is closed. */
  down: [error: WebhookError];
  /** The public URL has changed. Emitted before `up`: update webhooks that point to the old URL. */
  urlChanged: [url: string];
  /**
   * The tunnel was lost or could not be reopened (`TUNNEL_FAILED`), or the server assigned a name other than the
   * requested one (`TUNNEL_NAME_TAKEN`). Without a listener the error is dropped; it never ends the process.
   */
  error: [error: WebhookError];
}
/** A listener for one of {@link TunnelEvents}. */
type TunnelListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;
/** The tunnel providers, with the default timeout for opening a tunnel. */
declare const providers: {
  readonly localtunnel: {
    readonly open: typeof openLocaltunnel;
    readonly timeout: "15s";
  };
  readonly cloudflared: {
    readonly open: Provider;
    readonly timeout: "30s";
  };
  readonly ngrok: {
    readonly open: Provider;
    readonly timeout: "15s";
  };
};
/** The name of a tunnel provider. */
type ProviderName = keyof typeof providers;
/** The options of `openTunnel`. */
interface OpenTunnelOptions {
  /**
   * The tunnel provider. Default `"localtunnel"`, which needs the package of that name. `"cloudflared"` and `"ngrok"`
   * need the program of that name on `PATH` or in `node_modules/.bin`; it is never downloaded.
   */
  provider?: ProviderName;
  /**
   * Your own http(s) address that already points to `port`, such as that of a named tunnel or a reverse proxy. No tunnel
   * is started; the address is only polled. Excludes `provider`, `host` and `subdomain`.
   */
  publicUrl?: string;
  /** The local port to expose, 1 to 65535. Listen on it, on 127.0.0.1 or on all addresses, before opening the tunnel. */
  port: number;
  /** The address of the localtunnel server. Default `LOCALTUNNEL_HOST`, or else `https://localtunnel.me`. */
  host?: string;
  /**
   * The name to request in the public URL from localtunnel: 4 to 63 lowercase letters, digits and hyphens. If the name is
   * taken, the server may assign another one: the tunnel then emits an `error` with the code `TUNNEL_NAME_TAKEN`.
   * Default: the server chooses a name, which is requested again after a loss.
   */
  subdomain?: string;
  /** Cancels the opening: the promise rejects with its reason. Has no effect on an open tunnel. */
  signal?: AbortSignal;
  /** How long opening may take. Default `"15s"`, and `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * How often to check that the public URL still points here: any status below 500 passes. Two failures in a row are a
   * loss. Default `"15s"`.
   */
  heartbeat?: Duration;
}
/** An open tunnel from a public URL to a local port. It reconnects after a loss until it is closed. */
interface Tunnel {
  /**
   * The public address without a trailing slash, such as `https://quiet-owl-12.loca.lt`. Read it again after
   * `urlChanged`.
   */
  readonly url: string;
  /** Whether deliveries arrive (`up`) or not (`down`), or the tunnel was closed. */
  readonly status: "up" | "down" | "closed";
  /**
   * Adds a listener for an event and returns the function that removes it.
   *
   * @example
   * ```ts
   * const stopListening = tunnel.on("down", (error) => console.error(error.message));
   * ```
   */
  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelListener<Name>): () => void;
  /** Closes the tunnel and resolves when all its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * Makes a local port reachable from the internet. A lost tunnel is reopened until it is closed, after 1 s, 2 s, 4 s and so
 * on, up to 30 s.
 *
 * @throws `TUNNEL_FAILED` with the reason if there is no tunnel within `timeout`, `OPTION_INVALID` if an option is
 * invalid, and the reason of `signal` if it aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Point your webhooks to ${tunnel.url}/webhooks/retrain`);
 * tunnel.on("urlChanged", (url) => console.log(`Point your webhooks to ${url}/webhooks/retrain`));
 * ```
 */
export declare function openTunnel(options: OpenTunnelOptions): Promise<Tunnel>;
/** A line of the child's output. */
interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}
/** An endpoint of a session. */
interface DevEndpoint {
  name: string;
  /** The URL of its webhook. */
  url: string;
  /** What its webhook watches, as `type:name`. Empty if it has no webhook. */
  watch: readonly string[];
  /** The arguments of `hub-webhooks trigger` that send it a test event. Only on a local Hub. */
  trigger?: readonly string[];
}
/** The current addresses and endpoints of a session. */
interface DevState {
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
  console?: string;
  /** URL of the session's inbox, with a masked password; absent if no endpoint runs in the background. */
  inbox?: string;
}
/** An event of a session. */
type DevEvent =
/** A test request through the public address has arrived: deliveries of the Hub do, too. Emitted once. */
({
  event: "ready";
} & DevState) |
/** The public address is no longer reachable, and why. The tunnel reconnects until the session is closed. */
{
  event: "down";
  reason: string;
} |
/** Deliveries arrive again. */
{
  event: "up";
  publicUrl: string;
} |
/** The public address has changed. The webhooks of the session are updated. */
{
  event: "urlChanged";
  publicUrl: string;
} |
/** Source files have changed. Deliveries wait until the server is reloaded. */
{
  event: "reloading";
  files: readonly string[];
} |
/** The server is running again, and its webhooks are in sync. */
{
  event: "reloaded";
  endpoints: readonly DevEndpoint[];
} |
/** The server failed to load, or its process exited. Deliveries return 503, which the Hub retries. */
{
  event: "broken";
  reason: string;
  /** The stack trace, reduced to the user's own files. */
  stack?: string;
  /** Whether the server is restarted without a change of its files. */
  isRestarted: boolean;
} |
/** A delivery was answered. */
({
  event: "delivery";
} & ProxiedDelivery) |
/** The webhooks of the session were changed. The steps are text for people. */
{
  event: "webhooks";
  steps: readonly string[];
} |
/** Something failed that is retried, or that only you can fix. */
{
  event: "problem";
  code: string;
  message: string;
} |
/** A line of output of the server: JSON of its logger, or text that your code prints. */
({
  event: "output";
} & OutputLine);
/** A delivery that was answered. */
interface ProxiedDelivery {
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
interface ReplayResult {
  endpoint: string;
  deliveryId: string;
  /** HTTP status of the response. */
  status: number;
}
/** What a webhook can watch: a repository of a type, or all repositories of a user or an organization. */
declare const watchedTypes: readonly ["model", "dataset", "space", "bucket", "kernel", "user", "org"];
/** The type of something that a webhook watches: a type of repository, a user or an organization. */
type WatchedType = (typeof watchedTypes)[number];
/** A repository, user or organization to watch, as `type:name`: `"dataset:me/data"`, `"org:acme"`. {@link Watched} is the same as an object. */
type Watch = `${WatchedType}:${string}`;
/** The options of `startDev`. */
interface StartDevOptions {
  /** The file that creates the server. Default: the first of `server.ts`, `src/server.ts`, `app.ts` and so on. */
  file?: string;
  /**
   * Where to register the webhooks: on a local Hub that is started for the session (`"local"`, the default), without an
   * account or internet access, or through a tunnel on the Hub of `endpoint` (`"real"`).
   */
  hub?: "local" | "real";
  /** Local port of the server. Default 7860, or the next free port. */
  port?: number;
  /** Port of the local Hub. Default 5050, or the next free port. */
  hubPort?: number;
  /**
   * URL of the session's inbox. Overrides `INBOX_URL` and the options of the server, because a session must not run the
   * queued deliveries of a deployed server. Default `sqlite:./.hub-webhooks/dev.db`, or `dev-<port>.db` at a port other than
   * 7860.
   */
  inbox?: string;
  /** The tunnel. Default: `{}` for the real Hub, `false` for the local Hub, which delivers on this machine. */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /** Your own address that points to `port`, instead of a tunnel. */
  publicUrl?: string;
  /**
   * What to watch for endpoints without `watch`. Default on the local Hub: what their filter names, or else everything of
   * `local-user`; on the real Hub nothing.
   */
  watch?: readonly Watch[];
  /** The token for the real Hub. Default: see `HubClient`. */
  token?: string;
  /** The address of the real Hub. Default `HF_ENDPOINT`, or else `https://huggingface.co`. */
  endpoint?: string;
  /**
   * The file that records the session's webhooks on the real Hub until they are deleted. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Waits for a change if the file does not load at the start. Default `false`: `startDev` rejects. */
  waitForFile?: boolean;
  /** How often to revert changes and suspensions of the webhooks. Default `"1m"`. */
  repairInterval?: Duration;
  /** Receives every event. An error that it throws does not end the session. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, even while it starts. */
  signal?: AbortSignal;
}
/** A running server file that is reloaded when it changes, with its webhooks, until it is closed. */
interface DevSession extends AsyncDisposable {
  /** The current addresses and endpoints. */
  readonly state: DevState;
  /**
   * The secret that was generated for this session, if the server has none and is not public. Send it as
   * `X-Webhook-Secret` with your own deliveries. The local Hub and `hub-webhooks trigger` send it automatically.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery again with a new id. Returns `undefined` if there is none yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load.
   */
  replay(): Promise<ReplayResult | undefined>;
  /** Deletes the webhooks of the session, closes the tunnel and stops the server. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Runs a server file as `hub-webhooks dev` does: at a stable address, with a reload on every change, and with temporary
 * webhooks on a Hub that are deleted at the end. Resolves when deliveries arrive: a test request through the public address
 * was answered.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, errors of the Hub
 * (`HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
export declare function startDev(options?: StartDevOptions): Promise<DevSession>;
export type { DevEndpoint, DevEvent, DevSession, DevState, OpenTunnelOptions, ProviderName, ProxiedDelivery, ReplayResult, StartDevOptions, Tunnel, TunnelEvents, TunnelListener };
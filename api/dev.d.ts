import "zod";
import { z } from "@hono/zod-openapi";
/**
 * A span of time: a number of milliseconds, or a number with its unit (`ms`, `s`, `m`, `h`, `d`) as in `"500ms"`,
 * `"25s"`, `"1.5h"`.
 */
type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;
/**
 * The stable names of everything that can go wrong. Programs branch on these, never on a message.
 *
 * The first group is answered to whoever posted a delivery, the second is thrown at the developer, the third tells
 * what the Hub said, or that it did not.
 */
type WebhookErrorCode = "SECRET_MISSING" | "SECRET_INVALID" | "TOO_MANY_FAILURES" | "ENDPOINT_UNKNOWN" | "METHOD_NOT_ALLOWED" | "MEDIA_TYPE_UNSUPPORTED" | "ENCODING_UNSUPPORTED" | "BODY_TOO_LARGE" | "BODY_INCOMPLETE" | "BODY_NOT_JSON" | "BODY_TOO_DEEP" | "BODY_CONSUMED" | "PAYLOAD_INVALID" | "HANDLER_FAILED" | "HANDLER_TIMED_OUT" | "RESULT_NOT_JSON" | "OWNER_ONLY" | "CROSS_SITE_REFUSED" | "CLOSING" | "INBOX_FULL" | "INBOX_UNAVAILABLE" | "NOT_FOUND" | "INTERNAL" | "ENDPOINT_NAME_MISSING" | "ENDPOINT_NAME_INVALID" | "ENDPOINT_EXISTS" | "DECORATOR_INVALID" | "OPTION_INVALID" | "MIDDLEWARE_TOO_LATE" | "ENDPOINT_REQUIRED" | "PAYLOAD_MISSING" | "PORT_IN_USE" | "LISTEN_FAILED" | "TUNNEL_FAILED" | "TUNNEL_NAME_TAKEN" | "STATE_UNUSABLE" | "SERVER_FILE_INVALID" | "NODE_REQUIRED" | "FOLDER_UNUSABLE" | "INBOX_UNUSABLE" | "INBOX_IN_USE" | "DELIVERY_UNKNOWN" | "LEASE_LOST" | "NON_RETRIABLE" | "RETRY_LATER" | "RETRY_TIME_INVALID" | "NOT_SETTLED" | "ARGUMENT_INVALID" | "TOKEN_MISSING" | "TOKEN_INVALID" | "VALUE_UNREADABLE" | "HUB_REQUEST_INVALID" | "HUB_UNAUTHORIZED" | "HUB_FORBIDDEN" | "HUB_NOT_FOUND" | "HUB_RATE_LIMITED" | "HUB_REFUSED" | "HUB_FAILED" | "HUB_UNREACHABLE" | "HUB_TIMED_OUT" | "HUB_RESPONSE_INVALID";
/** What a {@link WebhookError} is made of. */
interface WebhookErrorOptions {
  code: WebhookErrorCode;
  /** The HTTP status that tells this error, where there is one. */
  status?: number;
  /** Whether the same thing may succeed when it is tried again. Default `false`. */
  retryable?: boolean;
  /** What caused it. Never sent to a stranger. */
  cause?: unknown;
  /** Seconds after which to try again, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}
declare const brand: unique symbol;
declare const hubBrand: unique symbol;
/**
 * The one error of this package. `message` is written for the person who meets it and says what to do next;
 * `code` is written for programs and stays the same from release to release.
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
  /** What went wrong, for programs. */
  readonly code: WebhookErrorCode;
  /** The HTTP status that tells this error, where there is one. */
  readonly status: number | undefined;
  /** Whether the same thing may succeed when it is tried again. */
  readonly retryable: boolean;
  /** Seconds after which to try again, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;
  constructor(message: string, options: WebhookErrorOptions);
  /**
   * Recognizes a `WebhookError` of any copy of this package, where `instanceof` knows only its own. Never throws:
   * something whose fields cannot be read is no `WebhookError`.
   */
  static isInstance(value: unknown): value is WebhookError;
}
/** What a {@link HubError} is made of. */
interface HubErrorOptions extends WebhookErrorOptions {
  /** `X-Request-Id` of the answer: what to quote to the Hub's support. */
  requestId?: string | undefined;
  /** The arguments or values that the error is about, as in `watched[0].type`. */
  fields?: readonly string[];
}
/**
 * A call of the Hub's REST API that failed: refused by the Hub, not answered, or not sent because an argument is
 * invalid. `status` is the Hub's, `code` is ours, and no message or cause holds a token or a secret.
 *
 * @example
 * ```ts
 * try {
 *   await hub.webhooks.get(id);
 * } catch (error) {
 *   if (HubError.isInstance(error) && error.code === "HUB_NOT_FOUND") await hub.webhooks.create(webhook);
 * }
 * ```
 */
declare class HubError extends WebhookError {
  readonly name = "HubError";
  /** `X-Request-Id` of the answer: what to quote to the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments or values that the error is about, as in `watched[0].type`; empty where it is about none. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;
  constructor(message: string, options: HubErrorOptions);
  /** Recognizes a `HubError` of any copy of this package. Never throws. */
  static isInstance(value: unknown): value is HubError;
}
/** What a tunnel tells while it is open, and the values its listeners are given. */
interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries do not arrive any more, and why. It is tried again until the tunnel is closed. */
  down: [error: WebhookError];
  /** The public URL is another one now, told before `up`: webhooks that point at the old one need the new one. */
  urlChanged: [url: string];
  /**
   * Something went wrong: the tunnel is lost, an attempt to open it again has failed (`TUNNEL_FAILED`), or the server
   * gave another name than the one wished for (`TUNNEL_NAME_TAKEN`). Without a listener it is dropped; it never ends
   * the process.
   */
  error: [error: WebhookError];
}
/** A function that listens to one of {@link TunnelEvents}. */
type TunnelListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;
/**
 * A question that only the server behind the tunnel can answer. Whoever listens on the tunnel's port serves `answer` as
 * `text/plain` at `path`: a page of the tunnel's own service then never passes for the server.
 */
interface Probe {
  /** Such as `/_hub-webhooks/probe/6f1c…`. Nobody can guess it. */
  readonly path: string;
  /** Another text that nobody can guess. */
  readonly answer: string;
}
/**
 * Makes a {@link Probe}, another one each time.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 *
 * const probe = createProbe();
 * createServer((request, response) => {
 *   if (request.url === probe.path) response.setHeader("content-type", "text/plain").end(probe.answer);
 *   else response.writeHead(404).end();
 * }).listen(7860);
 * await using tunnel = await openTunnel({ port: 7860, probe });
 * ```
 */
export declare function createProbe(): Probe;
/** What a provider is asked for: a public URL for a local port. */
interface ProviderRequest {
  /** The local port, 1 to 65535. */
  port: number;
  /** The address of the provider's server; its own default when left out. */
  host: string | undefined;
  /** The name wished for in the public URL. */
  subdomain: string | undefined;
  /** Ends the opening, at the deadline or because the caller wishes so. Has no meaning once the tunnel is open. */
  signal: AbortSignal;
}
/** What a provider gives back once deliveries can arrive. */
interface ProviderTunnel {
  /** The public address without a slash at its end, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** The name to wish for in order to get this URL again; `undefined` where there is no such thing. */
  readonly name: string | undefined;
  /**
   * Aborts with a {@link WebhookError} when the provider has lost the tunnel, not when it is closed. It does not come
   * back by itself: close it and open another.
   */
  readonly lost: AbortSignal;
  /** Ends the tunnel; resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Opens one tunnel with one provider. One file per provider; `providers.ts` lists them.
 *
 * It leaves nothing behind when it rejects, and it rejects as soon as `request.signal` aborts.
 */
type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;
/**
 * Opens a tunnel with the package `localtunnel`, in a child process that can be ended at any moment.
 *
 * @throws `TUNNEL_FAILED` with the reason, `OPTION_INVALID` when `request.host` is no address.
 */
declare function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel>;
/** Who can carry a tunnel, and how long each may take to open one when nobody says otherwise. */
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
/** Who carries a tunnel. */
type ProviderName = keyof typeof providers;
/** The options of `openTunnel`. */
interface OpenTunnelOptions {
  /**
   * Who carries the tunnel. Default `"localtunnel"`, which needs the package of that name. `"cloudflared"` and
   * `"ngrok"` need the program of that name, which is found on `PATH` or in `node_modules/.bin` and never downloaded.
   */
  provider?: ProviderName;
  /**
   * An http(s) address of your own that leads to `port` already, such as that of a named tunnel or a reverse proxy.
   * Nothing is started: it is only asked from time to time. Excludes `provider`, `host` and `subdomain`.
   */
  publicUrl?: string;
  /** The local port to make public, 1 to 65535. Listen on it, on 127.0.0.1 or on all addresses, before opening. */
  port: number;
  /**
   * The address of the tunnel's server, for localtunnel alone. Default: `LOCALTUNNEL_HOST`, or else
   * `https://localtunnel.me`.
   */
  host?: string;
  /**
   * The name wished for in the public URL, for localtunnel alone: 4 to 63 lower-case letters, digits and hyphens. A
   * server may give another name when this one is taken: an `error` with the code `TUNNEL_NAME_TAKEN` tells it.
   * Default: the server chooses, and is asked for the same name again after a loss.
   */
  subdomain?: string;
  /** Gives up opening: the promise rejects with its reason. An open tunnel is not touched by it. */
  signal?: AbortSignal;
  /** How long opening may take, the probe included. Default `"15s"`, and `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * What the server on `port` answers: the tunnel is open only once it came back through the public URL. Default:
   * opening does not wait for an answer, and later on any with a status below 500 will do.
   */
  probe?: Probe;
  /** How often the public URL is asked whether it still leads here. Two failures in a row are a loss. Default `"15s"`. */
  heartbeat?: Duration;
}
/** An open way from a public URL to a local port. It comes back by itself after a loss, until it is closed. */
interface Tunnel {
  /**
   * The public address without a slash at its end, such as `https://quiet-owl-12.loca.lt`. Read it again after
   * `urlChanged`.
   */
  readonly url: string;
  /** Whether deliveries arrive (`up`), do not (`down`), or the tunnel was closed. */
  readonly status: "up" | "down" | "closed";
  /**
   * Listens to an event, and returns the function that stops listening.
   *
   * @example
   * ```ts
   * const stopListening = tunnel.on("down", (error) => console.error(error.message));
   * ```
   */
  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelListener<Name>): () => void;
  /** Closes the tunnel and resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * Makes a local port reachable from the internet, and keeps it so: when the tunnel is lost, it is opened again for as
 * long as it takes, after 1 second, 2, 4 and so on up to 30.
 *
 * @throws `TUNNEL_FAILED` with the reason when there is no tunnel within `timeout`, `OPTION_INVALID` when an option
 * makes no sense, and the reason of `signal` when that aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Webhooks may point at ${tunnel.url}/webhooks/retrain`);
 * tunnel.on("urlChanged", (url) => console.log(`Now they have to point at ${url}/webhooks/retrain`));
 * ```
 */
export declare function openTunnel(options: OpenTunnelOptions): Promise<Tunnel>;
/** A line of the child's output. */
interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}
/** A delivery that was answered. */
interface PassedDelivery {
  endpoint: string;
  /** Its `Webhook-Id`; absent where the sender gave none. */
  deliveryId?: string;
  /** HTTP status of the answer. */
  status: number;
  /** From its headers to the end of the answer, in milliseconds; the wait for a server included. */
  durationMs: number;
  /** Why the server did not answer it itself, where that is so; the Hub sends such a delivery again. */
  reason?: string;
}
/** How a delivery that was sent once more was answered. */
interface Replayed {
  endpoint: string;
  deliveryId: string;
  status: number;
}
/** An endpoint, as it is reached and registered in a session. */
interface DevEndpoint {
  name: string;
  /** Where the Hub posts its deliveries. */
  url: string;
  /** What its webhook watches, as `type:name`; empty where it has none. */
  watch: readonly string[];
  /** What to give `hub-webhooks trigger`, word by word, to try it on a local Hub. */
  trigger?: readonly string[];
}
/** The state of a session once deliveries arrive. */
interface DevReady {
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
type DevEvent =
/** A delivery of the Hub would arrive now: a request through the public address has come back. Comes once. */
({
  event: "ready";
} & DevReady) |
/** Nothing arrives through the public address any more, and why. It is opened again without end. */
{
  event: "down";
  reason: string;
} |
/** Deliveries arrive again. */
{
  event: "up";
  publicUrl: string;
} |
/** The public address is another one; the webhooks of the session follow it. */
{
  event: "urlChanged";
  publicUrl: string;
} |
/** Sources have changed: deliveries wait until the server is loaded anew. */
{
  event: "reloading";
  files: readonly string[];
} |
/** The server serves again, and its webhooks are in step with its endpoints. */
{
  event: "reloaded";
  endpoints: readonly DevEndpoint[];
} |
/** The server does not load, or its process has ended; deliveries get 503, which the Hub tries again. */
{
  event: "broken";
  reason: string;
  /** Where the file threw: the lines of the user's own files. */
  stack?: string;
  isRestarted: boolean;
} |
/** A delivery was answered. */
({
  event: "delivery";
} & PassedDelivery) |
/** What was done to the webhooks of the session, for a person. */
{
  event: "webhooks";
  steps: readonly string[];
} |
/** Something does not work that is tried again, or that only the user can mend. */
{
  event: "problem";
  code: string;
  message: string;
} |
/** A line that the server has written: JSON of its logger, or whatever the user's code prints. */
({
  event: "output";
} & OutputLine);
/** What a webhook can watch: a repository of a type, or all that belongs to a user or an organization. */
declare const watchedTypes: readonly ["model", "dataset", "space", "bucket", "kernel", "user", "org"];
/** What a webhook can watch. */
type WatchedType = (typeof watchedTypes)[number];
/** What a webhook can be told of: changes of the repository, or of its discussions. */
declare const webhookDomains: readonly ["repo", "discussion"];
/** What a webhook can be told of. */
type WebhookDomain = (typeof webhookDomains)[number];
/** One thing to watch, as `type:name`: `"dataset:me/data"`, `"org:acme"`. */
type Watch = `${WatchedType}:${string}`;
/** One thing that a webhook watches. */
interface WatchedThing {
  type: WatchedType;
  name: string;
}
/** How to start a session. */
interface StartDevOptions {
  /** The file that makes the server. Default: `server.ts`, `src/server.ts`, `app.ts` and the like, whichever is there. */
  file?: string;
  /**
   * Where webhooks are registered: on a local Hub that is started for the session (`"local"`, the default), which needs
   * no account and no internet, or on the one that `HF_ENDPOINT` names (`"real"`), through a tunnel.
   */
  hub?: "local" | "real";
  /** Port of the server on this machine. Default 7860, or the next free port. */
  port?: number;
  /** Port of the local Hub. Default 5050, or the next free port. */
  hubPort?: number;
  /**
   * URL of the inbox for the session, in place of `INBOX_URL` and of a URL in the server's options: a session must not
   * run the queued deliveries of a deployed server. Default `sqlite:./.hub-webhooks/dev.db`, or
   * `dev-<port>.db` at a port other than 7860.
   */
  inbox?: string;
  /** The tunnel. Default: `{}` for the real Hub, `false` for the local one, which delivers on this machine. */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /** An address of your own that leads to `port`, in place of a tunnel. */
  publicUrl?: string;
  /**
   * What to watch for endpoints that do not say. Default on the local Hub: what their filter names, else all that
   * belongs to `local-user`; on the real Hub nothing.
   */
  watch?: readonly Watch[];
  /** The token for the real Hub. Default: see `HubClient`. */
  token?: string;
  /** The address of the real Hub. Default `HF_ENDPOINT`, else `https://huggingface.co`. */
  endpoint?: string;
  /**
   * The file that tells which webhooks on the real Hub are to be deleted later on. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Whether a file that does not load at the start is waited for until it is mended. Default `false`: it rejects. */
  waitsForFile?: boolean;
  /** How often the webhooks are looked after, should somebody change or suspend them. Default `"1m"`. */
  repairInterval?: Duration;
  /** Told of everything that happens. A listener that throws ends nothing. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, also one that is starting. */
  signal?: AbortSignal;
}
/** A server file that runs, is loaded anew when it changes, and is registered, until it is closed. */
interface DevSession extends AsyncDisposable {
  /** Where everything is now. */
  readonly state: DevReady;
  /**
   * The secret that was made for this session, where the server has none of its own and no public address leads to it: send
   * it with a delivery of your own, as `X-Webhook-Secret`. The local Hub and `hub-webhooks trigger` send it by themselves.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery once more, as a new one. `undefined` where there was none yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load.
   */
  replay(): Promise<Replayed | undefined>;
  /** Deletes the webhooks of the session, closes the tunnel and ends the server. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Runs the file of a server as `hub-webhooks dev` does: behind an address that stays while the file is loaded anew on
 * every change, registered on a Hub by webhooks that are deleted at the end. Resolves when a delivery would arrive: a
 * request through the public address has come back.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, what the Hub
 * refuses (`TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
export declare function startDev(options?: StartDevOptions): Promise<DevSession>;
/** What every call can be given. */
interface CallOptions {
  /** Ends the call, a wait between two attempts too: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}
/** One of the known values, or one that is newer than this release. Editors complete the known ones. */
type Open<Known extends string> = Known | (string & {});
/** A webhook as the Hub answers with it. */
declare const webhook$1: z.ZodObject<{
  id: z.ZodString;
  url: z.ZodOptional<z.ZodURL>;
  job: z.ZodOptional<z.ZodObject<{
    dockerImage: z.ZodOptional<z.ZodString>;
    spaceId: z.ZodOptional<z.ZodString>;
    environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
    command: z.ZodOptional<z.ZodArray<z.ZodString>>;
    flavor: z.ZodType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
    labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    secrets: z.ZodOptional<z.ZodArray<z.ZodString>>;
  }, z.core.$strict>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  disabled: z.ZodUnion<readonly [z.ZodBoolean, z.ZodType<Open<"suspended-after-failure">, Open<"suspended-after-failure">, z.core.$ZodTypeInternals<Open<"suspended-after-failure">, Open<"suspended-after-failure">>>]>;
  watched: z.ZodArray<z.ZodObject<{
    name: z.ZodString;
    type: z.ZodType<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    avatarUrl: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
  hasSecret: z.ZodOptional<z.ZodBoolean>;
  secret: z.ZodOptional<z.ZodString>;
  domains: z.ZodArray<z.ZodType<Open<"discussion" | "repo">, Open<"discussion" | "repo">, z.core.$ZodTypeInternals<Open<"discussion" | "repo">, Open<"discussion" | "repo">>>>;
  lastTriggerAt: z.ZodOptional<z.ZodISODateTime>;
}, z.core.$strict>;
/** What create accepts. */
declare const webhookRequest: z.ZodObject<{
  watched: z.ZodArray<z.ZodObject<{
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodString;
  }, z.core.$strip>>;
  domains: z.ZodArray<z.ZodType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>;
  url: z.ZodOptional<z.ZodString>;
  job: z.ZodOptional<z.ZodObject<{
    flavor: z.ZodType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    spaceId: z.ZodOptional<z.ZodString>;
    dockerImage: z.ZodOptional<z.ZodString>;
    arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
    command: z.ZodOptional<z.ZodArray<z.ZodString>>;
    environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    secrets: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    arch: z.ZodOptional<z.ZodType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
    timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
    attempts: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    volumes: z.ZodOptional<z.ZodArray<z.ZodObject<{
      type: z.ZodType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodString;
      mountPath: z.ZodString;
      revision: z.ZodOptional<z.ZodString>;
      readOnly: z.ZodOptional<z.ZodBoolean>;
      path: z.ZodOptional<z.ZodString>;
    }, z.core.$strip>>>;
    expose: z.ZodOptional<z.ZodObject<{
      ports: z.ZodArray<z.ZodInt>;
      portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
    }, z.core.$strip>>;
    ssh: z.ZodOptional<z.ZodObject<{
      enabled: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strip>>;
    resourceGroupId: z.ZodOptional<z.ZodString>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  secret: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** A webhook as the Hub answers with it. */
type Webhook = z.output<typeof webhook$1>;
/** A webhook to create: with exactly one of `url`, `job` and `jobSourceId`. */
type WebhookRequest = z.input<typeof webhookRequest>;
declare const webhookChanges: z.ZodObject<{
  watched: z.ZodOptional<z.ZodArray<z.ZodObject<{
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodString;
  }, z.core.$strip>>>;
  domains: z.ZodOptional<z.ZodArray<z.ZodType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>>;
  url: z.ZodOptional<z.ZodString>;
  job: z.ZodOptional<z.ZodObject<{
    flavor: z.ZodOptional<z.ZodType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>>;
    spaceId: z.ZodNullable<z.ZodOptional<z.ZodString>>;
    dockerImage: z.ZodNullable<z.ZodOptional<z.ZodString>>;
    arguments: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodString>>>;
    command: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodString>>>;
    environment: z.ZodOptional<z.ZodNullable<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>>;
    secrets: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodNullable<z.ZodString>>>>;
    arch: z.ZodNullable<z.ZodOptional<z.ZodType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>>;
    timeoutSeconds: z.ZodOptional<z.ZodNullable<z.ZodNullable<z.ZodInt>>>;
    attempts: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    labels: z.ZodNullable<z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>>;
    volumes: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodObject<{
      type: z.ZodType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodString;
      mountPath: z.ZodString;
      revision: z.ZodOptional<z.ZodString>;
      readOnly: z.ZodOptional<z.ZodBoolean>;
      path: z.ZodOptional<z.ZodString>;
    }, z.core.$strip>>>>;
    expose: z.ZodNullable<z.ZodOptional<z.ZodObject<{
      ports: z.ZodArray<z.ZodInt>;
      portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
    }, z.core.$strip>>>;
    ssh: z.ZodNullable<z.ZodOptional<z.ZodObject<{
      enabled: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strip>>>;
    resourceGroupId: z.ZodNullable<z.ZodOptional<z.ZodString>>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  secret: z.ZodNullable<z.ZodOptional<z.ZodString>>;
}, z.core.$strip>;
/**
 * What is to change of a webhook. What is left out stays as it is, except that another target (`url`, `job` or
 * `jobSourceId`) takes the place of the one before. `secret: null` removes the secret.
 *
 * The fields of `job` are laid over those of the job that the webhook has; `null` removes one. A webhook without a job
 * of its own takes a whole one.
 */
type WebhookChanges = z.input<typeof webhookChanges>;
/**
 * The webhooks of the user whose token it is: `hub.webhooks`.
 *
 * Every method checks its arguments before anything is sent (`ARGUMENT_INVALID`, naming the fields) and throws a
 * `HubError` for whatever else goes wrong.
 */
declare class HubWebhooks {
  #private;
  /** All your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** @throws `HUB_NOT_FOUND` when there is no such webhook, as every method that takes an id does. */
  get(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Creates a webhook, which is active from then on. It is repeated only where it cannot have happened.
   *
   * @example
   * ```ts
   * const { id } = await hub.webhooks.create({
   *   watched: [{ type: "dataset", name: "acme/data" }],
   *   domains: ["repo"],
   *   url: "https://acme-bot.hf.space/webhooks/retrain",
   *   secret: process.env.WEBHOOK_SECRET,
   * });
   * ```
   */
  create(request: WebhookRequest, options?: CallOptions): Promise<Webhook>;
  /**
   * Changes what is given and leaves the rest: the Hub takes whole webhooks only, so this reads, merges and writes back.
   * Whoever else changes the webhook between the read and the write is overwritten.
   *
   * @throws `VALUE_UNREADABLE`, before anything is written, when something would be lost that a read does not return (a
   * hidden secret; a job's `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId` and the values of its secrets): `fields` names what to give.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Lets it deliver again, also one that was suspended (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Stops its deliveries and keeps it. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Removes it for good. */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /**
   * Sends a delivery of the past again, to the URL and with the secret that the webhook has now; `status` is what the
   * receiver answered. Ids of the log are found in the Activity tab of the webhook's page on the Hub.
   */
  replay(webhookId: string, logId: string, options?: CallOptions): Promise<{
    status: number;
  }>;
}
/** The Hub on which webhooks are registered: a `HubClient`. */
interface HubConnection {
  /** Its address, by which what is noted of it is found again. */
  readonly endpoint: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
/** How the run of a handler on a delivery ended. */
type Outcome =
/** What the handler returned. */
{
  readonly status: "succeeded";
  readonly result: unknown;
} |
/** Why the filter did not want it. */
{
  readonly status: "ignored";
  readonly reason: string;
} |
/** What went wrong, and when it is tried again where the handler asked for a time. */
{
  readonly status: "failed";
  readonly error: WebhookError;
  readonly retryAt?: Date;
};
/**
 * The name of the method by which tools ask a server what there is to know. Registered for the whole process, so that
 * two copies of this package understand each other.
 */
declare const serverDetails: unique symbol;
/** An endpoint, as far as a webhook for it has to know. */
interface EndpointDetails {
  readonly name: string;
  /** What its webhook watches; empty: nobody has said. */
  readonly watch: readonly WatchedThing[];
  /** What its webhook is told of. */
  readonly domains: readonly WebhookDomain[];
  /** Its filter for repositories, as it was written. */
  readonly repos: readonly string[];
  /** Its filter for scopes; empty: all of them. */
  readonly scopes: readonly string[];
  readonly background: boolean;
  /** What looks like a slip in its options. */
  readonly doubts: readonly string[];
}
/** A delivery that came with a job: nobody has to be checked, and nobody waits for an answer. */
interface JobDelivery {
  /** Name of the endpoint. */
  endpoint: string;
  /** The payload as it came. */
  body: string;
  /** The `Webhook-Id`; where there is none, or one that no log could show, one is made. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}
/** What tools need of a server. */
interface ServerDetails {
  /** In the order in which they were registered. */
  readonly endpoints: readonly EndpointDetails[];
  /** The secret that a delivery has to carry; of several the first. */
  readonly secret: string | undefined;
  /** Whether its options open it to everyone on purpose. */
  readonly isOpenOnPurpose: boolean;
  /** Asks for this secret from now on: `isOnly` for no other, else it or one of those that are configured. */
  useSecret(secret: string, options: {
    isOnly: boolean;
  }): void;
  /**
   * Keeps the deliveries of background endpoints in the inbox of this URL, in place of `INBOX_URL` and of a URL in the
   * options. Call it before the server is launched.
   */
  useInbox(url: string): void;
  /** Lets no retry of a background endpoint wait for longer than this, in milliseconds, unless its handler asks to. */
  limitRetryWaits(maxMs: number): void;
  /**
   * Runs an endpoint, also one that works in the background, once and at once, and writes its log line.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is no level.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}
/** A server that tells its details: a `WebhooksServer`, also one of another copy of this package. */
interface DetailedServer {
  [serverDetails](): ServerDetails;
}
/** A webhook as an endpoint wants it. */
interface DesiredWebhook {
  /** Name of the endpoint. */
  endpoint: string;
  url: string;
  watched: readonly WatchedThing[];
  domains: readonly WebhookDomain[];
}
/** What becomes of a secret; the secret itself is never told. */
type SecretChange = "set" | "changed" | "removed";
/** A field of a webhook that is to be another. URLs are shown without what is secret in them. */
type FieldChange = {
  readonly field: "url" | "watched" | "domains";
  readonly before: string;
  readonly after: string;
} | {
  readonly field: "secret";
  readonly change: SecretChange;
};
/** A webhook that is to be made. */
interface CreateStep extends DesiredWebhook {
  readonly action: "create";
  /** Whether it gets a secret. */
  readonly secretIsSet: boolean;
  /** Its id, once it is made. */
  readonly id?: string;
}
/** A webhook that is to be written anew, and what differs. */
interface UpdateStep {
  readonly action: "update";
  readonly endpoint: string;
  readonly id: string;
  readonly changes: readonly FieldChange[];
  /** Whether somebody else has made it, and it is taken over. */
  readonly isAdopted: boolean;
}
/** A webhook that is to deliver again: one that was disabled, or one that the Hub has suspended. */
interface EnableStep {
  readonly action: "enable" | "re-enable";
  readonly endpoint: string;
  readonly id: string;
  /** Why it does not deliver. */
  readonly why: string;
  /** What to look at, so that it does not happen again. */
  readonly remedy?: string;
}
/** A webhook that is to be deleted for good. */
interface DeleteStep {
  readonly action: "delete";
  readonly endpoint: string;
  readonly id: string;
  readonly why: string;
}
/** One thing to do on the Hub. */
type RegistrationStep = CreateStep | UpdateStep | EnableStep | DeleteStep;
/** What is left as it is, and told. */
interface LeftAlone {
  /**
   * `not-watching`: the endpoint does not say what to watch. `not-ours`: somebody else's webhook delivers to the
   * endpoint. `endpoint-gone`: the webhook is ours, and its endpoint is gone. `surplus`: the endpoint has another one.
   * `secret-kept`: the webhook has a secret on the Hub, and none was given.
   */
  readonly reason: "not-watching" | "not-ours" | "endpoint-gone" | "surplus" | "secret-kept";
  readonly endpoint: string;
  /** Id of the webhook, where there is one. */
  readonly id?: string;
  /** What it means, and what to do. */
  readonly message: string;
}
/** A step that failed, and why. The others were tried all the same. */
interface FailedStep {
  readonly step: RegistrationStep;
  readonly error: HubError;
}
/** What a registration has done, or would do. */
interface RegistrationReport {
  /** Address of the Hub. */
  readonly hub: string;
  /** Public address of the server. */
  readonly baseUrl: string;
  /** What there was to do, in this order; nothing where all was in step. */
  readonly steps: readonly RegistrationStep[];
  /** What of that was done: nothing in a dry run. */
  readonly done: readonly RegistrationStep[];
  /** What could not be done, with the reason. What would have followed for the same webhook was not tried. */
  readonly failed: readonly FailedStep[];
  /** What there is to say of what was left as it is. */
  readonly left: readonly LeftAlone[];
  /** The webhooks that are as they should be. */
  readonly unchanged: readonly {
    readonly endpoint: string;
    readonly id: string;
  }[];
}
/** How to register the endpoints of a server. */
interface RegisterOptions {
  /** The public address of the server, such as `https://me-bot.hf.space`; its webhooks go to `/webhooks/…` below it. */
  baseUrl: string;
  /**
   * The file that says which webhooks are ours; keep it, one for each server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: that of the server, of several the first. Without any, new webhooks have none,
   * so that anyone who knows the URL of an endpoint can post to it, and existing ones keep the secret that they have.
   */
  secret?: string | undefined;
  /** Removes the secret from webhooks that have one; only without `secret`. Default `false`: they keep it. */
  removeSecret?: boolean | undefined;
  /** Only tells what would be done. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes webhooks that are ours and whose endpoint is gone. Default `false`: they are told. */
  prune?: boolean | undefined;
  /** Takes over webhooks that are not ours and deliver to one of the endpoints. Default `false`: they are told. */
  adopt?: boolean | undefined;
  /** Stops between two steps, and in the middle of a call of the Hub. */
  signal?: AbortSignal | undefined;
}
/**
 * Brings the webhooks on the Hub in step with the endpoints of a server: creates what is missing, updates what differs,
 * enables what is disabled or suspended, and leaves alone what is not ours. When all is in step it does nothing.
 *
 * What fails for one webhook is in `failed`, and the others are done all the same.
 *
 * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` when the webhooks cannot even be listed; the reason of the
 * signal. What was done until then is noted.
 * @example
 * ```ts
 * const report = await register(server, new HubClient(), { baseUrl: "https://me-bot.hf.space" });
 * for (const { error } of report.failed) console.error(error.message);
 * ```
 */
export declare function register(server: DetailedServer, hub: HubConnection, options: RegisterOptions): Promise<RegistrationReport>;
export type { CreateStep, DeleteStep, DevEndpoint, DevEvent, DevReady, DevSession, EnableStep, FailedStep, FieldChange, HubConnection, LeftAlone, OpenTunnelOptions, PassedDelivery, Probe, ProviderName, RegisterOptions, RegistrationReport, RegistrationStep, Replayed, StartDevOptions, Tunnel, TunnelEvents, TunnelListener, UpdateStep };
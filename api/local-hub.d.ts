import * as z from "zod";
import "zod/mini";
import "zod/v4/core";
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
export declare class WebhookError extends Error {
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
/** One of the known values, or one that is newer than this release. Editors complete the known ones. */
type Open<Known extends string> = Known | (string & {});
/** The stages of a job. */
declare const jobStages: readonly ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"];
/** A job that was started, or is to be. */
declare const job: z.ZodObject<{
  id: z.ZodString;
  createdAt: z.ZodISODateTime;
  owner: z.ZodObject<{
    id: z.ZodString;
    name: z.ZodString;
  }, z.core.$strict>;
  spaceId: z.ZodOptional<z.ZodString>;
  dockerImage: z.ZodOptional<z.ZodString>;
  timeout: z.ZodOptional<z.ZodNumber>;
  environment: z.ZodRecord<z.ZodString, z.ZodString>;
  secrets: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodNull>>;
  command: z.ZodOptional<z.ZodArray<z.ZodString>>;
  arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
  arch: z.ZodOptional<z.ZodType<Open<"amd64" | "arm64">, Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<Open<"amd64" | "arm64">, Open<"amd64" | "arm64">>>>;
  flavor: z.ZodType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  status: z.ZodObject<{
    stage: z.ZodEnum<{
      CANCELED: "CANCELED";
      COMPLETED: "COMPLETED";
      DELETED: "DELETED";
      ERROR: "ERROR";
      RUNNING: "RUNNING";
      SCHEDULING: "SCHEDULING";
    }>;
    message: z.ZodNullable<z.ZodString>;
    cancelReason: z.ZodOptional<z.ZodString>;
    failureCount: z.ZodOptional<z.ZodNumber>;
  }, z.core.$strict>;
  createdBy: z.ZodObject<{
    id: z.ZodString;
    name: z.ZodString;
  }, z.core.$strict>;
  tags: z.ZodOptional<z.ZodArray<z.ZodString>>;
  retry: z.ZodOptional<z.ZodNumber>;
  volumes: z.ZodOptional<z.ZodArray<z.ZodObject<{
    type: z.ZodString;
    source: z.ZodString;
    mountPath: z.ZodString;
    revision: z.ZodOptional<z.ZodString>;
    readOnly: z.ZodOptional<z.ZodBoolean>;
    path: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>>;
  expose: z.ZodOptional<z.ZodObject<{
    ports: z.ZodArray<z.ZodInt>;
    portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
  }, z.core.$strict>>;
  resourceGroupId: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
/** A job that was started, or is to be. */
type Job = z.output<typeof job>;
/** Where a job is on its way. */
type JobStage = (typeof jobStages)[number];
/** A delivery that an event caused, with the result of its latest attempt. */
interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** Log entry of the latest attempt; before the first attempt, the entry that it will create. */
  logId: string;
  /** Target URL with its secrets masked; for a job, the URL under which the local Hub lists it. */
  url: string;
  /** Number of attempts so far. */
  attempts: number;
  /** HTTP status of the latest attempt; `null` without a response. */
  status: number | null;
  /** Duration of the latest attempt in milliseconds; `null` before the first attempt. */
  durationMs: number | null;
  /** The first 2,000 characters of the response body; `null` without a response. */
  answer: string | null;
  /** Why the latest attempt failed, for people to read; `null` if it succeeded and before the first attempt. */
  error: string | null;
}
/** One attempt at a delivery, as the log of a webhook records it. */
interface LogEntry {
  logId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** Number of the attempt, from 1. Replays are counted too. */
  attempt: number;
  /** When the attempt started (ISO 8601). */
  at: string;
  durationMs: number;
  /** Target URL with its secrets masked. */
  url: string;
  /** HTTP status of the response; `null` without a response. */
  status: number | null;
  /** The secret header is masked as `***`. */
  request: {
    headers: Record<string, string>;
    body: string;
  };
  /** The response, with at most 64 KiB of its body. */
  response: {
    headers: Record<string, string>;
    body: string;
    truncated: boolean;
  } | null;
  /** Why the attempt failed, for people to read; `null` if it succeeded. */
  error: string | null;
}
/** An event to trigger: the repository, the event, and any further field of the payload. */
declare const eventRequest: z.ZodObject<{
  repo: z.ZodObject<{
    name: z.ZodString;
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
    private: z.ZodOptional<z.ZodBoolean>;
  }, z.core.$loose>;
  event: z.ZodObject<{
    scope: z.ZodString;
    action: z.ZodString;
  }, z.core.$loose>;
  movedTo: z.ZodOptional<z.ZodObject<{
    name: z.ZodString;
  }, z.core.$loose>>;
  discussion: z.ZodOptional<z.ZodObject<{
    num: z.ZodOptional<z.ZodNumber>;
  }, z.core.$loose>>;
  updatedConfig: z.ZodOptional<z.ZodObject<{
    private: z.ZodOptional<z.ZodBoolean>;
  }, z.core.$loose>>;
  updatedRefs: z.ZodOptional<z.ZodArray<z.ZodObject<{
    ref: z.ZodString;
    newSha: z.ZodNullable<z.ZodString>;
  }, z.core.$loose>>>;
  edits: z.ZodOptional<z.ZodArray<z.ZodObject<{
    path: z.ZodString;
    value: z.ZodOptional<z.ZodUnknown>;
    remove: z.ZodOptional<z.ZodLiteral<true>>;
  }, z.core.$strict>>>;
}, z.core.$loose>;
/**
 * An event on a repository: its `repo {type, name}`, its `event {scope, action}`, and any further field of the payload.
 * The local Hub fills in the fields that you leave out. `edits` are applied to the payload last, over everything else;
 * they change neither the repository nor which webhooks fire.
 */
type HubEvent = z.input<typeof eventRequest>;
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
/** One level of a {@link Logger}: fields and a message, or a message alone. */
interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}
/**
 * The logger interface of this package. A pino logger implements it; `console` does not, since it has no `child`.
 *
 * @example
 * ```ts
 * import { pino } from "pino";
 * const server = new WebhooksServer({ logger: pino({ level: "debug" }) });
 * ```
 */
interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Creates a logger that adds `bindings` to each line. */
  child(bindings: Record<string, unknown>): Logger;
}
/** Options of {@link LocalHub.launch}. */
interface LocalHubOptions {
  /** Default 0: any free port. */
  port?: number;
  /** SQLite file that keeps all data across restarts. Default: in memory. */
  state?: string;
  /** Runs the commands of jobs as local processes. Default `false`: jobs are only recorded. */
  runJobs?: boolean;
  /** Delivers to other machines too. Default `false`: only to this one. */
  allowRemote?: boolean;
  /** Attempts per delivery. Default 3. */
  attempts?: number;
  /** Time before the second attempt, doubled before each further one. Default `"500ms"`. */
  backoff?: Duration;
  /** Time for the whole response of a receiver. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** Consecutive failed deliveries after which a webhook is suspended. Default 5. */
  suspendAfter?: number;
  /** Triggers of a webhook per 24 hours. Default 1000, as on the Hub; `Infinity` for no limit. */
  triggersPerDay?: number;
  /** Logs each delivery. Default: no log. */
  logger?: Logger;
}
/**
 * A Hub on this machine: it serves the webhooks API, triggers events and delivers them, without an account and without
 * internet access.
 *
 * @example
 * ```ts
 * await using hub = await LocalHub.launch();
 * const client = new HubClient({ endpoint: hub.url, token: "hf_local" });
 * await client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
 * const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
 * ```
 */
export declare class LocalHub {
  #private;
  /** Address without a trailing slash, for `HF_ENDPOINT`. */
  readonly url: string;
  readonly port: number;
  private constructor();
  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `STATE_UNUSABLE`, `OPTION_INVALID`.
   */
  static launch(options?: LocalHubOptions): Promise<LocalHub>;
  /**
   * Triggers a push to a repository and waits until every delivery has succeeded or failed its last attempt. Creates
   * the repository if necessary. `fields` override fields of the payload.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` after it was closed.
   */
  push(repo: HubEvent["repo"], fields?: Omit<Partial<HubEvent>, "repo" | "event">): Promise<HubDelivery[]>;
  /**
   * Triggers an event and waits until every delivery has succeeded or failed its last attempt.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` after it was closed.
   * @example
   * ```ts
   * await hub.trigger({ repo: { type: "model", name: "me/net" }, event: { scope: "discussion", action: "create" } });
   * ```
   */
  trigger(event: HubEvent): Promise<HubDelivery[]>;
  /** Returns the latest 100 attempts of a webhook, newest first. */
  deliveries(webhookId: string): LogEntry[];
  /** Returns the jobs that webhooks have started, newest first. */
  jobs(): Job[];
  /** Restores the initial state: deletes webhooks, deliveries, jobs and all changes. */
  reset(): void;
  /** Stops serving and delivering, and cancels running jobs. A state file keeps the pending deliveries. */
  close(): Promise<void>;
  /** Calls {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
export type { HubDelivery, HubEvent, Job, JobStage, LocalHubOptions, LogEntry };
import { z } from "@hono/zod-openapi";
import * as z$1 from "zod";
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
export declare class WebhookError extends Error {
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
/** A delivery that an event has led to, and how its latest attempt went. */
interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id`: kept on retries and replays. */
  deliveryId: string;
  /** The log entry of its latest attempt; where there was none yet, the one that its first will make. */
  logId: string;
  /** Where it goes, without the secret that a URL may hold; for a job, where the local Hub tells of it. */
  url: string;
  /** How often it was tried so far. */
  attempts: number;
  /** HTTP status of the latest attempt; `null` when there was no answer, or none yet. */
  status: number | null;
  /** Milliseconds that the latest attempt took; `null` before there was one. */
  durationMs: number | null;
  /** What was answered, as text, its first 2,000 characters; `null` when there was no answer. */
  answer: string | null;
  /** Why the latest attempt was no success, for a person; `null` when it was one, and before there was one. */
  error: string | null;
}
/** One attempt at a delivery, as the log of a webhook keeps it. */
interface LogEntry {
  logId: string;
  /** The `Webhook-Id`: the same on retries and replays. */
  deliveryId: string;
  /** Number of the attempt, from 1; a replay goes on counting. */
  attempt: number;
  /** When it began (ISO 8601). */
  at: string;
  durationMs: number;
  /** Where it went, without the secret that a URL may hold. */
  url: string;
  /** HTTP status of the answer; `null` when there was none. */
  status: number | null;
  /** The header with the secret holds `***`. */
  request: {
    headers: Record<string, string>;
    body: string;
  };
  /** What was read of the answer, at most 64 kB. */
  response: {
    headers: Record<string, string>;
    body: string;
    truncated: boolean;
  } | null;
  /** Why it was no success, for a person; `null` when it was one. */
  error: string | null;
}
/** What a local Hub is told to let happen: which repository, what, and any field of the payload. */
declare const eventRequest: z$1.ZodObject<{
  repo: z$1.ZodObject<{
    name: z$1.ZodString;
    type: z$1.ZodType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z$1.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
    private: z$1.ZodOptional<z$1.ZodBoolean>;
  }, z$1.core.$loose>;
  event: z$1.ZodObject<{
    scope: z$1.ZodString;
    action: z$1.ZodString;
  }, z$1.core.$loose>;
  movedTo: z$1.ZodOptional<z$1.ZodObject<{
    name: z$1.ZodString;
  }, z$1.core.$loose>>;
  discussion: z$1.ZodOptional<z$1.ZodObject<{
    num: z$1.ZodOptional<z$1.ZodNumber>;
  }, z$1.core.$loose>>;
  updatedConfig: z$1.ZodOptional<z$1.ZodObject<{
    private: z$1.ZodOptional<z$1.ZodBoolean>;
  }, z$1.core.$loose>>;
  updatedRefs: z$1.ZodOptional<z$1.ZodArray<z$1.ZodObject<{
    ref: z$1.ZodString;
    newSha: z$1.ZodNullable<z$1.ZodString>;
  }, z$1.core.$loose>>>;
  edits: z$1.ZodOptional<z$1.ZodArray<z$1.ZodObject<{
    path: z$1.ZodString;
    value: z$1.ZodOptional<z$1.ZodUnknown>;
    remove: z$1.ZodOptional<z$1.ZodLiteral<true>>;
  }, z$1.core.$strict>>>;
}, z$1.core.$loose>;
/**
 * Something that happens on a repository: its `repo {type, name}`, its `event {scope, action}`, and any further field
 * of the payload; what is left out is filled from what the local Hub knows. `edits` are applied to the payload last of
 * all, also to what the local Hub decides, and change nothing else: not what happens, and not who is told.
 */
type HubEvent = z$1.input<typeof eventRequest>;
/**
 * A span of time: a number of milliseconds, or a number with its unit (`ms`, `s`, `m`, `h`, `d`) as in `"500ms"`,
 * `"25s"`, `"1.5h"`.
 */
type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;
/** One level of a {@link Logger}: fields and a message, or a message alone. */
interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}
/**
 * What this package needs of a logger: the shape of pino, which fits it as it is. `console` does not: it has no
 * `child`.
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
  /** A logger that adds `bindings` to each of its lines. */
  child(bindings: Record<string, unknown>): Logger;
}
/** How to start a local Hub. */
interface LocalHubOptions {
  /** Default 0: any free one. */
  port?: number;
  /** A SQLite file in which everything survives a restart. Default: in memory, and gone with the process. */
  state?: string;
  /** Runs the commands of jobs as local processes. Default `false`: jobs are only recorded. */
  runJobs?: boolean;
  /** Delivers to other machines too. Default `false`: to this one only. */
  allowRemote?: boolean;
  /** How often a delivery is tried. Default 3. */
  attempts?: number;
  /** What passes before the second attempt; it doubles with each further one. Default `"500ms"`. */
  backoff?: Duration;
  /** How long a receiver may take for a whole answer. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** How many deliveries in a row may fail, each with all its attempts, until the webhook is suspended. Default 5. */
  suspendAfter?: number;
  /** How often a webhook fires in 24 hours. Default 1000, as on the Hub; `Infinity` for no limit. */
  triggersPerDay?: number;
  /** Told of each delivery. Default: nobody is. */
  logger?: Logger;
}
/**
 * A Hub of your own, on this machine: it serves the Hub's API, lets events happen and delivers them, without
 * an account and without the internet.
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
  /** Its address, without a trailing slash: what `HF_ENDPOINT` is to be. */
  readonly url: string;
  /** The port of that address. */
  readonly port: number;
  private constructor();
  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `STATE_UNUSABLE`, `OPTION_INVALID`.
   */
  static launch(options?: LocalHubOptions): Promise<LocalHub>;
  /**
   * Lets somebody push to a repository, which is made if there is none, and waits until every delivery of that has
   * succeeded or is given up. `fields` are laid over the payload.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` once it is closed.
   */
  push(repo: HubEvent["repo"], fields?: Omit<Partial<HubEvent>, "repo" | "event">): Promise<HubDelivery[]>;
  /**
   * Lets any event happen, and waits until every delivery of it has succeeded or is given up. Its `edits` change the
   * payload alone, as it is sent.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` once it is closed.
   * @example
   * ```ts
   * await hub.trigger({ repo: { type: "model", name: "me/net" }, event: { scope: "discussion", action: "create" } });
   * ```
   */
  trigger(event: HubEvent): Promise<HubDelivery[]>;
  /** The log of a webhook, newest first: its latest hundred attempts. */
  deliveries(webhookId: string): LogEntry[];
  /** The jobs that webhooks have started, newest first. */
  jobs(): Job[];
  /** Forgets all that has happened since it was new: webhooks, deliveries, jobs, and every change. */
  reset(): void;
  /** Stops serving and delivering and ends the jobs that run. What is still to be delivered is kept in the state file. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
export type { HubDelivery, HubEvent, Job, JobStage, LocalHubOptions, LogEntry };
import * as z from "zod/mini";

/**
 * The statuses of a delivery in the console. To add one, add its label and color in `app/deliveries/status.tsx` too.
 *
 * | status | meaning |
 * |---|---|
 * | `queued` | stored, waits for its first attempt |
 * | `retrying` | an attempt failed; the next is scheduled. The filter `queued` includes them |
 * | `running` | the handler runs |
 * | `succeeded` | the handler succeeded |
 * | `ignored` | a filter or a condition did not match |
 * | `failed` | the handler of an inline endpoint failed; the Hub may retry |
 * | `dead` | all attempts failed; can be replayed |
 * | `cancelled` | discarded; can be replayed |
 */
export const consoleStatuses = [
  "queued",
  "retrying",
  "running",
  "succeeded",
  "ignored",
  "failed",
  "dead",
  "cancelled",
] as const;
const consoleStatus = z.enum(consoleStatuses);
export type ConsoleStatus = z.infer<typeof consoleStatus>;

/** Identifies a delivery. */
export const deliveryKey = z.strictObject({
  endpoint: z.string().check(z.maxLength(1_000)),
  id: z.string().check(z.maxLength(1_000)),
});
export type DeliveryKey = z.infer<typeof deliveryKey>;

const filterFields = {
  /** One or more statuses, separated by commas. */
  status: z.optional(z.string()),
  endpoint: z.optional(z.string()),
  scope: z.optional(z.string()),
  action: z.optional(z.string()),
  /** A repository with its type, such as `dataset:acme/data`, or a part of a name, such as `acme/`. */
  repository: z.optional(z.string()),
  /** Milliseconds since the epoch. */
  from: z.optional(z.coerce.number()),
  /** Milliseconds since the epoch, exclusive. */
  until: z.optional(z.coerce.number()),
  /** Free text: the starts of words in IDs, repositories, and errors. */
  search: z.optional(z.string().check(z.maxLength(200))),
};

/** The filters of the list. The page keeps them in its URL under the same names. An unknown one could replay all deliveries. */
export const deliveryFilter = z.strictObject(filterFields);
export type DeliveryFilter = z.infer<typeof deliveryFilter>;

/** The query of `GET /api/deliveries`. */
export const deliveryListQuery = z.object({
  ...filterFields,
  cursor: z.optional(z.string()),
  /** The number of deliveries on a page, about. Default `50`. */
  limit: z.optional(z.coerce.number().check(z.minimum(1), z.maximum(200))),
});

/** A row of the list. Times are milliseconds since the epoch. */
export interface DeliverySummary extends DeliveryKey {
  /** The storage of the delivery: the inbox, or the memory of the server until it restarts. */
  storage: "inbox" | "memory";
  status: ConsoleStatus;
  /** Missing if the body is not a Hub payload. */
  event?: { scope: string; action: string };
  /** `url` is the page on the Hub. */
  repository?: { type: string; name: string; url?: string };
  /** The part of the repository: a pushed ref such as `main`, or a discussion or pull request such as `#3`. */
  subject?: string;
  receivedAt: number;
  /** The duration of the last attempt. */
  durationMs?: number;
  /** The number of attempts so far. */
  attempts: number;
  nextAttemptAt?: number;
  /** When the current attempt started. */
  startedAt?: number;
  finishedAt?: number;
  /** The error of the last failed attempt. Missing if the delivery succeeded. */
  error?: { code: string; message: string };
  /** Why the delivery was ignored. */
  ignoredReason?: string;
  /** The delivery of which this one is a copy. */
  replayOf?: string;
  /** Set if the server derived the delivery from the state of the Hub. */
  origin?: "catch-up";
}

/** How far a search examined the deliveries of the inbox. */
interface SearchProgress {
  /** When the last examined delivery was received, in milliseconds since the epoch. Missing if all deliveries were examined. */
  searchedUntil?: number;
}

/** The answer of `GET /api/deliveries`. */
export interface DeliveryList extends SearchProgress {
  /** Newest first. */
  deliveries: readonly DeliverySummary[];
  /** The cursor of the next page. Missing on the last page. */
  next?: string;
  /** The number of deliveries per status, without filters. */
  totals: Readonly<Partial<Record<ConsoleStatus, number>>>;
}

export interface HandlerLogLine {
  at: number;
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** JSON text of an object. */
  fields?: string;
}

/** One run of the handler. */
export interface AttemptInfo {
  number: number;
  startedAt?: number;
  durationMs?: number;
  outcome: "succeeded" | "ignored" | "failed" | "abandoned" | "running";
  error?: { code: string; message: string };
  /** The stack of the thrown error, mapped to the sources. */
  stack?: string;
  /** The result of the handler as JSON text. */
  result?: string;
  logs?: readonly HandlerLogLine[];
  /** Whether the result, stack, or logs were cut to 16 KiB. */
  isTruncated?: boolean;
  /** The HTTP status that an inline delivery was answered with. */
  responseStatus?: number;
}

/** The answer of `GET /api/deliveries/one?endpoint=&id=`. */
export interface DeliveryDetails extends DeliverySummary {
  /** The body as it was received, at most 1 MiB of it. */
  body: string;
  /** The length of the whole body in characters, if `body` is cut. */
  bodyLength?: number;
  /** The request headers, with secrets redacted. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** Oldest first. */
  timeline: readonly AttemptInfo[];
  /**
   * The first frame of the user's own code in the stack of the last attempt, such as `train (/app/server.ts:12:9)`. Missing if the stack
   * is unknown or has no such frame.
   */
  failedAt?: string;
  /** Whether the endpoint is paused, so that the delivery waits. */
  isPaused?: boolean;
  /** Why the endpoint's filter ignores the payload now, and what it does not decide, such as `if a changed file matches data/**`. */
  prediction?: { ignored?: string; condition?: string };
  /** The URL of the endpoint, for curl. */
  url: string;
  /** Whether the server records results, stacks, and logs (`recordDetails`). */
  recordsDetails: boolean;
  /** How long a finished delivery is kept. Missing for deliveries in memory. */
  retentionMs?: number;
}

/** The body of `POST /api/deliveries/replay-edited`. The copy is validated like a delivery from the Hub. */
export const editedReplay = z.strictObject({
  ...deliveryKey.shape,
  /** The edited payload as JSON text. */
  body: z.string(),
});
export type EditedReplay = z.infer<typeof editedReplay>;

/** The answer of a replay: the delivery that runs. A replay of a delivery in memory is a new delivery. */
export type ReplayStarted = DeliveryKey;

/** The answer of `POST /api/deliveries/count-dead`, whose body is a {@link DeliveryFilter}. */
export interface DeadCount extends SearchProgress {
  count: number;
  /** Whether there are more than `count`. */
  isMore: boolean;
}

/** The answer of `POST /api/deliveries/replay-dead`, whose body is a {@link DeliveryFilter}. */
export interface DeadReplayed {
  /** The number of deliveries that are queued again. */
  replayed: number;
  /** The number of deliveries that could not be replayed. */
  failed: number;
  /** Why deliveries could not be replayed, the most frequent reason first. */
  failures: readonly ReplayFailure[];
  /** Whether there are more, because one request replays at most 10,000, and stops after 45 s. */
  isMore: boolean;
}

export interface ReplayFailure {
  code: string;
  error: string;
  count: number;
}

/** The body of `POST /api/endpoints/pause` and `/resume`. */
export const endpointRequest = z.strictObject({ endpoint: z.string().check(z.maxLength(1_000)) });

/** The windows of an endpoint's activity. */
export type ActivityWindow = "15m" | "1h" | "24h";

/** One bar of a window: counts in a part of it. */
export interface ActivityBar {
  /** New deliveries. */
  deliveries: number;
  /** Deliveries that failed for good: failed inline, or dead. */
  failures: number;
  /** Runs of the handler. */
  attempts: number;
  failedAttempts: number;
}

/** The webhook of an endpoint on the Hub. */
export interface RegistrationInfo {
  /**
   * `unknown`: the request to the Hub failed (see `message`). `missing`: no webhook points at this endpoint.
   * `url-differs`: a webhook of another host has the path of this endpoint. `secret-differs`: the server refuses its secret.
   */
  state: "enabled" | "disabled" | "suspended" | "url-differs" | "secret-differs" | "missing" | "unknown";
  webhookId?: string;
  /** The URL of the webhook, without secrets. */
  url?: string;
  /** The settings page of the webhook on the Hub. */
  settingsUrl?: string;
  /** What to do next. */
  message?: string;
}

export interface EndpointInfo {
  name: string;
  url: string;
  /** Whether deliveries are stored and run in the background. */
  background: boolean;
  /** The filter. Empty lists accept everything. */
  scopes: readonly string[];
  actions: readonly string[];
  repos: readonly string[];
  refs: readonly string[];
  paths: readonly string[];
  /** Whether events that the server caused are ignored. */
  ignoreSelf: boolean;
  watch: readonly string[];
  secret: "set" | "missing";
  registration?: RegistrationInfo;
  isPaused: boolean;
  /** 15 bars of 1 minute, 12 of 5 minutes, and 24 of 1 hour, oldest first. Counted since `startedAt` of the list. */
  activity: Readonly<Record<ActivityWindow, readonly ActivityBar[]>>;
  /** Durations of the latest handler runs, in milliseconds. */
  handlerTime?: { p50: number; p95: number; runs: number };
  /** The deliveries in the inbox. Missing for inline endpoints. */
  queue?: { queued: number; running: number; dead: number };
  /** Deliveries in the last 24 hours, against the Hub's limit of 1,000 triggers per webhook. */
  today: { deliveries: number; limit: number };
  last?: { status: string; at: number };
  /**
   * The comparisons with the Hub since the server started. `remaining`: the repositories that the running one has not compared yet.
   * Missing if the endpoint is not compared.
   */
  catchUp?: { derived: number; remaining: number; comparedAt?: number };
}

/** Deliveries that were answered with the same error before a handler ran. */
export interface RefusedGroup {
  /** The endpoint in the URL. With the code `ENDPOINT_UNKNOWN`, the latest of the unknown ones. */
  endpoint: string;
  status: number | undefined;
  code: string;
  message: string;
  count: number;
  lastAt: number;
}

/** The answer of `GET /api/endpoints`. */
export interface EndpointList {
  endpoints: readonly EndpointInfo[];
  /** The latest reasons first, at most 20 of the last 24 hours. Kept in memory until the server restarts. */
  refused: readonly RefusedGroup[];
  /** The start of the server, or of the `dev` session. Earlier activity is not counted. */
  startedAt: number;
}

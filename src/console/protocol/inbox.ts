/** The statuses whose deliveries an inbox counts, in the order of the view. */
export const countedStatuses = ["queued", "running", "dead", "succeeded", "ignored", "cancelled"] as const;
export type CountedStatus = (typeof countedStatuses)[number];

/** The location of an inbox. Contains no username, password, or other parameter of its URL. */
export interface InboxLocation {
  /** `custom`: an `Inbox` object of the program. `unknown`: the URL is not supported. */
  engine: "sqlite" | "bucket" | "redis" | "postgres" | "memory" | "custom" | "unknown";
  /** The absolute path of the file, the URL of the bucket, or the host and port of the server. */
  address?: string;
  api?: string;
  database?: string;
  /** The prefix of the keys in Redis, or the schema in PostgreSQL. */
  namespace?: string;
  /**
   * How long the storage keeps deliveries. `retention`: until their retention period ends. `space-restart`, `process-exit`: at most
   * until then. Missing for an `Inbox` object of the program and an unsupported URL.
   */
  keptUntil?: "retention" | "space-restart" | "process-exit";
}

export interface InboxProblemInfo {
  code: string;
  severity: "unavailable" | "degraded";
  /** The problem and how to fix it. */
  message: string;
}

export interface InboxEndpoint {
  name: string;
  /** The number of deliveries per status, including those of which only the ID is kept. */
  counts: Readonly<Record<CountedStatus, number>>;
  /** Whether this server runs the endpoint in the background. If not, its deliveries wait for another server. */
  isServed: boolean;
  isPaused: boolean;
  /** How long a finished delivery is kept. Missing for an endpoint that this server does not run. */
  retentionMs?: number;
  /** How long the ID of a finished delivery is kept. */
  idRetentionMs?: number;
}

export interface InboxContents {
  /** The endpoints of this server, and then other endpoints with deliveries. */
  endpoints: readonly InboxEndpoint[];
}

/** The answer of `GET /api/inbox`. */
export interface InboxInfo {
  /**
   * `open`, `degraded`, and `unavailable` are the states of an open inbox, by its worst problem. An inbox that cannot be opened is also
   * `unavailable`. `unused`: the server has no background endpoint, so it does not open the inbox.
   */
  state: "open" | "degraded" | "unavailable" | "opening" | "closed" | "unused";
  location: InboxLocation;
  problems: readonly InboxProblemInfo[];
  /** Settings of the storage that can cause the loss of deliveries, each with its remedy. */
  warnings: readonly string[];
  /** Whether the server records headers, results, stacks, and logs (`recordDetails`). */
  recordsDetails: boolean;
  /** Missing if the inbox is not open or did not answer. */
  contents?: InboxContents;
}

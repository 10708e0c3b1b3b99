import { resolve } from "node:path";
import type {
  InboxContents,
  InboxEndpoint,
  InboxInfo,
  InboxLocation,
  InboxProblemInfo,
} from "../../console/protocol/inbox.ts";
import type { InboxSource } from "../../console/server/api.ts";
import { readEnvironment, readSpace } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { withDeadline } from "../../core/time.ts";
import { parseBucketUrl } from "../../inbox/bucket/bucket-url.ts";
import { postgresSchema, redisPrefix } from "../../inbox/bullmq/queue-server.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { isOnLocalDisk, memoryWarning, parseInboxUrl } from "../../inbox/open-inbox.ts";
import { retentionOf } from "../../inbox/retry.ts";
import type { ServerContext } from "../context.ts";
import { spaceDiskWarning } from "../node/open-configured-inbox.ts";

/** After this time, an inbox counts as down, so that a page shows an error instead of loading forever. In milliseconds. */
const defaultTimeoutMs = 5_000;

/**
 * Waits for an answer of the inbox.
 *
 * @throws `INBOX_UNAVAILABLE` (503) after the timeout.
 */
export function withInboxDeadline<Result>(
  pending: Promise<Result>,
  timeoutMs: number = defaultTimeoutMs,
): Promise<Result> {
  const late = () =>
    new WebhookError(`The inbox did not answer within ${timeoutMs / 1000} s. Check whether its server is up.`, {
      code: "INBOX_UNAVAILABLE",
      status: 503,
    });
  return withDeadline(pending, timeoutMs, late);
}

/** Describes the location of an inbox. `inbox`: its URL, or an `Inbox` object. `undefined`: memory. */
export function locateInbox(inbox: string | Inbox | undefined): InboxLocation {
  if (typeof inbox === "object") return { engine: "custom" };
  try {
    return locateUrl(inbox ?? "sqlite::memory:");
  } catch (error) {
    if (WebhookError.isInstance(error)) return { engine: "unknown" };
    throw error;
  }
}

/** @throws `OPTION_INVALID` if the URL is not supported. */
function locateUrl(url: string): InboxLocation {
  const parsed = parseInboxUrl(url);
  if (parsed.engine === "bucket") {
    const { name, endpoint } = parseBucketUrl(url, readEnvironment);
    return { engine: "bucket", address: name, api: endpoint, keptUntil: "retention" };
  }
  if (parsed.engine === "sqlite") {
    if (parsed.file === ":memory:") return { engine: "memory", keptUntil: "process-exit" };
    const isErased = readSpace() !== undefined && isOnLocalDisk(url);
    return {
      ...{ engine: "sqlite", address: resolve(parsed.file) },
      keptUntil: isErased ? "space-restart" : "retention",
    };
  }
  const { engine } = parsed;
  const namespace = engine === "redis" ? redisPrefix : postgresSchema;
  return { engine, ...locateServer(url, engine), namespace, keptUntil: "retention" };
}

const defaultPorts = { redis: "6379", postgres: "5432" } as const;

/**
 * Only selects parts that cannot contain a secret. If a password is not escaped, a part of it can be in the path, the query, or the
 * fragment, followed by `@`.
 */
function locateServer(
  text: string,
  engine: keyof typeof defaultPorts,
): Pick<InboxLocation, "address" | "database"> | undefined {
  const url = URL.parse(text);
  if (!url || `${url.pathname}${url.search}${url.hash}`.includes("@")) return undefined;
  // PostgreSQL also accepts the host as a parameter, for example the folder of a socket.
  const host = url.hostname || url.searchParams.get("host") || "localhost";
  const database = url.pathname.slice(1) || (engine === "redis" ? "0" : undefined);
  return {
    address: host.startsWith("/") ? host : `${host}:${url.port || defaultPorts[engine]}`,
    ...(database !== undefined && { database }),
  };
}

/** How long the console waits for an inbox that is being opened, such as a bucket. */
const defaultOpeningMs = 2_000;

interface ReceiverInboxOptions {
  server: ServerContext;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  configuredInbox: () => string | Inbox | undefined;
  mask: (message: string) => string;
  /** Default `2_000`. */
  openingMs?: number;
  /** Called after an inbox that was reported as opening has opened, or could not be opened. */
  onOpened: () => void;
}

/** The inbox of a receiver. */
export class ReceiverInbox implements InboxSource {
  readonly #options: ReceiverInboxOptions;
  /** Why the inbox could not be opened. Each read tries again, which can take longer than a read. */
  #failure: InboxProblemInfo | undefined;

  constructor(options: ReceiverInboxOptions) {
    this.#options = options;
  }

  async read(): Promise<InboxInfo> {
    const { server, configuredInbox, inbox, onOpened, openingMs = defaultOpeningMs } = this.#options;
    const location = locateInbox(configuredInbox());
    const warnings = warningsOf(location);
    const shared = { location, warnings, recordsDetails: server.history.recordsDetails, problems: [] };
    // After the server has closed, `inbox` would open it again.
    if (server.isClosed) return { ...shared, state: "closed" };
    const opening = inbox();
    if (!opening) return { ...shared, state: "unused" };
    const following = this.#follow(opening);
    const opened = await within(following, openingMs);
    if (this.#failure) return { ...shared, state: "unavailable", problems: [this.#failure] };
    if (!opened) {
      void following.then(onOpened);
      return { ...shared, state: "opening" };
    }
    const { problems, contents, description } = await this.#readOpened(opened);
    const problem = problems.find(({ severity }) => severity === "unavailable") ?? problems[0];
    return {
      ...{ ...shared, state: problem?.severity ?? "open", problems },
      warnings: [...warnings, ...(description?.warnings ?? []).map(this.#options.mask)],
      ...(contents && { contents }),
    };
  }

  /** Remembers why an inbox could not be opened. Never rejects. */
  async #follow(opening: Promise<Inbox>): Promise<Inbox | undefined> {
    try {
      const inbox = await opening;
      this.#failure = undefined;
      return inbox;
    } catch (error) {
      this.#failure = this.#toProblem(error);
      return undefined;
    }
  }

  async #readOpened(inbox: Inbox) {
    const [reported, description, read] = await Promise.all([
      ask(() => inbox.problems()).catch((error: unknown) => [this.#toProblem(error)]),
      ask(async () => inbox.describe?.()).catch(() => undefined),
      ask(() => Promise.all([inbox.counts(), inbox.pausedEndpoints()])).catch((error: unknown) =>
        this.#toProblem(error),
      ),
    ]);
    const problems = reported.map(({ code, severity, message }) => ({
      code,
      severity,
      message: this.#options.mask(message),
    }));
    if (!Array.isArray(read)) return { problems: problems.length > 0 ? problems : [read], description };
    const [counts, paused] = read;
    return { problems, description, contents: this.#toContents({ counts, paused }) };
  }

  #toContents({
    counts,
    paused,
  }: {
    counts: Readonly<Record<string, DeliveryCounts>>;
    paused: readonly string[];
  }): InboxContents {
    // Not a lookup by name: an endpoint may be named "constructor".
    const stored = new Map(Object.entries(counts));
    const served = this.#options.server.endpoints.backgroundEndpoints;
    const names = new Set([...served.map(({ name }) => name), ...stored.keys()]);
    return {
      endpoints: [...names].map((name) => ({
        ...this.#describe(name, stored.get(name)),
        isPaused: paused.includes(name),
      })),
    };
  }

  #describe(name: string, counts: DeliveryCounts | undefined): Omit<InboxEndpoint, "isPaused"> {
    const { queued = 0, running = 0, dead = 0, succeeded = 0, ignored = 0, cancelled = 0 } = counts ?? {};
    const queue = this.#options.server.endpoints.byName.get(name)?.queue;
    const retention = queue && retentionOf(queue);
    return {
      ...{ name, counts: { queued, running, dead, succeeded, ignored, cancelled }, isServed: queue !== undefined },
      // An ID is deleted together with the body, or later.
      ...(retention && {
        retentionMs: retention.bodiesMs,
        idRetentionMs: Math.max(retention.bodiesMs, retention.idsMs),
      }),
    };
  }

  #toProblem(error: unknown): InboxProblemInfo {
    // Omits messages of database drivers, which may contain secrets.
    const [code, message] = WebhookError.isInstance(error)
      ? [error.code, this.#options.mask(error.message)]
      : ["INBOX_UNAVAILABLE", "The inbox did not report its state. See the server's log."];
    return { code, severity: "unavailable", message };
  }
}

/** Reads from an inbox, which can be the program's own: its methods may throw instead of rejecting. */
function ask<Result>(read: () => Promise<Result>): Promise<Result> {
  return withInboxDeadline(Promise.resolve().then(read));
}

function warningsOf({ keptUntil }: InboxInfo["location"]): string[] {
  if (keptUntil === "space-restart") return [spaceDiskWarning];
  return keptUntil === "process-exit" ? [memoryWarning] : [];
}

/** Returns the result of a promise, or `undefined` after a time. */
async function within<Result>(pending: Promise<Result>, timeoutMs: number): Promise<Result | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), timeoutMs);
  return Promise.race([pending, late.promise]).finally(() => clearTimeout(timer));
}

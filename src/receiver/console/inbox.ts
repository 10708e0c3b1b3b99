import { resolve } from "node:path";
import type { InboxContents, InboxInfo, InboxLocation, InboxProblemInfo } from "../../console/protocol/inbox.ts";
import type { InboxSource } from "../../console/server/api.ts";
import { readEnvironment, readSpace } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { withDeadline } from "../../core/time.ts";
import { parseBucketUrl } from "../../inbox/bucket/bucket-url.ts";
import { postgresSchema, redisPrefix } from "../../inbox/bullmq/queue-server.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { isOnLocalDisk, memoryWarning, parseInboxUrl, spaceDiskWarning } from "../../inbox/open-inbox.ts";
import { retentionOf } from "../../inbox/retry.ts";
import { type ConsoleSource, withInboxDeadline } from "./source.ts";

/** @param inbox its URL, or an `Inbox` object. `undefined`: memory. */
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
  return { address: host.startsWith("/") ? host : `${host}:${url.port || defaultPorts[engine]}`, database };
}

/** How long the console waits for an inbox that is being opened, such as a bucket. */
const defaultOpeningMs = 2_000;

interface ReceiverInboxOptions {
  openingMs?: number;
  /** Called after an inbox that was reported as opening has opened, or could not be opened. */
  onOpened: () => void;
}

type InboxParts = Pick<ConsoleSource, "server" | "configuredInbox" | "openInbox" | "mask">;

export class ReceiverInbox implements InboxSource {
  readonly #source: InboxParts;
  readonly #options: ReceiverInboxOptions;
  /** Why the inbox could not be opened. Each read tries again, which can take longer than a read. */
  #failure: InboxProblemInfo | undefined;

  constructor(source: InboxParts, options: ReceiverInboxOptions) {
    this.#source = source;
    this.#options = options;
  }

  async read(): Promise<InboxInfo> {
    const { server } = this.#source;
    const { onOpened, openingMs = defaultOpeningMs } = this.#options;
    const location = locateInbox(this.#source.configuredInbox);
    const warnings = warningsOf(location);
    const shared = { location, warnings, recordsDetails: server.history.recordsDetails, problems: [] };
    // After the server has closed, `openInbox` would open it again.
    if (server.isClosed) return { ...shared, state: "closed" };
    const opening = this.#source.openInbox();
    if (!opening) return { ...shared, state: "unused" };
    const following = this.#follow(opening);
    const late = () => new Error("The inbox is still being opened.");
    const opened = await withDeadline(following, openingMs, late).catch(() => undefined);
    if (this.#failure) return { ...shared, state: "unavailable", problems: [this.#failure] };
    if (!opened) {
      void following.then(onOpened);
      return { ...shared, state: "opening" };
    }
    const { problems, contents, ownWarnings } = await this.#readOpened(opened);
    const problem = problems.find(({ severity }) => severity === "unavailable") ?? problems[0];
    return {
      ...{ ...shared, state: problem?.severity ?? "open", problems, contents },
      warnings: [...warnings, ...ownWarnings.map((warning) => this.#source.mask(warning))],
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
    const toProblem = (error: unknown) => this.#toProblem(error);
    const [reported, description, read] = await Promise.all([
      ask(() => inbox.problems()).catch((error: unknown) => [toProblem(error)]),
      ask(async () => inbox.describe?.()).catch(() => undefined),
      ask(() => Promise.all([inbox.counts(), inbox.pausedEndpoints()])).catch(toProblem),
    ]);
    const problems = reported.map(({ code, severity, message }) => {
      return { code, severity, message: this.#source.mask(message) };
    });
    const ownWarnings = description?.warnings ?? [];
    if (!Array.isArray(read)) return { problems: problems.length > 0 ? problems : [read], ownWarnings };
    return { problems, ownWarnings, contents: this.#toContents(...read) };
  }

  #toContents(counts: Readonly<Record<string, DeliveryCounts>>, paused: readonly string[]): InboxContents {
    const { endpoints } = this.#source.server;
    // Not a lookup by name: an endpoint may be named "constructor".
    const stored = new Map(Object.entries(counts));
    const names = new Set([...endpoints.backgroundEndpoints.map(({ name }) => name), ...stored.keys()]);
    return {
      endpoints: Array.from(names, (name) => {
        const queue = endpoints.byName.get(name)?.queue;
        const retention = queue && retentionOf(queue);
        return {
          name,
          counts: countsOf(stored.get(name)),
          isServed: queue !== undefined,
          isPaused: paused.includes(name),
          retentionMs: retention?.bodiesMs,
          // An ID is deleted together with the body, or later.
          idRetentionMs: retention && Math.max(retention.bodiesMs, retention.idsMs),
        };
      }),
    };
  }

  #toProblem(error: unknown): InboxProblemInfo {
    // Omits messages of database drivers, which may contain secrets.
    const [code, message] = WebhookError.isInstance(error)
      ? [error.code, this.#source.mask(error.message)]
      : ["INBOX_UNAVAILABLE", "The inbox did not report its state. See the server's log."];
    return { code, severity: "unavailable", message };
  }
}

function countsOf(counts: DeliveryCounts | undefined): DeliveryCounts {
  const { queued = 0, running = 0, dead = 0, succeeded = 0, ignored = 0, cancelled = 0 } = counts ?? {};
  return { queued, running, dead, succeeded, ignored, cancelled };
}

/** Reads from an inbox, which can be the program's own: its methods may throw instead of rejecting. */
function ask<Result>(read: () => Promise<Result>): Promise<Result> {
  return withInboxDeadline(Promise.resolve().then(read));
}

function warningsOf({ keptUntil }: InboxInfo["location"]): string[] {
  if (keptUntil === "space-restart") return [spaceDiskWarning];
  return keptUntil === "process-exit" ? [memoryWarning] : [];
}

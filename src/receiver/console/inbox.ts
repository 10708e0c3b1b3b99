import { resolve } from "node:path";
import type { InboxContents, InboxInfo, InboxLocation, InboxProblemInfo } from "../../console/protocol/inbox.ts";
import type { InboxSource } from "../../console/server/api.ts";
import { readEnvironment, readSpace } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { withDeadline } from "../../core/time.ts";
import { maskSecretsOf, webhooksPath } from "../../core/urls.ts";
import { parseBucketUrl } from "../../inbox/bucket/bucket-url.ts";
import { postgresSchema, redisPrefix } from "../../inbox/bullmq/queue-server.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import {
  configuredUrl,
  isOnLocalDisk,
  memoryWarning,
  parseInboxUrl,
  spaceDiskWarning,
} from "../../inbox/open-inbox.ts";
import { retentionOf } from "../../inbox/retry.ts";
import { publicUrlOf, type ServerContext } from "../context.ts";
import type { DeliveryPipeline } from "../deliver.ts";
import type { ServerHub } from "../hub.ts";
import { type BackgroundWork, withInboxDeadline } from "../inbox.ts";

export interface ConsoleParts {
  pipeline: DeliveryPipeline;
  background: BackgroundWork;
  hub: ServerHub;
}

export type ConsoleSource = ReturnType<typeof createConsoleSource>;

/** What the parts of the console read from a server. */
export function createConsoleSource(server: ServerContext, { pipeline, background, hub }: ConsoleParts) {
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  const configuredInbox = (): string | Inbox | undefined => {
    const { inbox } = background;
    return typeof inbox === "object" ? inbox : configuredUrl(inbox);
  };
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  const openInbox = (): Promise<Inbox> | undefined =>
    server.endpoints.backgroundEndpoints.length > 0 ? background.open() : undefined;
  return {
    ...{ server, pipeline, hub, configuredInbox, openInbox },
    /** Opens the inbox like `openInbox`. @throws `INBOX_UNAVAILABLE` (503) after a timeout. */
    async inbox(): Promise<Inbox | undefined> {
      const opening = openInbox();
      return opening && withInboxDeadline(opening);
    },
    urlOf: (endpoint: string) => `${publicUrlOf(server)}${webhooksPath}${endpoint}`,
    /** Replaces the server's secrets, and those in the URL of its inbox, in the message of an error. */
    mask(message: string): string {
      const inbox = configuredInbox();
      return server.redaction.text(typeof inbox === "string" ? maskSecretsOf(inbox, message) : message);
    },
  };
}

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

type InboxParts = Pick<ConsoleSource, "server" | "configuredInbox" | "openInbox" | "mask">;

/**
 * @param options.openingMs how long a read waits for an inbox that is being opened, such as a bucket.
 * @param options.onOpened is called after an inbox that was reported as opening has opened, or could not be opened.
 */
export function createInbox(
  { server, configuredInbox, openInbox, mask }: InboxParts,
  { openingMs = 2_000, onOpened }: { openingMs?: number; onOpened: () => void },
): InboxSource {
  /** Why the inbox could not be opened. Each read tries again, which can take longer than a read. */
  let failure: InboxProblemInfo | undefined;

  const toProblem = (error: unknown): InboxProblemInfo => {
    // Omits messages of database drivers, which may contain secrets.
    const [code, message] = WebhookError.isInstance(error)
      ? [error.code, mask(error.message)]
      : ["INBOX_UNAVAILABLE", "The inbox did not report its state. See the server's log."];
    return { code, severity: "unavailable", message };
  };

  /** Remembers why an inbox could not be opened. Never rejects. */
  const follow = async (opening: Promise<Inbox>): Promise<Inbox | undefined> => {
    try {
      const inbox = await opening;
      failure = undefined;
      return inbox;
    } catch (error) {
      failure = toProblem(error);
      return undefined;
    }
  };

  const readOpened = async (inbox: Inbox) => {
    const [reported, description, read] = await Promise.all([
      ask(() => inbox.problems()).catch((error: unknown) => [toProblem(error)]),
      ask(async () => inbox.describe?.()).catch(() => undefined),
      ask(() => Promise.all([inbox.counts(), inbox.pausedEndpoints()])).catch(toProblem),
    ]);
    const problems = reported.map(({ code, severity, message }) => ({ code, severity, message: mask(message) }));
    const ownWarnings = (description?.warnings ?? []).map((warning) => mask(warning));
    if (!Array.isArray(read)) return { problems: problems.length > 0 ? problems : [read], ownWarnings };
    return { problems, ownWarnings, contents: toContents(server, ...read) };
  };

  return {
    async read(): Promise<InboxInfo> {
      const location = locateInbox(configuredInbox());
      const warnings = warningsOf(location);
      const shared = { location, warnings, recordsDetails: server.history.recordsDetails, problems: [] };
      // After the server has closed, `openInbox` would open it again.
      if (server.isClosed) return { ...shared, state: "closed" };
      const opening = openInbox();
      if (!opening) return { ...shared, state: "unused" };
      const following = follow(opening);
      const late = () => new Error("The inbox is still being opened.");
      const opened = await withDeadline(following, openingMs, late).catch(() => undefined);
      if (failure) return { ...shared, state: "unavailable", problems: [failure] };
      if (!opened) {
        void following.then(onOpened);
        return { ...shared, state: "opening" };
      }
      const { problems, contents, ownWarnings } = await readOpened(opened);
      const problem = problems.find(({ severity }) => severity === "unavailable") ?? problems[0];
      const state = problem?.severity ?? "open";
      return { ...shared, state, problems, contents, warnings: [...warnings, ...ownWarnings] };
    },
  };
}

function toContents(
  { endpoints }: ServerContext,
  counts: Readonly<Record<string, DeliveryCounts>>,
  paused: readonly string[],
): InboxContents {
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

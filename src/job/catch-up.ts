import { setTimeout as wait } from "node:timers/promises";
import type { RunOptions } from "../catch-up/catch-up.ts";
import type { CatchUpReport } from "../catch-up/endpoint-run.ts";
import { untilAborted } from "../core/time.ts";
import type { DeliveryStatus } from "../inbox/inbox.ts";
import { serverControl } from "../receiver/control.ts";
import type { WebhooksServer } from "../receiver/server.ts";
import { loadServer } from "./run-job.ts";

/** The options of {@link catchUpFile}. */
export interface CatchUpFileOptions extends RunOptions {
  /** The absolute path of the file that creates the server. */
  path: string;
}

/** What {@link catchUpFile} has done. */
export interface CaughtUp {
  /** By endpoint. */
  reports: ReadonlyMap<string, CatchUpReport>;
  /**
   * The number of derived deliveries, and of earlier ones whose next attempt was due, in each status. A delivery that failed and is
   * retried later is `queued`.
   */
  statuses: Partial<Record<DeliveryStatus, number>>;
}

const pollMs = 50;

/** A delivery that the inbox runs. `attempts`: the number of those that had ended before. */
interface Expected {
  id: string;
  endpoint: string;
  attempts: number;
}

/**
 * Loads a server, derives what its endpoints missed, runs each derived delivery once, and closes the server. Also runs earlier
 * deliveries in the inbox whose next attempt is due. What fails stays in the inbox for its next attempt.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `INBOX_UNUSABLE`, errors of the Hub, and the reason of the signal.
 */
export async function catchUpFile(options: CatchUpFileOptions): Promise<CaughtUp> {
  // Nothing else keeps the process alive while the inbox waits for its next poll.
  const alive = setInterval(() => {}, 60_000);
  try {
    return await catchUp(options);
  } finally {
    clearInterval(alive);
  }
}

async function catchUp({ path, ...options }: CatchUpFileOptions): Promise<CaughtUp> {
  const { signal } = options;
  signal.throwIfAborted();
  await using server = await untilAborted(loadServer(path), signal);
  const startedAt = Date.now();
  const earlier: Expected[] = [];
  // During the comparison, the inbox already runs them.
  const onOpened = async () => void (options.dryRun || earlier.push(...(await listDue(server, startedAt))));
  const reports = await server[serverControl].catchUp({ ...options, onOpened });
  const statuses: CaughtUp["statuses"] = {};
  if (options.dryRun) return { reports, statuses };
  const derived = [...reports].flatMap(([endpoint, report]) =>
    report.derived.map(({ id }): Expected => ({ id, endpoint, attempts: 0 })),
  );
  for (const expected of [...earlier, ...derived]) {
    const status = await untilAttempted(server, expected, signal);
    if (status) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return { reports, statuses };
}

/** Returns the deliveries that run, or whose next attempt is due. */
async function listDue(server: WebhooksServer, startedAt: number): Promise<Expected[]> {
  const { inbox } = server;
  // Deliveries of an endpoint that no longer runs in the background stay in the inbox.
  const queues = new Set(
    server[serverControl].describe().endpoints.flatMap(({ name, background }) => (background ? [name] : [])),
  );
  const due: Expected[] = [];
  for (const status of ["queued", "running"] as const) {
    let cursor: string | undefined;
    do {
      const page = await inbox.list({ status, limit: 1_000, ...(cursor !== undefined && { cursor }) });
      for (const { id, endpoint, dueAt, attempts } of page.deliveries) {
        // The inbox can have run a delivery since it was opened.
        const ended = attempts.filter(({ startedAt: at }) => at === undefined || at.getTime() < startedAt).length;
        const isDue = dueAt === undefined || dueAt.getTime() <= Date.now() || ended < attempts.length;
        if (isDue && queues.has(endpoint)) due.push({ id, endpoint, attempts: ended });
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return due;
}

/** Waits until the next attempt of a delivery has ended, and returns its status. `undefined`: its endpoint is paused. */
async function untilAttempted(
  { inbox }: WebhooksServer,
  { id, endpoint, attempts: before }: Expected,
  signal: AbortSignal,
): Promise<DeliveryStatus | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const stored = await inbox.get(id, { endpoint });
    // Another process can have deleted the delivery after it finished.
    if (!stored) return "succeeded";
    const { status, attempts } = stored;
    if (status !== "running" && (status !== "queued" || attempts.length > before)) return status;
    // A person can pause it at any time.
    if (status === "queued" && (await inbox.pausedEndpoints()).includes(endpoint)) return undefined;
    await wait(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

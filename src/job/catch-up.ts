import { setTimeout as wait } from "node:timers/promises";
import type { RunOptions } from "../catch-up/catch-up.ts";
import type { CatchUpReport } from "../catch-up/endpoint-run.ts";
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
  /** The number of derived deliveries in each status. A delivery that failed and is retried later is `queued`. */
  statuses: Partial<Record<DeliveryStatus, number>>;
}

const pollMs = 50;

/**
 * Loads a server, derives what its endpoints missed, runs each derived delivery once, and closes the server. What fails stays in the
 * inbox for its next attempt.
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
  await using server = await loadServer(path);
  const reports = await server[serverControl].catchUp(options);
  const { signal } = options;
  const statuses: CaughtUp["statuses"] = {};
  if (options.dryRun) return { reports, statuses };
  for (const [endpoint, { derived }] of reports) {
    for (const { id } of derived) {
      const status = await untilAttempted(server, { id, endpoint, signal });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  return { reports, statuses };
}

/** Waits until the first attempt of a delivery has ended, and returns its status. */
async function untilAttempted(
  { inbox }: WebhooksServer,
  { id, endpoint, signal }: { id: string; endpoint: string; signal: AbortSignal },
): Promise<DeliveryStatus> {
  for (;;) {
    signal.throwIfAborted();
    const stored = await inbox.get(id, { endpoint });
    // Another process can have deleted the delivery after it finished.
    if (!stored) return "succeeded";
    const { status, attempts } = stored;
    if (status !== "running" && (status !== "queued" || attempts.length > 0)) return status;
    await wait(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

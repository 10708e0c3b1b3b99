import { isDamage } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import { RepeatedErrors } from "../errors.ts";
import type { InboxProblem } from "../inbox.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";

/** What the parts of an inbox share. */
export interface InboxContext {
  readonly processId: string;
  readonly table: DeliveryTable;
  /** The table for reads outside transactions. See `InboxFile.committed`. */
  readonly committed: DeliveryTable;
  readonly groupCommit: GroupCommit;
  readonly damage: DamageTracker;
  readonly tasks: BackgroundTasks;
  readonly pollMs: number;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

/** The minimum time between two log lines about the same damage. */
const logEveryMs = 10 * 60_000;

type LogOptions = Pick<InboxContext, "log" | "monotonicNow">;

export type DamageTracker = ReturnType<typeof createDamageTracker>;

/** Tracks which endpoints have damaged deliveries. Each poll finds the damage again, so it is logged at most every ten minutes. */
export function createDamageTracker({ log, monotonicNow, file }: LogOptions & { file: string }) {
  const endpoints = new Set<string>();
  let loggedAt = Number.NEGATIVE_INFINITY;

  function message(): string {
    const names = [...endpoints].map((endpoint) => `"${endpoint}"`).join(", ");
    return `Part of the inbox "${file}" is damaged: some deliveries of ${names} cannot be read. Other deliveries still run. To recover the file, stop the server, run \`sqlite3 FILE .recover | sqlite3 NEW\`, move FILE, FILE-wal, and FILE-shm away, and rename NEW to FILE.`;
  }

  /** Records an error that file damage caused. Returns `false` for other errors, which the caller must handle. */
  function recordIfDamage(error: unknown, endpoint: string): boolean {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (!isDamage(cause)) return false;
    const isNew = !endpoints.has(endpoint);
    endpoints.add(endpoint);
    if (isNew || monotonicNow() - loggedAt >= logEveryMs) {
      loggedAt = monotonicNow();
      log.error({ code: "INBOX_DAMAGED", endpoint, err: cause }, message());
    }
    return true;
  }

  return {
    recordIfDamage,
    /** Reads an endpoint's data. Returns `undefined` if the data is damaged, so that other endpoints continue to run. */
    read<Result>(endpoint: string, read: () => Result): Result | undefined {
      try {
        return read();
      } catch (error) {
        if (!recordIfDamage(error, endpoint)) throw error;
        return undefined;
      }
    },
    problem: (): InboxProblem | undefined =>
      endpoints.size === 0 ? undefined : { code: "INBOX_DAMAGED", severity: "degraded", message: message() },
  };
}

export type BackgroundTasks = ReturnType<typeof createBackgroundTasks>;

/** Runs the background tasks of an inbox at intervals and after delays, and logs failures. The timers do not keep the process alive. */
export function createBackgroundTasks({ log, monotonicNow }: LogOptions) {
  const failures = new RepeatedErrors(monotonicNow);
  const timers = new Set<NodeJS.Timeout>();
  let isClosed = false;

  function run(task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      // Failures are expected while the inbox closes.
      if (isClosed || !failures.shouldLog(error)) return;
      log.error({ err: error }, "A background task of the inbox failed and will be retried.");
    });
  }

  return {
    get isClosed() {
      return isClosed;
    },
    run,
    runEvery(intervalMs: number, task: () => Promise<unknown>): void {
      timers.add(setInterval(run, intervalMs, task).unref());
    },
    /** Runs a task after a delay. Returns a function that cancels the task. */
    runAfter(delayMs: number, task: () => Promise<unknown>): () => void {
      const timer = setTimeout(() => {
        timers.delete(timer);
        run(task);
      }, delayMs).unref();
      timers.add(timer);
      return () => {
        clearTimeout(timer);
        timers.delete(timer);
      };
    },
    /** Cancels all tasks. Failures of running tasks are no longer logged. */
    close(): void {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

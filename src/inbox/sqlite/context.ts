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

/** Tracks which endpoints have damaged deliveries. Each poll finds the damage again, so it is logged at most every ten minutes. */
export class DamageTracker {
  readonly #options: LogOptions & { file: string };
  readonly #endpoints = new Set<string>();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LogOptions & { file: string }) {
    this.#options = options;
  }

  /** Records an error that file damage caused. Returns `false` for other errors, which the caller must handle. */
  recordIfDamage(error: unknown, endpoint: string): boolean {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (!isDamage(cause)) return false;
    const { log, monotonicNow } = this.#options;
    const isNew = !this.#endpoints.has(endpoint);
    this.#endpoints.add(endpoint);
    if (isNew || monotonicNow() - this.#loggedAt >= logEveryMs) {
      this.#loggedAt = monotonicNow();
      log.error({ code: "INBOX_DAMAGED", endpoint, err: cause }, this.#message());
    }
    return true;
  }

  /** Reads an endpoint's data. Returns `undefined` if the data is damaged, so that other endpoints continue to run. */
  read<Result>(endpoint: string, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.recordIfDamage(error, endpoint)) throw error;
      return undefined;
    }
  }

  problem(): InboxProblem | undefined {
    if (this.#endpoints.size === 0) return undefined;
    return { code: "INBOX_DAMAGED", severity: "degraded", message: this.#message() };
  }

  #message(): string {
    const names = [...this.#endpoints].map((endpoint) => `"${endpoint}"`).join(", ");
    return `Part of the inbox "${this.#options.file}" is damaged: some deliveries of ${names} cannot be read. Other deliveries still run. To recover the file, stop the server, run \`sqlite3 FILE .recover | sqlite3 NEW\`, move FILE, FILE-wal, and FILE-shm away, and rename NEW to FILE.`;
  }
}

/** Runs the background tasks of an inbox at intervals and after delays, and logs failures. The timers do not keep the process alive. */
export class BackgroundTasks {
  readonly #log: Logger;
  readonly #failures: RepeatedErrors;
  readonly #timers = new Set<NodeJS.Timeout>();
  isClosed = false;

  constructor({ log, monotonicNow }: LogOptions) {
    this.#log = log;
    this.#failures = new RepeatedErrors(monotonicNow);
  }

  run(task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      // Failures are expected while the inbox closes.
      if (this.isClosed || !this.#failures.shouldLog(error)) return;
      this.#log.error({ err: error }, "A background task of the inbox failed and will be retried.");
    });
  }

  runEvery(intervalMs: number, task: () => Promise<unknown>): void {
    this.#timers.add(setInterval(() => this.run(task), intervalMs).unref());
  }

  /** Runs a task after a delay. Returns a function that cancels the task. */
  runAfter(delayMs: number, task: () => Promise<unknown>): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.run(task);
    }, delayMs).unref();
    this.#timers.add(timer);
    return () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
  }

  /** Cancels all tasks. Failures of running tasks are no longer logged. */
  close(): void {
    this.isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

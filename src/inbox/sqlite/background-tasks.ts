import { messageOf } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";

/** The minimum time between two log lines about the same failure, in milliseconds. */
const logIntervalMs = 60_000;

/** Runs the background tasks of an inbox at intervals and after delays, and logs failures. The timers do not keep the process alive. */
export class BackgroundTasks {
  readonly #log: Logger;
  readonly #monotonicNow: () => number;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** When the failure with each message was last logged, in milliseconds of the monotonic clock. */
  readonly #loggedAt = new Map<string, number>();
  #isClosed = false;

  constructor({ log, monotonicNow }: { log: Logger; monotonicNow: () => number }) {
    this.#log = log;
    this.#monotonicNow = monotonicNow;
  }

  run(task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      // Failures are expected while the inbox closes.
      if (!this.#isClosed) this.#logFailure(error);
    });
  }

  runEvery(intervalMs: number, task: () => Promise<unknown>): void {
    this.#timers.add(setInterval(() => this.run(task), intervalMs).unref());
  }

  /** Runs a task after a delay. Returns a function that cancels the task. */
  runAfter(delayMs: number, task: () => Promise<unknown>): () => void {
    const cancel = () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.run(task);
    }, delayMs).unref();
    this.#timers.add(timer);
    return cancel;
  }

  /** Cancels all tasks. Failures of running tasks are no longer logged. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #logFailure(error: unknown): void {
    const message = messageOf(error);
    const now = this.#monotonicNow();
    if (now - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < logIntervalMs) return;
    this.#loggedAt.set(message, now);
    this.#log.error({ err: error }, "A background task of the inbox failed and will be retried.");
  }
}

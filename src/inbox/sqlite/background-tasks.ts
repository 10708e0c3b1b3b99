import type { Logger } from "../../core/logger.ts";
import { RepeatedErrors } from "../repeated-errors.ts";

/** Runs the background tasks of an inbox at intervals and after delays, and logs failures. The timers do not keep the process alive. */
export class BackgroundTasks {
  readonly #log: Logger;
  readonly #failures: RepeatedErrors;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor({ log, monotonicNow }: { log: Logger; monotonicNow: () => number }) {
    this.#log = log;
    this.#failures = new RepeatedErrors(monotonicNow);
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
    if (!this.#failures.shouldLog(error)) return;
    this.#log.error({ err: error }, "A background task of the inbox failed and will be retried.");
  }
}

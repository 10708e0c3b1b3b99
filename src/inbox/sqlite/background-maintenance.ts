import { Worker } from "node:worker_threads";
import type { Logger } from "../../core/logger.ts";
import { programUrl } from "../../core/package-root.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** The `workerData` of the thread. */
export interface BackgroundMaintenanceData {
  file: string;
  processId: string;
  /** The interval of heartbeats, in milliseconds. */
  heartbeatMs: number;
  maxBlockedMs: number;
  loopCounter: LoopCounter;
  /** Two shared numbers: the number of running deliveries, and whether the thread has started (1) or not (0). */
  shared: Int32Array<SharedArrayBuffer>;
}

export interface BackgroundMaintenanceOptions {
  /** The path of the file. `undefined` if the inbox is in memory, which needs no thread. */
  file: string | undefined;
  /** The ID of this process. */
  processId: string;
  /** The interval of heartbeats, in milliseconds. */
  heartbeatMs: number;
  /** After this time in milliseconds, a blocked event loop counts as hung, and the thread sends no heartbeats. */
  maxBlockedMs: number;
  log: Logger;
}

/**
 * Controls the maintenance thread of an inbox. The thread has two tasks:
 *
 * - It sends heartbeats while deliveries are running, even while a handler blocks the event loop. If the event loop counts as hung,
 *   the thread sends no heartbeats.
 * - It checkpoints the WAL, because a checkpoint on the event loop would block the event loop.
 *
 * The thread starts with the first running delivery or the first large prune. It does not keep the process alive.
 */
export class BackgroundMaintenance {
  readonly #options: BackgroundMaintenanceOptions;
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #loopCounter = createLoopCounter();
  #loopTimer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  #hasFailed = false;
  #isClosed = false;
  /** Resolves pending calls of `checkpoint`. */
  #checkpointed: (() => void)[] = [];

  constructor(options: BackgroundMaintenanceOptions) {
    this.#options = options;
  }

  /** Whether the event loop must send heartbeats, because the thread is not running. */
  get needsEventLoop(): boolean {
    const isWorking = this.#thread !== undefined && Atomics.load(this.#shared, 1) === 1;
    return this.#options.file !== undefined && !isWorking;
  }

  /** Sets the number of running deliveries. */
  setRunning(count: number): void {
    Atomics.store(this.#shared, 0, count);
    if (count > 0) this.#startOnce();
  }

  /** Checkpoints the WAL unless it is smaller than `minBytes`. Resolves when the thread is done, or immediately if there is no thread. */
  async checkpoint(minBytes: number): Promise<void> {
    this.#startOnce();
    const thread = this.#thread;
    if (!thread) return;
    await new Promise<void>((resolve) => {
      this.#checkpointed.push(resolve);
      thread.postMessage(minBytes);
    });
  }

  /** Restarts the thread after the file was replaced. */
  async restart(): Promise<void> {
    await this.#stop();
    if (this.#isClosed) return;
    // The thread may have failed because the file was missing.
    this.#hasFailed = false;
    if (Atomics.load(this.#shared, 0) > 0 && this.#thread === undefined) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  /** Stops the thread after its current write. */
  async #stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearInterval(this.#loopTimer);
    await thread?.terminate();
    this.#resolveCheckpointed();
  }

  #startOnce(): void {
    if (this.#thread === undefined && !this.#hasFailed && !this.#isClosed) this.#start();
  }

  #resolveCheckpointed(): void {
    const waiting = this.#checkpointed;
    this.#checkpointed = [];
    for (const resolve of waiting) resolve();
  }

  #start(): void {
    const { file, processId, heartbeatMs, maxBlockedMs } = this.#options;
    if (file === undefined) return;
    Atomics.store(this.#shared, 1, 0);
    const [shared, loopCounter] = [this.#shared, this.#loopCounter];
    const data: BackgroundMaintenanceData = { file, processId, heartbeatMs, maxBlockedMs, loopCounter, shared };
    try {
      const thread = new Worker(programUrl("background-maintenance-thread", import.meta.url), {
        workerData: data,
        env: {},
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      thread.on("message", () => this.#resolveCheckpointed());
      // Without a listener, an error would end the process.
      thread.on("error", (error) => this.#handleExit(thread, error));
      thread.on("exit", () => this.#handleExit(thread, new Error("The thread exited.")));
      // `unref` must follow the listeners, because adding a message listener keeps the process alive.
      thread.unref();
      this.#thread = thread;
      this.#loopTimer = startLoopCounter(loopCounter, heartbeatMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #handleExit(thread: Worker, error: unknown): void {
    // A thread that was replaced or removed was stopped on purpose.
    if (thread === this.#thread) this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#thread = undefined;
    this.#hasFailed = true;
    clearInterval(this.#loopTimer);
    this.#resolveCheckpointed();
    this.#options.log.warn(
      { err: error },
      "The thread of the inbox has stopped, so the event loop sends the heartbeats. A delivery whose handler blocks the event loop for more than 30 s may run twice. Restart the server.",
    );
  }
}

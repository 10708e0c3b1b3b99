import { Worker } from "node:worker_threads";
import { programUrl } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";
import type { FoundDeliveries, SearchRequest } from "./delivery-reader.ts";

/** The `workerData` of the thread. */
export interface BackgroundMaintenanceData {
  file: string;
  /** Whether no other process uses the file. The thread then only searches. */
  isPrivate: boolean;
  processId: string;
  heartbeatMs: number;
  /** After this time, a blocked event loop counts as hung, and the thread sends no heartbeats. */
  maxBlockedMs: number;
  loopCounter: LoopCounter;
  /** Two shared numbers: the number of running deliveries, and whether the thread has started (1) or not (0). */
  shared: Int32Array<SharedArrayBuffer>;
}

/** A message to the thread, which answers in the same order. */
export type MaintenanceRequest = { checkpointBytes: number } | { search: SearchRequest };

/** An answer of the thread. `found` is missing after a checkpoint, and after a search that failed. */
export interface MaintenanceAnswer {
  found?: FoundDeliveries;
}

interface BackgroundMaintenanceOptions extends Omit<BackgroundMaintenanceData, "file" | "loopCounter" | "shared"> {
  /** `undefined` if the inbox is in memory, which needs no thread. */
  file: string | undefined;
  log: Logger;
}

/**
 * Controls the maintenance thread of an inbox. The thread has three tasks:
 *
 * - It sends heartbeats while deliveries are running, even while a handler blocks the event loop, unless the loop counts as hung.
 * - It checkpoints the WAL and searches deliveries, which would block the event loop.
 * - It indexes deliveries for searches.
 *
 * The thread starts with the first running delivery, the first large prune, or the first search. It only keeps the process alive
 * while a request waits for its answer.
 */
export class BackgroundMaintenance {
  readonly #options: BackgroundMaintenanceOptions;
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #loopCounter = createLoopCounter();
  #loopTimer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  /** Whether the thread has failed or was closed. It does not start again. */
  #isStopped = false;
  /** Resolves the requests that the thread has not answered, oldest first. */
  readonly #pending: ((answer: MaintenanceAnswer) => void)[] = [];

  constructor(options: BackgroundMaintenanceOptions) {
    this.#options = options;
  }

  /** Whether the event loop must send heartbeats, because the thread is not running. */
  get needsEventLoop(): boolean {
    const isWorking = this.#thread !== undefined && Atomics.load(this.#shared, 1) === 1;
    return this.#options.file !== undefined && !this.#options.isPrivate && !isWorking;
  }

  setRunning(count: number): void {
    Atomics.store(this.#shared, 0, count);
    if (count > 0) this.#start();
  }

  /** Checkpoints the WAL if at least this much of it is not checkpointed. Resolves immediately if there is no thread. */
  async checkpoint(checkpointBytes: number): Promise<void> {
    if (!this.#options.isPrivate) await this.#request({ checkpointBytes });
  }

  /** Searches in the thread. Returns `undefined` if there is no thread, or if the search failed. */
  async search(request: SearchRequest): Promise<FoundDeliveries | undefined> {
    return (await this.#request({ search: request })).found;
  }

  async #request(request: MaintenanceRequest): Promise<MaintenanceAnswer> {
    this.#start();
    const thread = this.#thread;
    if (!thread) return {};
    // Otherwise, a script that only waits for a search would end without a result.
    thread.ref();
    return new Promise((resolve) => {
      thread.postMessage(request);
      this.#pending.push(resolve);
    });
  }

  /** Stops the thread after its current write. */
  async close(): Promise<void> {
    const thread = this.#thread;
    this.#stop();
    await thread?.terminate();
    this.#resolvePending();
  }

  #stop(): void {
    this.#thread = undefined;
    this.#isStopped = true;
    clearInterval(this.#loopTimer);
  }

  #resolvePending(): void {
    for (const resolve of this.#pending.splice(0)) resolve({});
  }

  #start(): void {
    if (this.#thread !== undefined || this.#isStopped) return;
    const { file, log, ...options } = this.#options;
    if (file === undefined) return;
    const shared = { loopCounter: this.#loopCounter, shared: this.#shared };
    const workerData: BackgroundMaintenanceData = { ...options, file, ...shared };
    try {
      const thread = new Worker(programUrl("background-maintenance-thread", import.meta.url), {
        workerData,
        env: {},
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      thread.on("message", (answer: MaintenanceAnswer) => {
        this.#pending.shift()?.(answer);
        if (this.#pending.length === 0) thread.unref();
      });
      // Without a listener, an error would end the process.
      thread.on("error", (error) => this.#fail(thread, error));
      thread.on("exit", () => this.#fail(thread, new Error("The thread exited.")));
      // `unref` must follow the listeners, because adding a message listener keeps the process alive.
      thread.unref();
      this.#thread = thread;
      this.#loopTimer = startLoopCounter(this.#loopCounter, options.heartbeatMs);
    } catch (error) {
      this.#fail(undefined, error);
    }
  }

  #fail(thread: Worker | undefined, error: unknown): void {
    // A thread that was removed was stopped on purpose.
    if (thread !== this.#thread) return;
    this.#stop();
    this.#resolvePending();
    this.#options.log.warn(
      { err: error },
      this.#options.isPrivate
        ? "The thread of the inbox has stopped, so searches are slower."
        : "The thread of the inbox has stopped, so the event loop sends the heartbeats. A delivery whose handler blocks the event loop for more than 30 s may run twice. Restart the server.",
    );
  }
}

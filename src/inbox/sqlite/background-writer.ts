import { Worker } from "node:worker_threads";
import type { Logger } from "../../core/logger.ts";
import { programUrl } from "../../core/package-files.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** The data of the thread. */
export interface BackgroundWriterData {
  file: string;
  owner: string;
  /** The interval of heartbeats, in milliseconds. */
  beatMs: number;
  maxBlockedMs: number;
  /** Incremented while the event loop runs. */
  loopBeat: LoopCounter;
  /** The number of running deliveries, and whether the thread has started: 0 or 1. */
  shared: Int32Array<SharedArrayBuffer>;
}

/** The options of an {@link BackgroundWriter}. */
export interface BackgroundWriterOptions {
  /** `undefined` if the inbox is in memory: it needs no thread. */
  file: string | undefined;
  owner: string;
  /** The interval of heartbeats, in milliseconds. */
  beatMs: number;
  /** An event loop that is blocked for longer counts as hung, and the thread sends no heartbeats, in milliseconds. */
  maxBlockedMs: number;
  log: () => Logger;
}

/**
 * A thread for work that a blocked event loop must not stop, or that would block it: it sends heartbeats to other processes
 * while deliveries run, unless the event loop is blocked for so long that it counts as hung, and copies the log of the
 * database into its file. It starts with the first running delivery or the first large prune, and does not keep the process
 * alive.
 */
export class BackgroundWriter {
  readonly #options: BackgroundWriterOptions;
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #loopBeat = createLoopCounter();
  #loopTimer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  #hasFailed = false;
  #isClosed = false;
  /** Resolves pending calls of `copyLog`. */
  #copied: (() => void)[] = [];

  constructor(options: BackgroundWriterOptions) {
    this.#options = options;
  }

  /** Whether the event loop must send the heartbeats, since the thread does not. */
  get needsEventLoop(): boolean {
    const isWorking = this.#thread !== undefined && Atomics.load(this.#shared, 1) === 1;
    return this.#options.file !== undefined && !isWorking;
  }

  /** Sets the number of running deliveries. */
  setRunning(count: number): void {
    Atomics.store(this.#shared, 0, count);
    if (count > 0) this.#startOnce();
  }

  /** Resolves once the thread has copied the log into the file; immediately if there is no thread. */
  async copyLog(): Promise<void> {
    this.#startOnce();
    const thread = this.#thread;
    if (!thread) return;
    await new Promise<void>((resolve) => {
      this.#copied.push(resolve);
      thread.postMessage("copy");
    });
  }

  /** Starts a new thread after the file was replaced. */
  async restart(): Promise<void> {
    await this.#stop();
    if (this.#isClosed) return;
    // The thread may have failed since the file was missing.
    this.#hasFailed = false;
    if (Atomics.load(this.#shared, 0) > 0 && this.#thread === undefined) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  /** The thread finishes its current write. */
  async #stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearInterval(this.#loopTimer);
    await thread?.terminate();
    this.#resolveCopied();
  }

  #startOnce(): void {
    if (this.#thread === undefined && !this.#hasFailed && !this.#isClosed) this.#start();
  }

  #resolveCopied(): void {
    const waiting = this.#copied;
    this.#copied = [];
    for (const resolve of waiting) resolve();
  }

  #start(): void {
    const { file, owner, beatMs, maxBlockedMs } = this.#options;
    if (file === undefined) return;
    Atomics.store(this.#shared, 1, 0);
    const [shared, loopBeat] = [this.#shared, this.#loopBeat];
    const data: BackgroundWriterData = { file, owner, beatMs, maxBlockedMs, loopBeat, shared };
    try {
      const thread = new Worker(programUrl("background-writer-thread", import.meta.url), {
        workerData: data,
        env: {},
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      // An error without a listener would end the process.
      thread.on("message", () => this.#resolveCopied());
      thread.on("error", (error) => this.#handleExit(thread, error));
      thread.on("exit", () => this.#handleExit(thread, new Error("It exited.")));
      // After adding listeners: a message listener keeps the process alive.
      thread.unref();
      this.#thread = thread;
      this.#loopTimer = startLoopCounter(loopBeat, beatMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #handleExit(thread: Worker, error: unknown): void {
    // Otherwise it was stopped on purpose.
    if (thread === this.#thread) this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#thread = undefined;
    this.#hasFailed = true;
    clearInterval(this.#loopTimer);
    this.#resolveCopied();
    this.#options
      .log()
      .warn(
        { err: error },
        "The thread of the inbox has stopped, and the event loop renews leases instead. A delivery whose handler blocks the event loop for longer than 30 s may run twice.",
      );
  }
}

import { Worker } from "node:worker_threads";
import type { Logger } from "../../core/logger.ts";
import { programUrl } from "../../core/package-files.ts";
import { createLoopBeat, type LoopBeat, startLoopBeat } from "../blocked-loop.ts";

/** What the thread is given. */
export interface InboxThreadData {
  file: string;
  owner: string;
  /** How often it shows that this process is alive, in milliseconds. */
  beatMs: number;
  maxBlockedMs: number;
  /** Changes for as long as the event loop runs. */
  loopBeat: LoopBeat;
  /** How many deliveries run in this process, and whether the thread has started to work: 0 or 1. */
  shared: Int32Array<SharedArrayBuffer>;
}

/** What a {@link InboxThread} is made from. */
export interface InboxThreadOptions {
  /** `undefined` for an inbox in memory, which needs none. */
  file: string | undefined;
  owner: string;
  /** How often it shows that this process is alive, in milliseconds. */
  beatMs: number;
  /** An event loop that is blocked for longer counts as hung: the thread stops showing that it is alive, in milliseconds. */
  maxBlockedMs: number;
  log: () => Logger;
}

/**
 * Does what a blocked event loop must not stop, and what must not block it: a thread shows other processes that this one
 * is alive while it runs deliveries, unless the loop is blocked for so long that it counts as hung, and copies the log of
 * the database into its file. It starts with the first delivery that runs or the first prune of much, and keeps no process
 * alive.
 */
export class InboxThread {
  readonly #options: InboxThreadOptions;
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #loopBeat = createLoopBeat();
  #loopTimer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  #hasFailed = false;
  #isClosed = false;
  /** Settles what waits for a copy of the log. */
  #copied: (() => void)[] = [];

  constructor(options: InboxThreadOptions) {
    this.#options = options;
  }

  /** Whether the event loop has to show that this process is alive, since no thread does. */
  get needsEventLoop(): boolean {
    const isWorking = this.#thread !== undefined && Atomics.load(this.#shared, 1) === 1;
    return this.#options.file !== undefined && !isWorking;
  }

  /** Notes how many deliveries run here. */
  setRunning(count: number): void {
    Atomics.store(this.#shared, 0, count);
    if (count > 0) this.#startOnce();
  }

  /** Resolves once the thread has copied the log into the file; at once where there is no thread. */
  async copyLog(): Promise<void> {
    this.#startOnce();
    const thread = this.#thread;
    if (!thread) return;
    await new Promise<void>((resolve) => {
      this.#copied.push(resolve);
      thread.postMessage("copy");
    });
  }

  /** Lets another thread open the file at the path, after it was replaced. */
  async restart(): Promise<void> {
    await this.#stop();
    if (this.#isClosed) return;
    // One that found no file at the path could not help it.
    this.#hasFailed = false;
    if (Atomics.load(this.#shared, 0) > 0 && this.#thread === undefined) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  /** A write of the thread is done before it ends. */
  async #stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearInterval(this.#loopTimer);
    await thread?.terminate();
    this.#noteCopied();
  }

  #startOnce(): void {
    if (this.#thread === undefined && !this.#hasFailed && !this.#isClosed) this.#start();
  }

  #noteCopied(): void {
    const waiting = this.#copied;
    this.#copied = [];
    for (const resolve of waiting) resolve();
  }

  #start(): void {
    const { file, owner, beatMs, maxBlockedMs } = this.#options;
    if (file === undefined) return;
    Atomics.store(this.#shared, 1, 0);
    const [shared, loopBeat] = [this.#shared, this.#loopBeat];
    const data: InboxThreadData = { file, owner, beatMs, maxBlockedMs, loopBeat, shared };
    try {
      const thread = new Worker(programUrl("inbox-thread-main", import.meta.url), {
        workerData: data,
        env: {},
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      // Listened to until its end, since an error without a listener ends the process.
      thread.on("message", () => this.#noteCopied());
      thread.on("error", (error) => this.#noteEnd(thread, error));
      thread.on("exit", () => this.#noteEnd(thread, new Error("It exited.")));
      // Last: a listener of messages keeps the process alive.
      thread.unref();
      this.#thread = thread;
      this.#loopTimer = startLoopBeat(loopBeat, beatMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #noteEnd(thread: Worker, error: unknown): void {
    // Otherwise it was told to end.
    if (thread === this.#thread) this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#thread = undefined;
    this.#hasFailed = true;
    clearInterval(this.#loopTimer);
    this.#noteCopied();
    this.#options
      .log()
      .warn(
        { err: error },
        "The thread of the inbox has stopped, so the event loop renews leases instead. A delivery whose handler blocks it for longer than 30 s may then run twice.",
      );
  }
}

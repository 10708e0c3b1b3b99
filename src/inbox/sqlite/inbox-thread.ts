import { Worker } from "node:worker_threads";
import type { Logger } from "../../logger.ts";

/** What the thread is given. */
export interface InboxThreadData {
  file: string;
  owner: string;
  /** How often it shows that this process is alive, in milliseconds. */
  beatMs: number;
  /** How many deliveries run in this process. */
  running: Int32Array<SharedArrayBuffer>;
}

/** What a {@link InboxThread} is made from. */
export interface InboxThreadOptions {
  /** `undefined` for an inbox in memory, which needs none. */
  file: string | undefined;
  owner: string;
  /** How often it shows that this process is alive, in milliseconds. */
  beatMs: number;
  log: () => Logger;
}

/**
 * Does what a blocked event loop must not stop, and what must not block it: a thread shows other processes that this one
 * is alive while it runs deliveries, and copies the log of the database into its file. It starts with the first delivery
 * that runs, and keeps no process alive.
 */
export class InboxThread {
  readonly #options: InboxThreadOptions;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #hasFailed = false;

  constructor(options: InboxThreadOptions) {
    this.#options = options;
  }

  /** Whether the event loop has to show that this process is alive, since there is no thread. */
  get needsEventLoop(): boolean {
    return this.#options.file !== undefined && this.#thread === undefined;
  }

  /** Notes how many deliveries run here. */
  setRunning(count: number): void {
    Atomics.store(this.#running, 0, count);
    if (count > 0 && this.#thread === undefined && !this.#hasFailed) this.#start();
  }

  /** Lets another thread open the file at the path, after it was replaced. */
  async restart(): Promise<void> {
    await this.#stop();
    if (Atomics.load(this.#running, 0) > 0 && this.#thread === undefined && !this.#hasFailed) this.#start();
  }

  async close(): Promise<void> {
    this.#hasFailed = true;
    await this.#stop();
  }

  /** A write of the thread is done before it ends. */
  async #stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.removeAllListeners();
    await thread?.terminate();
  }

  #start(): void {
    const { file, owner, beatMs } = this.#options;
    if (file === undefined) return;
    const data: InboxThreadData = { file, owner, beatMs, running: this.#running };
    const script = import.meta.url.endsWith(".ts") ? "inbox-thread-main.ts" : "inbox-thread-main.js";
    try {
      const thread = new Worker(new URL(script, import.meta.url), {
        workerData: data,
        env: {},
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      thread.unref();
      // Without a listener an error of the thread would end the process.
      thread.on("error", (error) => this.#fail(error));
      thread.on("exit", () => this.#fail(new Error("It exited.")));
      this.#thread = thread;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#thread = undefined;
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options
      .log()
      .warn(
        { err: error },
        "The thread of the inbox has stopped, so the event loop renews leases instead. A delivery whose handler blocks it for longer than 30 s may then run twice.",
      );
  }
}

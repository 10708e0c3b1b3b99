import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "../../logger.ts";

/** What the thread is given. */
export interface HeartbeatThreadData {
  /** Of the file, as SQLite reads it: nothing is made where there is none. */
  url: string;
  owner: string;
  intervalMs: number;
  /** How many deliveries run in this process. */
  running: Int32Array<SharedArrayBuffer>;
}

/** What a {@link Heartbeat} is made from. */
export interface HeartbeatOptions {
  /** `undefined` for an inbox in memory, which needs none. */
  file: string | undefined;
  owner: string;
  intervalMs: number;
  log: () => Logger;
}

/**
 * Shows other processes that this one is alive while it runs deliveries. A thread does it, since a handler may block the
 * event loop for longer than a lease. The thread starts with the first delivery and keeps no process alive.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #hasFailed = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Whether the event loop has to do it, since there is no thread. */
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
    const { file, owner, intervalMs } = this.#options;
    if (file === undefined) return;
    const url = pathToFileURL(file);
    url.searchParams.set("mode", "rw");
    const data: HeartbeatThreadData = { url: url.href, owner, intervalMs, running: this.#running };
    const script = import.meta.url.endsWith(".ts") ? "heartbeat-thread.ts" : "heartbeat-thread.js";
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
        "The thread that renews leases has stopped; the event loop renews them instead. A handler that blocks it for longer than a lease may then run twice.",
      );
  }
}

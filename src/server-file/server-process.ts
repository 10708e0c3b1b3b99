import { type ChildProcess, fork } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import type { WebhookError } from "../core/errors.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import type { ServerDescription } from "./description.ts";
import { serverFileInvalid } from "./invalid.ts";
import { type Order, type Report, report } from "./messages.ts";

/** A line that the file's process has written. */
export interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}

/** How to run a server's file. */
export interface ServerProcessOptions {
  /** Absolute path of the file. */
  path: string;
  /** What the file is told when it launches its server. */
  reachedAt: LaunchedServer;
  /** Variables on top of this process's own. */
  environment?: Readonly<Record<string, string>>;
  /** Told of each file of the user's own, before it is loaded. */
  onLoading?: (path: string) => void;
  onOutput?: (line: OutputLine) => void;
}

/** A secret that is made for a while. */
export interface SessionSecret {
  text: string;
  /** `instead`: in place of those that the server has; `besides`: with them; `where-open`: only where it has none. */
  use: "instead" | "besides" | "where-open";
}

/** A server that runs and is reached on 127.0.0.1. */
export interface Serving {
  port: number;
  description: ServerDescription;
}

/** When it is to stop, the server gives its handlers three seconds; one that blocks the process gets no more. */
const killAfterMs = 5_000;
/** How long what it wrote last is read after its end. */
const lastOutputMs = 500;

/**
 * A process that runs the file of a server. One of its own: the file can be loaded anew that way, and what it does to
 * its process is done to no other.
 */
export class ServerProcess {
  /** Resolves when the process has ended and all it wrote was read. */
  readonly ended: Promise<void>;
  readonly #path: string;
  readonly #child: ChildProcess;
  readonly #answered = Promise.withResolvers<Report>();

  private constructor(options: ServerProcessOptions) {
    const child = startChild(options);
    this.#path = options.path;
    this.#child = child;
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    // One that is busy without end would not notice that nobody is there any more.
    const killWithUs = () => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("exit", () => process.off("exit", killWithUs));
    child.on("message", (message) => {
      const parsed = report.safeParse(message);
      if (!parsed.success) return;
      if (parsed.data.report === "loading") options.onLoading?.(parsed.data.path);
      else this.#answered.resolve(parsed.data);
    });
    child.once("exit", () => {
      // A program that it has started may live on and hold its output open.
      const letGo = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, lastOutputMs);
      child.once("close", () => clearTimeout(letGo));
    });
    // Its reports come before the end of its channel, and both may come after its exit.
    child.once("close", (code, signal) => {
      const how = signal === null ? `code ${code}` : signal;
      this.#answered.resolve({
        report: "failed",
        reason: `Its process ended with ${how} before the server was there.`,
      });
      ended.resolve();
    });
    child.on("error", (error) => {
      this.#answered.reject(error);
      if (child.pid === undefined) ended.resolve();
    });
    void this.#answered.promise.catch(() => {});
    for (const stream of ["stdout", "stderr"] as const) {
      const output = child[stream];
      if (output) createInterface({ input: output }).on("line", (text) => options.onOutput?.({ stream, text }));
    }
  }

  /** Starts the process and lets it serve. */
  static serve({
    secret,
    inbox,
    ...options
  }: ServerProcessOptions & { secret: SessionSecret | undefined; inbox?: string | undefined }): ServerProcess {
    const started = new ServerProcess(options);
    const { path, reachedAt } = options;
    started.#send({ order: "serve", path, reachedAt, secret, inbox });
    return started;
  }

  /** Runs the file only to learn what its server is like. */
  static async describe({
    signal,
    ...options
  }: ServerProcessOptions & { signal: AbortSignal | undefined }): Promise<ServerDescription> {
    signal?.throwIfAborted();
    const started = new ServerProcess(options);
    const kill = () => started.kill();
    signal?.addEventListener("abort", kill, { once: true });
    const { path, reachedAt } = options;
    started.#send({ order: "describe", path, reachedAt });
    try {
      const answer = await started.#answered.promise;
      await started.ended;
      signal?.throwIfAborted();
      if (answer.report === "described") return answer.description;
      throw failure(options.path, answer);
    } finally {
      signal?.removeEventListener("abort", kill);
    }
  }

  /**
   * Resolves when the server listens.
   *
   * @throws `SERVER_FILE_INVALID`, with what the file threw as its cause; its process has exited then.
   */
  async serving(): Promise<Serving> {
    const answer = await this.#answered.promise;
    if (answer.report === "serving") return answer;
    await this.ended;
    throw failure(this.#path, answer);
  }

  /** Tells the server that it is reached elsewhere now. */
  reachedAt(publicUrl: string): void {
    this.#send({ order: "reachedAt", publicUrl });
  }

  /** Lets the server finish what is in work, for a few seconds, and ends it. Safe to call twice. */
  async stop(): Promise<void> {
    // By a message, for there is no SIGTERM on Windows; one that is still loading ends at once.
    this.#send({ order: "stop" });
    const killer = setTimeout(() => this.kill(), killAfterMs);
    await this.ended;
    clearTimeout(killer);
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #send(order: Order): void {
    // It may have died just now: that is told by its end.
    this.#child.send(order, () => {});
  }
}

function startChild({ environment }: ServerProcessOptions): ChildProcess {
  // TypeScript beside our source, JavaScript beside what is published.
  const file = import.meta.url.endsWith(".ts") ? "child.ts" : "child.js";
  return fork(new URL(file, import.meta.url), {
    env: { ...process.env, ...environment },
    execArgv: [
      "--enable-source-maps",
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // A group of its own: Ctrl+C in the terminal is for whoever started it, which then lets it finish.
    detached: true,
    windowsHide: true,
  });
}

function failure(path: string, answer: Report): WebhookError {
  const { reason, stack } =
    answer.report === "failed" ? answer : { reason: "Its process sent an unexpected message.", stack: undefined };
  const message = `${basename(path)} does not load. ${reason}`;
  if (stack === undefined) return serverFileInvalid(message);
  return serverFileInvalid(message, { cause: Object.assign(new Error(reason), { stack }) });
}

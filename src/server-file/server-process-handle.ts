import { type ChildProcess, fork } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { defaultPort } from "../core/defaults.ts";
import type { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/package-root.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import type { ServerDescription } from "../receiver/server-control.ts";
import { serverFileInvalid } from "./load-failure.ts";
import { type Command, parseReport, type Report, type SessionSecret } from "./messages.ts";

/** A line of the child's output. */
export interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}

/** How to run a server file. */
export interface ServerProcessOptions {
  /** Absolute path of the file. */
  path: string;
  /** The result of `launch()` in the file. */
  launchResult: LaunchedServer;
  /** Variables that override those of this process. */
  environment?: Readonly<Record<string, string>>;
  /** Called with the path of each of the user's files before it is loaded. */
  onLoading?: (path: string) => void;
  onOutput?: (line: OutputLine) => void;
}

/** A server that is running, on 127.0.0.1. */
export interface Serving {
  port: number;
  description: ServerDescription;
}

const defaultUrl = `http://localhost:${defaultPort}`;
/** On stop, the server waits three seconds for its handlers; one that blocks the process gets no more. */
const killAfterMs = 5_000;
/** How long to read remaining output after the child has exited. */
const lastOutputMs = 500;

/**
 * Runs a server file in a child process, without letting its server listen, and describes the server.
 *
 * @throws `SERVER_FILE_INVALID` when the file throws or creates no server.
 * @example
 * ```ts
 * const { endpoints } = await describeServerFile(findServerFile({ file: "server.ts" }));
 * ```
 */
export function describeServerFile(
  path: string,
  {
    publicUrl = defaultUrl,
    onOutput,
    signal,
  }: {
    /** Public URL of the server, which `launch()` returns in the file. Default `http://localhost:7860`. */
    publicUrl?: string | undefined;
    /** Called with each line that the file prints. */
    onOutput?: (line: OutputLine) => void;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<ServerDescription> {
  const launchResult = { port: defaultPort, url: defaultUrl, publicUrl };
  return ServerProcess.describe({ path, launchResult, signal, ...(onOutput && { onOutput }) });
}

/**
 * A child process that runs a server file. In its own process the file can be reloaded, and what it does to the process
 * affects no other.
 */
export class ServerProcess {
  /** Resolves when the process has exited and its output has been read. */
  readonly ended: Promise<void>;
  readonly #path: string;
  readonly #child: ChildProcess;
  readonly #report = Promise.withResolvers<Report>();

  private constructor(options: ServerProcessOptions) {
    const child = startChild(options);
    this.#path = options.path;
    this.#child = child;
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    // A busy child would not notice that its parent is gone.
    const killWithParent = () => void child.kill("SIGKILL");
    process.once("exit", killWithParent);
    child.once("exit", () => process.off("exit", killWithParent));
    child.on("message", (message) => {
      const report = parseReport(message);
      if (report?.report === "loading") options.onLoading?.(report.path);
      else if (report) this.#report.resolve(report);
    });
    child.once("exit", () => {
      // A grandchild may live on and hold the output open.
      const closeOutput = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, lastOutputMs);
      child.once("close", () => clearTimeout(closeOutput));
    });
    // Reports arrive before the end of the channel, and both may arrive after the exit.
    child.once("close", (code, signal) => {
      const status = signal === null ? `code ${code}` : signal;
      this.#report.resolve({
        report: "failed",
        reason: `Its process exited with ${status} before the server was ready.`,
      });
      ended.resolve();
    });
    child.on("error", (error) => {
      this.#report.reject(error);
      if (child.pid === undefined) ended.resolve();
    });
    void this.#report.promise.catch(() => {});
    for (const stream of ["stdout", "stderr"] as const) {
      const output = child[stream];
      if (output) createInterface({ input: output }).on("line", (text) => options.onOutput?.({ stream, text }));
    }
  }

  /** Starts the process and its server. */
  static serve({
    secret,
    inbox,
    ...options
  }: ServerProcessOptions & { secret: SessionSecret | undefined; inbox?: string | undefined }): ServerProcess {
    const started = new ServerProcess(options);
    const { path, launchResult } = options;
    started.#send({ command: "serve", path, launchResult, secret, inbox });
    return started;
  }

  /** Runs the file only to describe its server. */
  static async describe({
    signal,
    ...options
  }: ServerProcessOptions & { signal: AbortSignal | undefined }): Promise<ServerDescription> {
    signal?.throwIfAborted();
    const started = new ServerProcess(options);
    const kill = () => started.kill();
    signal?.addEventListener("abort", kill, { once: true });
    const { path, launchResult } = options;
    started.#send({ command: "describe", path, launchResult });
    try {
      const report = await started.#report.promise;
      await started.ended;
      signal?.throwIfAborted();
      if (report.report === "described") return report.description;
      throw toLoadError(options.path, report);
    } finally {
      signal?.removeEventListener("abort", kill);
    }
  }

  /**
   * Resolves when the server listens.
   *
   * @throws `SERVER_FILE_INVALID` with what the file threw as its cause; the process has exited by then.
   */
  async serving(): Promise<Serving> {
    const report = await this.#report.promise;
    if (report.report === "serving") return report;
    await this.ended;
    throw toLoadError(this.#path, report);
  }

  /** Updates the public URL of the server. */
  setPublicUrl(publicUrl: string): void {
    this.#send({ command: "publicUrl", publicUrl });
  }

  /** Waits a few seconds for running handlers, then ends the process. Safe to call twice. */
  async stop(): Promise<void> {
    // By a message, since Windows has no SIGTERM; a child that is still loading exits at once.
    this.#send({ command: "stop" });
    const killer = setTimeout(() => this.kill(), killAfterMs);
    await this.ended;
    clearTimeout(killer);
  }

  /** Kills the process immediately. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #send(command: Command): void {
    // The child may have just exited, which its "close" event reports.
    this.#child.send(command, () => {});
  }
}

function startChild({ environment }: ServerProcessOptions): ChildProcess {
  return fork(programUrl("server-process", import.meta.url), {
    env: { ...process.env, ...environment },
    execArgv: [
      "--enable-source-maps",
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // Its own process group: Ctrl+C in the terminal reaches only the parent, which then lets the child finish.
    detached: true,
    windowsHide: true,
  });
}

function toLoadError(path: string, report: Report): WebhookError {
  const { reason, stack } =
    report.report === "failed" ? report : { reason: "Its process sent an unexpected message.", stack: undefined };
  const message = `${basename(path)} failed to load. ${reason}`;
  if (stack === undefined) return serverFileInvalid(message);
  return serverFileInvalid(message, { cause: Object.assign(new Error(reason), { stack }) });
}

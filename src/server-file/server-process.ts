import { type ChildProcess, fork } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import type { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/files.ts";
import { defaultPort } from "../core/urls.ts";
import type { ServerDescription } from "../receiver/control.ts";
import type { LaunchedServer } from "../receiver/options.ts";
import { serverFileInvalid } from "./load-failure.ts";
import { type Command, parseReport, type Report, type SessionSecret } from "./messages.ts";

/** A line that the child process prints. */
export interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}

/** The options of {@link ServerProcess}. */
export interface ServerProcessOptions {
  /** The absolute path of the file. */
  path: string;
  /** The result of `launch()` in the file. */
  launchResult: LaunchedServer;
  /** Environment variables that override the variables of this process. */
  environment?: Readonly<Record<string, string>>;
  /** Called with the path of each of the user's files before it is loaded. */
  onLoading?: (path: string) => void;
  onOutput?: (line: OutputLine) => void;
  /** Called with what the console shows when the process stops. */
  onConsoleSnapshot?: (snapshot: unknown) => void;
}

/** What {@link ServerProcess.serve} passes to the server. */
export type ServeOptions = Omit<Extract<Command, { type: "serve" }>, "type" | "path" | "launchResult" | "secret"> & {
  secret: SessionSecret | undefined;
};

/** A running server, which listens on 127.0.0.1. */
export interface Serving {
  port: number;
  description: ServerDescription;
}

const defaultUrl = `http://localhost:${defaultPort}`;
/**
 * The time after which a stopping child is killed. Handlers have three seconds. The remaining time is for closing the
 * server.
 */
const killAfterMs = 5_000;
/** The time that a file has to load when it is only described. */
const describeTimeoutMs = 60_000;
/** How long to read the remaining output after the child has exited. */
const lastOutputMs = 500;

/**
 * Loads a server file in a child process and describes its server. The server does not listen.
 *
 * @throws `SERVER_FILE_INVALID` when the file throws, creates no server, or does not finish loading within 60 s.
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
    /** The public URL that `launch()` returns in the file. Default `http://localhost:7860`. */
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
 * A child process that runs a server file. A new process loads a changed file without stale modules, and changes that
 * the file makes to its process do not affect this process.
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
    // Kill the child, because a busy child process does not detect that its parent has exited.
    const killWithParent = () => void child.kill("SIGKILL");
    process.once("exit", killWithParent);
    child.on("message", (message) => {
      const report = parseReport(message);
      if (report?.type === "loading") options.onLoading?.(report.path);
      else if (report?.type === "consoleSnapshot") options.onConsoleSnapshot?.(report.snapshot);
      else if (report) this.#report.resolve(report);
    });
    child.once("exit", () => {
      // A process that the child started may still be running and keep the output open.
      const closeOutput = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, lastOutputMs);
      child.once("close", () => clearTimeout(closeOutput));
    });
    // Use "close", because reports can arrive after "exit" but never after "close".
    child.once("close", (code, signal) => {
      const status = signal === null ? `code ${code}` : signal;
      this.#report.resolve({
        type: "failed",
        reason: `The process of the server file exited with ${status} before the server was ready.`,
      });
      process.off("exit", killWithParent);
      ended.resolve();
    });
    // After a failed start, Node also emits "close", but not "exit".
    child.on("error", (error) => this.#report.reject(error));
    void this.#report.promise.catch(() => {});
    for (const stream of ["stdout", "stderr"] as const) {
      const output = child[stream];
      if (output) createInterface({ input: output }).on("line", (text) => options.onOutput?.({ stream, text }));
    }
  }

  /** Starts the process and launches the server in it. */
  static serve({
    secret,
    inbox,
    consoleToken,
    consoleSnapshot,
    ...options
  }: ServerProcessOptions & ServeOptions): ServerProcess {
    const started = new ServerProcess(options);
    const { path, launchResult } = options;
    started.#send({ type: "serve", path, launchResult, secret, inbox, consoleToken, consoleSnapshot });
    return started;
  }

  /** Loads the file, describes its server, and waits until the process has exited. */
  static async describe({
    signal,
    ...options
  }: ServerProcessOptions & { signal: AbortSignal | undefined }): Promise<ServerDescription> {
    signal?.throwIfAborted();
    const started = new ServerProcess(options);
    const kill = () => started.kill();
    signal?.addEventListener("abort", kill, { once: true });
    const timer = setTimeout(() => {
      const reason = "It did not finish loading within 60 s. Look for an await at the top level that never settles.";
      started.#report.resolve({ type: "failed", reason });
      kill();
    }, describeTimeoutMs);
    const { path, launchResult } = options;
    started.#send({ type: "describe", path, launchResult });
    try {
      const report = await started.#report.promise;
      await started.ended;
      signal?.throwIfAborted();
      if (report.type === "described") return report.description;
      throw toLoadError(options.path, report);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
    }
  }

  /**
   * Resolves when the server listens.
   *
   * @throws `SERVER_FILE_INVALID` after the process has exited, with the error of the file as `cause`.
   */
  async serving(): Promise<Serving> {
    const report = await this.#report.promise;
    if (report.type === "serving") return report;
    await this.ended;
    throw toLoadError(this.#path, report);
  }

  setPublicUrl(publicUrl: string): void {
    this.#send({ type: "publicUrl", publicUrl });
  }

  /** See `ServerControl.compareNow`. */
  compareNow(): void {
    this.#send({ type: "compare" });
  }

  /** Stops the server and the process. Running handlers have three seconds to finish. Safe to call twice. */
  async stop(): Promise<void> {
    // Send a message, because Windows does not support SIGTERM. A child that is still loading exits immediately.
    this.#send({ type: "stop" });
    const killer = setTimeout(() => this.kill(), killAfterMs);
    await this.ended;
    clearTimeout(killer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #send(command: Command): void {
    // Ignore errors of the channel. If the child has exited, its "close" event is enough. A child that was not started has no channel.
    if (this.#child.connected) this.#child.send(command, () => {});
  }
}

function startChild({ environment }: ServerProcessOptions): ChildProcess {
  return fork(programUrl("server-process-child", import.meta.url), {
    // The lines are read from the child's output, so it logs also when tests of a bot start it.
    env: { LOG_LEVEL: "info", ...process.env, ...environment },
    execArgv: [
      "--enable-source-maps",
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // Put the child in a separate process group. Ctrl+C in the terminal then signals only the parent, and the parent
    // stops the child.
    detached: true,
    windowsHide: true,
  });
}

function toLoadError(path: string, report: Report): WebhookError {
  const { reason, stack, frame }: Partial<Extract<Report, { type: "failed" }>> =
    report.type === "failed" ? report : { reason: "The process of the server file sent an unexpected message." };
  const message = `${basename(path)} failed to load. ${reason}`;
  if (stack === undefined && frame === undefined) return serverFileInvalid(message);
  return serverFileInvalid(message, { cause: Object.assign(new Error(reason), { stack, frame }) });
}

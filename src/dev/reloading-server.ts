import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import type { ServerDescription } from "../receiver/control.ts";
import { serverFileInvalid } from "../server-file/load-failure.ts";
import {
  type ServeOptions,
  ServerProcess,
  type ServerProcessOptions,
  type Serving,
} from "../server-file/server-process.ts";

export interface ReloadingServerOptions
  extends Pick<ServerProcessOptions, "path" | "launchResult" | "environment" | "onOutput">,
    Pick<ServeOptions, "secret" | "inbox" | "consoleToken"> {
  /** Also called for the first start. */
  onServing: (description: ServerDescription) => void;
  /** Called with the changed files before the server is reloaded. */
  onReload: (paths: readonly string[]) => void;
  /** Called if the server failed to load or exited. `isRestarted`: whether it starts again without a change. */
  onBroken: (problem: { error: WebhookError; isRestarted: boolean }) => void;
  /** The delay before a server that exited is restarted, unless it ran for less than this time. Default `1000`. */
  restartAfterMs?: number;
}

/** Runs a server file, and reloads it when one of its source files changes. */
export class ReloadingServer {
  readonly #options: ReloadingServerOptions;
  readonly #watcher: SourceWatcher;
  /**
   * `restarting`: the process exited and is being restarted, even if no file changed. `broken`: the file did not load,
   * or the process exited soon after its start. The server starts again after a change.
   */
  #state: "loading" | "serving" | "restarting" | "broken" = "loading";
  /** Resolves with the port of the running server, or rejects if the server is broken. */
  #port = createPort();
  #process: ServerProcess | undefined;
  /** The process that is loading the file. */
  #starting: ServerProcess | undefined;
  #loading: Promise<void> | undefined;
  /** Whether a source file changed after the load started. */
  #isStale = false;
  /** Whether a file that was never loaded changed during the load. Such a file can be a missing import. */
  #mayBeFixed = false;
  #isClosed = false;
  #restart: NodeJS.Timeout | undefined;
  #publicUrl: string;
  /** What the console of the last process that stopped showed. */
  #consoleSnapshot: unknown;

  constructor(options: ReloadingServerOptions) {
    this.#options = options;
    this.#publicUrl = options.launchResult.publicUrl;
    this.#watcher = new SourceWatcher({ onChange: ({ paths, isLoaded }) => this.#changed(paths, isLoaded) });
    // Watch the file from the start, because it can fail before it imports other files.
    this.#watcher.add(options.path);
  }

  /** @throws `SERVER_FILE_INVALID` while the file does not load or the server exits soon after its start. */
  waitForPort(): Promise<number> {
    return this.#port.promise;
  }

  setPublicUrl(publicUrl: string): void {
    this.#publicUrl = publicUrl;
    this.#process?.setPublicUrl(publicUrl);
  }

  /** Lets the endpoints with `catchUp` compare, because webhooks were registered or enabled. */
  compareNow(): void {
    this.#process?.compareNow();
  }

  /** Waits until the running handlers have finished or their grace period has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#watcher.close();
    await this.#process?.stop();
  }

  #changed(paths: readonly string[], isLoaded: boolean): void {
    // A broken server can be fixed by a file that was never loaded, such as a missing import.
    if (!isLoaded && this.#state !== "broken") {
      this.#mayBeFixed = this.#state === "loading";
      return;
    }
    this.#options.onReload(paths);
    this.load();
  }

  /** Loads the file, or loads it again. */
  load(): void {
    clearTimeout(this.#restart);
    this.#isStale = true;
    if (this.#loading) {
      this.#starting?.kill();
      return;
    }
    // Requests that wait for a restart also wait for this load.
    if (this.#state === "serving" || this.#state === "broken") this.#port = createPort();
    this.#state = "loading";
    this.#loading = this.#loadUntilFresh().finally(() => {
      this.#loading = undefined;
    });
  }

  async #loadUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      await this.#process?.stop();
      if (this.#isClosed) return;
      this.#isStale = false;
      this.#mayBeFixed = false;
      await this.#startProcess();
    }
  }

  async #startProcess(): Promise<void> {
    try {
      const started = ServerProcess.serve({
        ...this.#options,
        launchResult: { ...this.#options.launchResult, publicUrl: this.#publicUrl },
        consoleSnapshot: this.#consoleSnapshot,
        onConsoleSnapshot: (snapshot) => {
          this.#consoleSnapshot = snapshot;
        },
        onLoading: (loaded) => this.#watcher.add(loaded),
      });
      this.#process = started;
      this.#starting = started;
      const serving = await started.serving();
      if (!this.#isStale && !this.#isClosed) this.#handleServing(started, serving);
    } catch (error) {
      // The process may have loaded a file that was partly written.
      this.#isStale ||= this.#mayBeFixed || this.#watcher.isSettling;
      if (!this.#isStale && !this.#isClosed) this.#handleBroken({ error: toWebhookError(error), isRestarted: false });
    } finally {
      this.#starting = undefined;
    }
  }

  #handleServing(started: ServerProcess, { port, description }: Serving): void {
    const { restartAfterMs = 1_000 } = this.#options;
    const servedAt = performance.now();
    this.#state = "serving";
    this.#port.resolve(port);
    this.#options.onServing(description);
    void started.ended.then(() => {
      if (this.#state !== "serving" || this.#isClosed) return;
      this.#port = createPort();
      // Do not restart a server that exits immediately, because it would exit again and again.
      const isRestarted = performance.now() - servedAt >= restartAfterMs;
      if (isRestarted) this.#restart = setTimeout(() => this.load(), restartAfterMs);
      this.#handleBroken({ error: serverFileInvalid(exitMessage), isRestarted });
    });
  }

  #handleBroken(problem: { error: WebhookError; isRestarted: boolean }): void {
    this.#state = problem.isRestarted ? "restarting" : "broken";
    if (!problem.isRestarted) this.#port.reject(problem.error);
    this.#options.onBroken(problem);
  }
}

function createPort(): PromiseWithResolvers<number> {
  const expected = Promise.withResolvers<number>();
  // Mark a rejection as handled, because there may be no request that waits for this promise.
  expected.promise.catch(() => {});
  return expected;
}

const exitMessage =
  "The server process exited unexpectedly. Check the last lines of the server's output, and fix the cause.";

function toWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const message = `The server process could not be started (${messageOf(error)}). Fix the problem, then save the file again.`;
  return serverFileInvalid(message, { cause: error });
}

interface SourceWatcherOptions {
  /**
   * Called when the last change is `settleMs` old. `isLoaded`: whether `paths` were added with {@link SourceWatcher.add}.
   * Otherwise, all paths are other files in the watched folders.
   */
  onChange: (change: { paths: readonly string[]; isLoaded: boolean }) => void;
  /** Default `80`, because editors write a file in several steps. */
  settleMs?: number;
}

/** Watches source files through their folders, because many editors save a file by replacing it. */
export class SourceWatcher {
  readonly #options: Required<SourceWatcherOptions>;
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  /** The folders that do not exist. The watchers of their parents report when they are created. */
  readonly #missing = new Set<string>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ onChange, settleMs = 80 }: SourceWatcherOptions) {
    this.#options = { onChange, settleMs };
  }

  add(path: string): void {
    // A file can be added after close(), and a new watcher would keep the process alive.
    if (this.#isClosed) return;
    this.#files.add(path);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) this.#watch(folder);
  }

  get isSettling(): boolean {
    return this.#changed.size > 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #watch(folder: string): void {
    const forget = () => {
      this.#folders.get(folder)?.close();
      this.#folders.delete(folder);
    };
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null) return;
        const path = join(folder, basename(name));
        this.#recordChange(path);
        this.#watchCreated(path);
        // The folder itself has changed. If it was deleted, this watcher reports nothing more, even if the folder is created again.
        if (name !== basename(folder)) return;
        forget();
        this.#watch(folder);
      });
      this.#folders.set(folder, watcher);
      this.#missing.delete(folder);
      // A folder that is forgotten is watched again when one of its files is added again.
      watcher.on("error", forget);
    } catch {
      // The folder no longer exists, or the system allows no more watchers. Continue to watch the other folders.
      this.#missing.add(folder);
      const parent = dirname(folder);
      if (!this.#folders.has(parent) && !this.#missing.has(parent)) this.#watch(parent);
    }
  }

  /** Watches a folder that was missing. Its files and folders may have been created before. */
  #watchCreated(folder: string): void {
    if (!this.#missing.has(folder)) return;
    this.#watch(folder);
    if (this.#missing.has(folder)) return;
    for (const file of this.#files) if (dirname(file) === folder) this.#recordChange(file);
    for (const other of [...this.#missing]) if (dirname(other) === folder) this.#watchCreated(other);
  }

  #recordChange(path: string): void {
    if (!this.#files.has(path) && !/\.([mc]?[jt]sx?|json)$/.test(path)) return;
    this.#changed.add(path);
    clearTimeout(this.#timer);
    const timer = setTimeout(() => {
      // If the event loop was blocked, timers run before the events of later changes. Wait for one more turn of the
      // event loop to include these changes.
      setImmediate(() => {
        if (timer === this.#timer && !this.#isClosed) this.#reportChanges();
      });
    }, this.#options.settleMs);
    this.#timer = timer;
  }

  #reportChanges(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    const loaded = changed.filter((path) => this.#files.has(path));
    const isLoaded = loaded.length > 0;
    this.#options.onChange({ paths: isLoaded ? loaded : changed, isLoaded });
  }
}

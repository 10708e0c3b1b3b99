import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { ServerDescription } from "../server-file/protocol.ts";
import {
  ServerProcess,
  type ServerProcessOptions,
  type Serving,
  type SessionSecret,
} from "../server-file/server-process.ts";
import { SourceWatcher } from "./source-watcher.ts";

/** What becomes of the server. */
export interface ReloadingServerEvents {
  /** It serves, for the first time or again. */
  onServing: (description: ServerDescription) => void;
  /** Files have changed, and it is loaded anew. */
  onReload: (paths: readonly string[]) => void;
  /** It does not load, or has ended by itself: why, and whether it is started again without a change. */
  onBroken: (problem: { error: WebhookError; isRestarted: boolean }) => void;
}

/** What a {@link ReloadingServer} is made from. */
export interface ReloadingServerOptions
  extends Pick<ServerProcessOptions, "path" | "launched" | "environment" | "onOutput">,
    ReloadingServerEvents {
  /** Asked for besides those that the server has, or in their place. */
  secret: SessionSecret | undefined;
  /** URL of the inbox, in place of the one that the server names. */
  inbox?: string | undefined;
  /**
   * A server that ends by itself is started again after these milliseconds, unless it had not even served for that long.
   * Default 1,000.
   */
  restartAfterMs?: number;
}

/** Runs a server's file, and runs it anew whenever one of its sources changes. */
export class ReloadingServer {
  readonly #options: ReloadingServerOptions;
  readonly #watcher: SourceWatcher;
  #state: "loading" | "serving" | "broken" = "loading";
  /** Settled once it is known whether the server serves: with its port, or why it does not. */
  #port = expectedPort();
  #process: ServerProcess | undefined;
  /** The process that was started and does not serve yet. */
  #starting: ServerProcess | undefined;
  #loading: Promise<void> | undefined;
  /** Whether what is loaded, or about to be, is older than its sources. */
  #isStale = false;
  /** Whether something has changed, while it was loaded, that it may lack. */
  #mayBeMended = false;
  #isClosed = false;
  #restart: NodeJS.Timeout | undefined;
  #publicUrl: string;

  constructor(options: ReloadingServerOptions) {
    this.#options = options;
    this.#publicUrl = options.launched.publicUrl;
    this.#watcher = new SourceWatcher({ onChange: ({ paths, isLoaded }) => this.#changed(paths, isLoaded) });
    // Also a file that fails before it has loaded anything can be mended.
    this.#watcher.add(options.path);
  }

  /** Loads the file for the first time. */
  start(): void {
    this.#load();
  }

  /**
   * The port on which the server listens now. While it is loaded anew, that is waited for.
   *
   * @throws `SERVER_FILE_INVALID` while its file does not load.
   */
  get port(): Promise<number> {
    return this.#port.promise;
  }

  /** Tells the server, and those that follow it, where they are reached from now on. */
  setPublicUrl(publicUrl: string): void {
    this.#publicUrl = publicUrl;
    this.#process?.setPublicUrl(publicUrl);
  }

  /** Ends the server, once the handlers in work are done or have had their time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#watcher.close();
    await this.#process?.stop();
    await this.#loading;
  }

  #changed(paths: readonly string[], isLoaded: boolean): void {
    if (this.#isClosed) return;
    // What does not load may lack a file that was never loaded.
    if (!isLoaded && this.#state !== "broken") {
      this.#mayBeMended = this.#state === "loading";
      return;
    }
    this.#options.onReload(paths);
    this.#load();
  }

  #load(): void {
    clearTimeout(this.#restart);
    this.#isStale = true;
    if (this.#loading) {
      this.#starting?.kill();
      return;
    }
    if (this.#state !== "loading") this.#port = expectedPort();
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
      this.#mayBeMended = false;
      await this.#startProcess();
    }
  }

  async #startProcess(): Promise<void> {
    const { path, launched, environment, onOutput, secret, inbox } = this.#options;
    const started = ServerProcess.serve({
      path,
      launched: { ...launched, publicUrl: this.#publicUrl },
      ...{ secret, inbox },
      onLoading: (loaded) => this.#watcher.add(loaded),
      ...(environment && { environment }),
      ...(onOutput && { onOutput }),
    });
    this.#process = started;
    this.#starting = started;
    try {
      const serving = await started.serving();
      if (!this.#isStale && !this.#isClosed) this.#served(started, serving);
    } catch (error) {
      // What was loaded may have been half of a file that is being written.
      this.#isStale ||= this.#mayBeMended || this.#watcher.isSettling;
      if (!this.#isStale && !this.#isClosed) this.#broke({ error: asWebhookError(error), isRestarted: false });
    } finally {
      this.#starting = undefined;
    }
  }

  #served(started: ServerProcess, { port, description }: Serving): void {
    const { restartAfterMs = 1_000 } = this.#options;
    const servedAt = performance.now();
    this.#state = "serving";
    this.#port.resolve(port);
    this.#options.onServing(description);
    void started.ended.then(() => {
      if (this.#process !== started || this.#state !== "serving" || this.#isClosed) return;
      this.#port = expectedPort();
      // One that ends as soon as it serves would do so for ever.
      const isRestarted = performance.now() - servedAt >= restartAfterMs;
      if (isRestarted) this.#restart = setTimeout(() => this.#load(), restartAfterMs);
      this.#broke({ error: endedByItself(), isRestarted });
    });
  }

  #broke(problem: { error: WebhookError; isRestarted: boolean }): void {
    this.#state = problem.isRestarted ? "loading" : "broken";
    if (!problem.isRestarted) this.#port.reject(problem.error);
    this.#options.onBroken(problem);
  }
}

function expectedPort(): PromiseWithResolvers<number> {
  const expected = Promise.withResolvers<number>();
  // Nobody may be waiting for it.
  expected.promise.catch(() => {});
  return expected;
}

function endedByItself(): WebhookError {
  return new WebhookError("The server's process has ended by itself: what it said last tells why.", {
    code: "SERVER_FILE_INVALID",
  });
}

function asWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const reason = messageOf(error);
  return new WebhookError(`The server's process cannot be started (${reason}): mend that, and save the file again.`, {
    code: "SERVER_FILE_INVALID",
    cause: error,
  });
}

import { type Duration, toMilliseconds } from "../../core/duration.ts";
import { isTestRun } from "../../core/test-run.ts";
import type { BackgroundWork } from "../background/background-work.ts";
import type { ReceiverConsole } from "../console/receiver-console.ts";
import type { ProcessManager } from "../node/signals.ts";
import type { RunningServer, ServerParts } from "../node/start-server.ts";
import type { MetricsRoute } from "../routes/metrics-route.ts";
import { isPubliclyReachable } from "../security/public-access.ts";
import type { LaunchedServer, LaunchOptions } from "./launch-options.ts";

const defaultGrace: Duration = "30s";

interface LifecycleOptions {
  background: BackgroundWork;
  metrics: MetricsRoute;
  console: ReceiverConsole;
  server: ServerParts;
  /** Replaces the console logger with the logger of a running server. */
  openLogger: () => Promise<void>;
}

/** Prepares, launches, and closes a server. */
export class ServerLifecycle {
  readonly #options: LifecycleOptions;
  #prepared: Promise<void> | undefined;
  /** The launch that is in progress or succeeded. */
  #launching: Promise<RunningServer> | undefined;
  #running: RunningServer | undefined;
  /** Set if the server manages the process (see `LaunchOptions.handleSignals`). */
  #processManager: ProcessManager | undefined;
  #graceMs = toMilliseconds(defaultGrace, "shutdownGrace");
  /** The options of the last launch. */
  #launchOptions: LaunchOptions = {};
  /** Aborted when the server closes. */
  #closing = new AbortController();

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** Whether the server's pages have a public URL. */
  get isPublic(): boolean {
    return isPubliclyReachable(this.#launchOptions);
  }

  /** Whether the server is closed or closing. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The addresses of the launched server; `undefined` while it is not listening. */
  get launchedServer(): LaunchedServer | undefined {
    return this.#running;
  }

  /** Sets up the logger and the metrics once. After a failed call, the next call tries again. */
  prepare(): Promise<void> {
    const prepare = async () => {
      await this.#options.openLogger();
      await this.#options.metrics.open();
    };
    this.#prepared ??= prepare().catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  /** Prepares the server and opens the inbox if necessary, without listening. */
  async ready(): Promise<void> {
    this.#reopen();
    await this.#open();
    this.#options.server.report({ announce: true });
  }

  /**
   * Prepares the server and listens. Until the server is closed, further calls return the result of the first launch. With
   * `mayExit`, a failed launch of a server that manages the process exits the process.
   */
  async launch(options: LaunchOptions, { mayExit = true } = {}): Promise<LaunchedServer> {
    this.#launching ??= this.#launch(options, mayExit);
    const launched = await this.#launching;
    await this.#processManager?.exiting;
    return {
      port: launched.port,
      url: launched.url,
      // A getter, because the URL of a tunnel may change.
      get publicUrl() {
        return launched.publicUrl;
      },
    };
  }

  /**
   * Closes the listener, and then the inbox. Returns whether all requests in progress finished in time. Interrupted
   * background deliveries have no effect on the result, because they run again.
   */
  async close(): Promise<boolean> {
    const { background, server } = this.#options;
    this.#closing.abort();
    background.stopOpening();
    const startedAt = performance.now();
    const launching = this.#launching;
    const launched = await launching?.catch(() => undefined);
    const [complete] = await Promise.all([launched?.close() ?? true, this.#options.console.close(this.#graceMs)]);
    // Closes the inbox after the last request, because the request may still store a delivery. Both share one grace period.
    await background.close(Math.max(0, this.#graceMs - (performance.now() - startedAt)));
    server.refusalLog.flush();
    if (launched && this.#launching === launching) {
      this.#launching = undefined;
      this.#running = undefined;
      this.#processManager?.release();
    }
    return complete;
  }

  /** Prepares the server and opens the inbox if there is a background endpoint. */
  async #open(): Promise<void> {
    const { background, server } = this.#options;
    await this.prepare();
    server.secretCheck.assertUsable();
    await background.openIfNeeded();
  }

  #reopen(): void {
    if (this.isClosed) this.#closing = new AbortController();
  }

  async #launch(options: LaunchOptions, mayExit: boolean): Promise<RunningServer> {
    const { background, server } = this.#options;
    const wasOpen = background.opened !== undefined;
    this.#launchOptions = options;
    this.#reopen();
    const { signal } = this.#closing;
    let processManager: ProcessManager | undefined;
    try {
      if (options.handleSignals ?? !isTestRun()) {
        const { manageProcess } = await import("../node/signals.ts");
        // Before the inbox opens, because queued deliveries then run while the tunnel opens.
        processManager = manageProcess({ close: () => this.close(), log: server.log });
      }
      this.#processManager = processManager;
      await this.#open();
      const { startServer } = await import("../node/start-server.ts");
      this.#graceMs = toMilliseconds(options.shutdownGrace ?? defaultGrace, "shutdownGrace");
      this.#running = await startServer(server, options, { graceMs: this.#graceMs, signal });
      return this.#running;
    } catch (error) {
      this.#launching = undefined;
      // A server that is not listening must not run deliveries.
      if (!wasOpen) await background.close(this.#graceMs);
      processManager?.release();
      if (mayExit) processManager?.exitAfter(error);
      throw error;
    }
  }
}

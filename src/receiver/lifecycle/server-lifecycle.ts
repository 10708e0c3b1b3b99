import { type Duration, toMilliseconds } from "../../core/duration.ts";
import { WebhookError } from "../../core/errors.ts";
import { isTestRun } from "../../core/test-run.ts";
import type { BackgroundWork } from "../background/background-work.ts";
import type { RunningServer, ServerParts } from "../node/start-server.ts";
import type { MetricsRoute } from "../routes/metrics-route.ts";
import { isPubliclyReachable } from "../security/public-access.ts";
import type { LaunchedServer, LaunchOptions } from "./launch-options.ts";

const defaultGrace: Duration = "30s";

interface LifecycleOptions {
  background: BackgroundWork;
  metrics: MetricsRoute;
  server: ServerParts;
  /** Replaces the logger of the console with the logger of a running server. */
  openLogger: () => Promise<void>;
}

/** Prepares, launches and closes a server. */
export class ServerLifecycle {
  readonly #options: LifecycleOptions;
  #prepared: Promise<void> | undefined;
  /** The launch that is in progress or succeeded. */
  #launching: Promise<RunningServer> | undefined;
  #running: RunningServer | undefined;
  #stopHandlingSignals: (() => void) | undefined;
  #graceMs = toMilliseconds(defaultGrace, "shutdownGrace");
  /** The options of the last launch. */
  #launchOptions: LaunchOptions = {};
  #isClosed = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** Whether the pages of the server have a public URL. */
  get isPublic(): boolean {
    return isPubliclyReachable(this.#launchOptions);
  }

  /** Whether the server is closed or closing. */
  get isClosed(): boolean {
    return this.#isClosed;
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
    await this.#open();
    this.#options.server.report({ announce: true });
  }

  /**
   * Prepares the server and listens. Until the server is closed, further calls return the result of the first launch.
   */
  async launch(options: LaunchOptions): Promise<LaunchedServer> {
    this.#launching ??= this.#launch(options);
    const launched = await this.#launching;
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
    this.#isClosed = true;
    const startedAt = performance.now();
    const launching = this.#launching;
    const launched = await launching?.catch(() => undefined);
    const complete = (await launched?.close()) ?? true;
    // Closes the inbox after the last request, because the request may still store a delivery. Both share one grace period.
    await background.close(Math.max(0, this.#graceMs - (performance.now() - startedAt)));
    server.refusalLog.flush();
    if (launched && this.#launching === launching) {
      this.#launching = undefined;
      this.#running = undefined;
      this.#stopHandlingSignals?.();
    }
    return complete;
  }

  /** Prepares the server and opens the inbox if there is a background endpoint. */
  async #open(): Promise<void> {
    const { background, server } = this.#options;
    this.#isClosed = false;
    await this.prepare();
    server.secretCheck.assertUsable();
    await background.openIfNeeded();
  }

  async #launch(options: LaunchOptions): Promise<RunningServer> {
    const { background, server } = this.#options;
    const { log } = server;
    const handlesSignals = options.handleSignals ?? !isTestRun();
    const wasOpen = background.opened !== undefined;
    this.#launchOptions = options;
    try {
      await this.#open();
      const { startServer } = await import("../node/start-server.ts");
      this.#graceMs = toMilliseconds(options.shutdownGrace ?? defaultGrace, "shutdownGrace");
      const running = await startServer(server, options, { graceMs: this.#graceMs });
      this.#running = running;
      if (handlesSignals) {
        const { handleSignals } = await import("../node/signals.ts");
        this.#stopHandlingSignals = handleSignals({ close: () => this.close(), log });
      }
      return running;
    } catch (error) {
      this.#launching = undefined;
      // A server that is not listening must not run deliveries.
      if (!wasOpen) await background.close(this.#graceMs);
      const mayExit = handlesSignals && typeof process !== "undefined";
      if (!WebhookError.isInstance(error) || !mayExit) throw error;
      log.error({ code: error.code }, error.message);
      process.exit(1);
    }
  }
}

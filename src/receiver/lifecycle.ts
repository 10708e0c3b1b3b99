import { isTestRun, readEnvironment } from "../core/environment.ts";
import { minRedactedLength } from "../core/log.ts";
import { toMilliseconds } from "../core/options.ts";
import { loadOnce } from "../core/time.ts";
import type { ServerCatchUp } from "./catch-up.ts";
import type { ServerContext } from "./context.ts";
import type { Endpoint } from "./endpoint.ts";
import type { BackgroundWork } from "./inbox.ts";
import type { LoadNodeLogger } from "./logs.ts";
import type { ProcessManager, RunningServer, ServerParts } from "./node/start-server.ts";
import type { LaunchedServer, LaunchOptions } from "./options.ts";
import type { MetricsRoute } from "./routes.ts";

export type StartupReport = ReturnType<typeof createStartupReport>;

/** Logs the settings that are probably mistakes, and whether the endpoints require a secret. Logs them only once. */
export function createStartupReport({ endpoints, secretCheck, ownerCheck, redaction, log }: ServerContext) {
  /** The calls without a handler whose results have not been applied as decorators. */
  const unapplied = new Set<{ readonly call: string }>();
  let isLogged = false;
  const warnUnapplied = (call: string) => {
    log.warn(
      `${call} has no handler, so it registers no endpoint. Pass the handler as the last argument, or decorate a method with the call.`,
    );
  };
  const logWarnings = ({ name, warnings }: Endpoint) => {
    for (const warning of warnings) log.warn({ endpoint: name }, warning);
  };
  return {
    /**
     * Logs the report at the first call. An edge worker passes its `bindings` with each request. Without `announce`, only
     * mistakes are logged.
     */
    log(bindings?: unknown, { announce } = { announce: true }): void {
      if (isLogged) return;
      isLogged = true;
      for (const endpoint of endpoints.all) logWarnings(endpoint);
      for (const { call } of unapplied) warnUnapplied(call);
      for (const warning of secretCheck.warnings(bindings)) log.warn(warning);
      if (redaction.shortNames.length > 0) {
        log.warn(
          { code: "SECRET_TOO_SHORT" },
          `Secrets with fewer than ${minRedactedLength} characters are not redacted in logs: ${redaction.shortNames.join(", ")}. Use longer ones, such as from "openssl rand -hex 32".`,
        );
      }
      const problem = secretCheck.problem(bindings);
      for (const found of [problem, ownerCheck.problem(bindings)]) {
        if (found) log.error({ code: found.code }, found.message);
      }
      if (problem || !announce) return;
      if (secretCheck.isSecretDisabled) {
        log.info("The endpoints are open to everyone, because { secret: false } is set.");
      } else if (secretCheck.isSet(bindings)) {
        log.info("A webhook secret is set. Deliveries without the secret are refused.");
      } else {
        log.warn(
          "No webhook secret is set, so the endpoints are open to everyone. Set WEBHOOK_SECRET (in a Space: Settings, Variables and secrets) or pass { secret }, and the same secret on the webhook.",
        );
      }
    },
    added(endpoint: Endpoint): void {
      if (isLogged) logWarnings(endpoint);
    },
    /**
     * Records a `webhook` call without a handler, whose result should be applied as a decorator. Logs a warning unless the
     * caller calls the returned function when the decorator is applied.
     */
    trackDecoratorCall(call: string): () => void {
      const expected = { call };
      unapplied.add(expected);
      // Decorators are applied while their class is defined, before this microtask runs.
      if (isLogged) queueMicrotask(() => unapplied.has(expected) && warnUnapplied(call));
      return () => void unapplied.delete(expected);
    },
  };
}

const defaultGraceMs = 30_000;

interface LifecycleParts extends ServerParts {
  background: BackgroundWork;
  catchUp: () => Promise<ServerCatchUp>;
  metrics: MetricsRoute;
  loadNodeLogger: LoadNodeLogger;
  loadStart: () => Promise<typeof import("./node/start-server.ts")>;
}

export class ServerLifecycle {
  readonly #context: ServerContext;
  readonly #parts: LifecycleParts;
  /** Sets up the logger and the metrics once. After a failed call, the next call tries again. */
  readonly prepare: () => Promise<void> = loadOnce(async () => {
    await this.#context.openLogger(this.#parts.loadNodeLogger);
    await this.#parts.metrics.open();
  });
  #launching: Promise<RunningServer> | undefined;
  /** Set while the server closes. */
  #closing: Promise<boolean> | undefined;
  /** Set if missed deliveries are derived. */
  #catchUp: Promise<ServerCatchUp> | undefined;
  /** Set if the server manages the process (see `LaunchOptions.handleSignals`). */
  #processManager: ProcessManager | undefined;
  #graceMs = defaultGraceMs;

  constructor(context: ServerContext, parts: LifecycleParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Prepares the server and opens the inbox if necessary, without listening. */
  async ready(): Promise<void> {
    const signal = await this.#reopen();
    await this.#open(signal);
    this.#parts.report.log();
  }

  /** Compares the endpoints that catch up now, because their webhooks did not deliver for some time. */
  async compareNow(): Promise<void> {
    (await this.#catchUp)?.compareNow();
  }

  /**
   * Prepares the server and listens. Until the server is closed, further calls return the result of the first launch. With
   * `mayExit`, a failed launch of a server that manages the process exits the process.
   */
  async launch(options: LaunchOptions, { mayExit = true } = {}): Promise<LaunchedServer> {
    this.#launching ??= this.#launch(options, mayExit);
    const { launched } = await this.#launching.finally(() => this.#processManager?.exiting);
    const { port, url } = launched;
    return {
      port,
      url,
      get publicUrl() {
        return launched.publicUrl;
      },
    };
  }

  /**
   * Closes the listener, and then the inbox. Returns whether all requests in progress finished in time. Interrupted
   * background deliveries have no effect on the result, because they run again.
   */
  close(): Promise<boolean> {
    this.#context.closing.abort();
    // A second call shares the result of the first one, unless the server was launched in between.
    if (!this.#closing || this.#launching) {
      const closing = this.#close().finally(() => {
        if (this.#closing === closing) this.#closing = undefined;
      });
      this.#closing = closing;
    }
    return this.#closing;
  }

  async #close(): Promise<boolean> {
    const { background, console } = this.#parts;
    const launching = this.#launching;
    this.#launching = undefined;
    await (await this.#catchUp?.catch(() => undefined))?.close();
    background.stopOpening();
    const startedAt = performance.now();
    const running = await launching?.catch(() => undefined);
    const [complete] = await Promise.all([running?.close() ?? true, console.close(this.#graceMs)]);
    // Closes the inbox after the last request, because the request may still store a delivery. Both share one grace period.
    await background.close(Math.max(0, this.#graceMs - (performance.now() - startedAt)));
    this.#context.refusalLog.flush();
    this.#context.launched = undefined;
    this.#processManager?.release();
    return complete;
  }

  /** Logs an error that needs a restart. A server that manages the process exits. */
  fail(error: unknown): void {
    this.#processManager?.exitAfter(error);
    this.#context.log.error({ err: error }, "The server cannot open its inbox. Fix the problem, then restart.");
  }

  /**
   * Prepares the server, opens the inbox if there is a background endpoint, and starts to derive missed deliveries if an endpoint or
   * the launch has the option. `listening`: see `ServerCatchUp.start`.
   */
  async #open(signal: AbortSignal, listening?: Promise<unknown>): Promise<void> {
    await this.prepare();
    const { secretCheck, ownerCheck, endpoints, launchOptions } = this.#context;
    secretCheck.assertUsable();
    ownerCheck.assertUsable();
    // A server that was closed in the meantime must not open its inbox, which nothing would close.
    if (!signal.aborted) await this.#parts.background.openIfNeeded();
    const { poll } = launchOptions;
    const isPolling = (poll ?? readEnvironment("POLL")) !== undefined;
    if (signal.aborted || (!isPolling && endpoints.all.every(({ catchUp }) => !catchUp))) return;
    this.#catchUp = this.#parts.catchUp();
    await (await this.#catchUp).start(poll, listening);
  }

  /** Returns the signal that the next `close()` aborts, after an earlier one has ended. */
  async #reopen(): Promise<AbortSignal> {
    const context = this.#context;
    if (context.isClosed) context.closing = new AbortController();
    const { signal } = context.closing;
    await this.#closing?.catch(() => {});
    return signal;
  }

  async #launch(options: LaunchOptions, mayExit: boolean): Promise<RunningServer> {
    const context = this.#context;
    const { background } = this.#parts;
    const signal = await this.#reopen();
    const wasOpen = background.opened !== undefined;
    context.launchOptions = options;
    const listening = Promise.withResolvers<void>();
    let processManager: ProcessManager | undefined;
    try {
      const { manageProcess, startServer } = await this.#parts.loadStart();
      // Before the inbox opens, because queued deliveries then run while the tunnel opens.
      if (options.handleSignals ?? !isTestRun()) processManager = manageProcess(() => this.close(), context.log);
      this.#processManager = processManager;
      this.#graceMs = toMilliseconds(options.shutdownGrace ?? defaultGraceMs, "shutdownGrace");
      await this.#open(signal, listening.promise);
      const running = await startServer(context, { parts: this.#parts, graceMs: this.#graceMs, signal });
      context.launched = running.launched;
      listening.resolve();
      return running;
    } catch (error) {
      await (await this.#catchUp?.catch(() => undefined))?.close();
      // A server that is not listening must not run deliveries.
      if (!wasOpen) await background.close(this.#graceMs).catch(() => {});
      if (!signal.aborted) this.#launching = undefined;
      processManager?.release();
      // A signal stopped the launch, and its handler exits the process.
      if (mayExit && !processManager?.exiting) processManager?.exitAfter(error);
      throw error;
    }
  }
}

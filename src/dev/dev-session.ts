import { relative } from "node:path";
import { messageOf } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { untilAborted } from "../core/time.ts";
import { defaultPort, webhooksPath } from "../core/urls.ts";
import type { ServerDescription } from "../receiver/control.ts";
import type { ReconcileInput, TemporaryWebhooks } from "../registration/temporary.ts";
import { sourceFolder } from "../server-file/load-failure.ts";
import { createReachabilityCheck } from "../tunnel/reachability-check.ts";
import { openReconnectingTunnel, type Tunnel } from "../tunnel/tunnel.ts";
import { DevConsole } from "./console/dev-console.ts";
import { localHubParts, realHubParts } from "./console/hub-parts.ts";
import {
  createEmitter,
  type DevState,
  foreignHost,
  type ReplayResult,
  sessionNotStored,
  takenPorts,
} from "./dev-event.ts";
import { type DevHub, openDevHub, openWebhookState } from "./dev-hub.ts";
import { type DevConfig, devInboxUrl, resolveDevOptions, type StartDevOptions } from "./dev-options.ts";
import { type DevProxy, openDevProxy } from "./dev-proxy.ts";
import { ReloadingServer } from "./reloading-server.ts";
import { StoredSession } from "./session-file.ts";
import {
  type ConsoleState,
  describeForConsole,
  describeProblem,
  describeState,
  effectiveWatch,
} from "./session-state.ts";
import { WebhookReconciler } from "./webhook-reconciler.ts";

/**
 * A dev session, which runs a server file, reloads the file on changes, and manages temporary webhooks for its
 * endpoints.
 */
export interface DevSession extends AsyncDisposable {
  /** The current URLs and endpoints. */
  readonly state: DevState;
  /** Creates a link that opens the console and signs in. The link is valid once, for one hour. */
  createConsoleLink(): string;
  /**
   * The secret that was generated for this session. `undefined` if the server has its own secret or the session has a
   * public URL. Set the header `X-Webhook-Secret` of your own test requests to this secret. The local Hub and
   * `hub-webhooks trigger` set the header automatically.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery again with a new ID. Returns `undefined` if there is no delivery yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load; `NO_RESPONSE` if the server does not answer.
   */
  replay(): Promise<ReplayResult | undefined>;
  /** Deletes the session's webhooks, closes the tunnel, and stops the server. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Runs a server file like `hub-webhooks dev`. The session has a stable URL, reloads the file on every change, and
 * creates temporary webhooks that are deleted at the end. Resolves when deliveries can arrive, after a test request
 * through the public URL has succeeded.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, errors of the Hub
 * (`HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
export async function startDev(options: StartDevOptions = {}): Promise<DevSession> {
  const { signal = new AbortController().signal } = options;
  signal.throwIfAborted();
  const session = new Session(resolveDevOptions(options));
  try {
    await untilAborted(session.open(), signal);
    // The signal can abort between the end of `open` and this line.
    signal.throwIfAborted();
  } catch (error) {
    await session.close();
    throw error;
  }
  signal.addEventListener("abort", () => void session.close(), { signal: session.closing });
  return session;
}

/** Opens the parts of a session, reacts to their events, and closes them in reverse order. */
class Session implements DevSession {
  readonly #config: DevConfig;
  readonly #parts = new OpenParts();
  readonly #emit: ReturnType<typeof createEmitter>;
  readonly #console: DevConsole;
  readonly #check = createReachabilityCheck();
  readonly #firstServing = Promise.withResolvers<void>();
  /** Resolves when the webhooks exist. */
  readonly #ready = Promise.withResolvers<void>();
  #proxy: DevProxy | undefined;
  #hub: DevHub | undefined;
  #server: ReloadingServer | undefined;
  #tunnel: Tunnel | undefined;
  #webhooks: WebhookReconciler | undefined;
  #stored: StoredSession | undefined;
  #description: ServerDescription = { endpoints: [] };
  #consoleState: ConsoleState = { state: "loading" };
  #isReady = false;

  constructor(config: DevConfig) {
    this.#config = config;
    this.#emit = createEmitter(config.onEvent, this.#parts.signal);
    this.#console = new DevConsole({
      describe: () => describeForConsole(config, this.state, this.#consoleState),
      serverPort: () => requireOpen(this.#server).waitForPort(),
      folder: sourceFolder(config.path),
      onProblem: (error) => {
        // The console shows the errors of this package itself.
        if (WebhookError.isInstance(error)) return;
        this.#emitProblem({ code: "INTERNAL", message: `The console failed. ${messageOf(error)}` });
      },
      onLinkUsed: () => this.#emit({ event: "signedIn" }),
    });
    this.#firstServing.promise.catch(() => {});
  }

  get state(): DevState {
    const url = this.#proxy?.url ?? "";
    return describeState({
      config: this.#config,
      url,
      publicUrl: this.#tunnel?.url ?? url,
      hubUrl: this.#hub?.client.hubUrl ?? "",
      inbox: this.#inboxUrl(this.#proxy?.port),
      endpoints: this.#description.endpoints,
    });
  }

  get secret(): string | undefined {
    const { text, mode } = this.#config.secret;
    return mode === "fallback" && this.#description.secret === text ? text : undefined;
  }

  /** Aborts when the session is closed. */
  get closing(): AbortSignal {
    return this.#parts.signal;
  }

  createConsoleLink(): string {
    return this.#console.createSignInLink(requireOpen(this.#proxy).url);
  }

  open(): Promise<void> {
    return this.#parts.track(this.#open());
  }

  async #open(): Promise<void> {
    // The URL stays the same for the whole session. Requests wait until the server is running.
    const proxy = await this.#openProxy();
    const hub = await this.#openHub();
    for (const problem of takenPorts(this.#config, { proxy, hubUrl: hub.client.hubUrl })) this.#emit(problem);
    const server = await this.#startServer({ proxy, hub });
    // Open the tunnel and the state file, and load the server, in parallel, because each of them takes seconds. The first
    // failure rejects. Nothing is created on the Hub yet.
    const [tunnel, temporary] = await Promise.all([
      this.#parts.track(this.#openPublicAddress(proxy)),
      this.#config.isPolling ? undefined : this.#parts.track(this.#openWebhookState({ proxy, hub })),
      this.#firstServing.promise,
    ]);
    server.setPublicUrl(tunnel.url);
    if (temporary) await this.#keepWebhooks(temporary, tunnel);
    this.#parts.signal.throwIfAborted();
    this.#isReady = true;
    this.#ready.resolve();
    this.#emit({ event: "ready", ...this.state });
  }

  #emitProblem({ code, message }: { code: string; message: string }): void {
    this.#emit({ event: "problem", code, message });
  }

  #updateConsole(state: Partial<ConsoleState>): void {
    this.#consoleState = { ...this.#consoleState, ...state };
    this.#console.stateChanged();
  }

  async #openProxy(): Promise<DevProxy> {
    const proxy = await openDevProxy({
      port: this.#config.port,
      reachabilityCheck: this.#check,
      console: ({ incoming, outgoing }) => this.#console.handle(incoming, outgoing),
      // The user's own public URL can have any host.
      allowAnyHost: this.#config.publicUrl !== undefined,
      onForeignHost: (host) => this.#emit(foreignHost(host, requireOpen(this.#proxy).url)),
      serverPort: () => this.#waitForPort(),
      onDelivery: (delivery) => this.#emit({ event: "delivery", ...delivery }),
      onProblem: (message) => this.#emitProblem({ code: "REQUEST_REFUSED", message }),
    });
    this.#proxy = proxy;
    await this.#parts.add(proxy);
    await this.#parts.add(this.#console);
    return proxy;
  }

  async #openHub(): Promise<DevHub> {
    const { isPublic } = this.#config;
    const { promise: ready } = this.#ready;
    const hub = await openDevHub({ ...this.#config, allowRemote: isPublic, ready, signal: this.#parts.signal });
    this.#hub = hub;
    await this.#parts.add(hub);
    this.#console.open(
      hub.localHub
        ? localHubParts(hub.localHub, {
            events: this.#console.events,
            endpoints: () => this.#description.endpoints,
            urlOf: (endpoint) => `${this.state.publicUrl}${webhooksPath}${endpoint}`,
          })
        : realHubParts({
            server: () => this.#watchingServer(),
            file: relative(process.cwd(), this.#config.path),
            url: () => requireOpen(this.#proxy).url,
            hubUrl: hub.client.hubUrl,
            serverPort: () => this.#waitForPort(),
            signal: this.#parts.signal,
          }),
    );
    return hub;
  }

  /** Returns the server with the watch lists of its webhooks. */
  #watchingServer(): ServerDescription {
    const { endpoints, secret } = this.#description;
    return {
      secret,
      endpoints: endpoints.map((endpoint) => ({ ...endpoint, watch: effectiveWatch(endpoint, this.#config) })),
    };
  }

  /** Called for each request, because every reload changes the port. */
  async #waitForPort(): Promise<number> {
    // The proxy and the console are open before the server is created.
    if (!this.#server) await this.#firstServing.promise;
    return requireOpen(this.#server).waitForPort();
  }

  async #startServer({ proxy, hub }: { proxy: DevProxy; hub: DevHub }): Promise<ReloadingServer> {
    const { path, environment, publicUrl, secret } = this.#config;
    const server = new ReloadingServer({
      path,
      secret,
      inbox: this.#inboxUrl(proxy.port),
      consoleToken: this.#console.serverToken,
      launchResult: { port: proxy.port, url: proxy.url, publicUrl: proxy.url },
      // With the user's own public URL, the whole server is public, including the console.
      environment: { ...environment, ...hub.environment, ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }) },
      onOutput: (line) => {
        this.#console.addOutput(line);
        this.#emit({ event: "output", ...line });
      },
      onReload: (files) => {
        this.#updateConsole({ state: "loading", problem: undefined });
        this.#emit({ event: "reloading", files });
      },
      onServing: (description) => this.#handleServing(description),
      onBroken: ({ error, isRestarted }) => this.#handleBroken(error, isRestarted),
    });
    this.#server = server;
    await this.#parts.add(server);
    const stored = { port: proxy.port, localHubUrl: hub.localHub && hub.client.hubUrl };
    this.#stored = new StoredSession(stored, (error) => this.#emit(sessionNotStored(error)));
    await this.#parts.add(this.#stored);
    server.load();
    return server;
  }

  /** Opens the tunnel. Without a tunnel, only checks that the public URL, or else the local URL, is reachable. */
  async #openPublicAddress(proxy: DevProxy): Promise<Tunnel> {
    const { tunnel: tunnelOptions, publicUrl } = this.#config;
    const options =
      tunnelOptions === false
        ? { existingUrl: publicUrl ?? proxy.url, port: proxy.port }
        : { ...tunnelOptions, port: proxy.publicPort };
    const tunnel = await openReconnectingTunnel(
      { ...options, signal: this.#parts.signal },
      { reachabilityCheck: this.#check },
    );
    this.#tunnel = tunnel;
    await this.#parts.add(tunnel);
    tunnel.on("down", (error) => {
      this.#updateConsole({ tunnelProblem: error.message });
      this.#emit({ event: "down", reason: error.message });
    });
    tunnel.on("error", (error) => {
      if (tunnel.status === "up") this.#emitProblem(error);
    });
    tunnel.on("urlChanged", (publicUrl) => {
      this.#server?.setPublicUrl(publicUrl);
      this.#emit({ event: "urlChanged", publicUrl });
    });
    // Update the webhooks, because the Hub may have suspended them while the tunnel was down, and the public URL may
    // have changed.
    tunnel.on("up", () => {
      this.#updateConsole({ tunnelProblem: undefined });
      this.#emit({ event: "up", publicUrl: tunnel.url });
      // Deliveries that could not arrive may have had their last attempt, also if no webhook was suspended.
      void this.#updateWebhooks().then(() => this.#server?.compareNow());
    });
    return tunnel;
  }

  async #openWebhookState({ proxy, hub }: { proxy: DevProxy; hub: DevHub }): Promise<TemporaryWebhooks> {
    const { path, answer } = this.#check;
    const { webhooks, release } = await openWebhookState(hub, {
      state: this.#config.state,
      alive: { url: `${proxy.url}${path}`, answer },
      signal: this.#parts.signal,
      onSteps: (steps) => this.#emit({ event: "webhooks", steps }),
      onProblem: (problem) => this.#emitProblem(problem),
    });
    // Release the state file last, because the other parts write to the file until they are closed.
    this.#parts.addFinalCloser(release);
    return webhooks;
  }

  /** Creates the webhooks, and repairs them while the session runs. */
  async #keepWebhooks(temporary: TemporaryWebhooks, tunnel: Tunnel): Promise<void> {
    const webhooks = new WebhookReconciler({
      webhooks: temporary,
      onSteps: (steps) => {
        this.#emit({ event: "webhooks", steps });
        this.#server?.compareNow();
      },
      onProblem: (error) => this.#emitProblem(error),
    });
    this.#webhooks = webhooks;
    await this.#parts.add(webhooks);
    await webhooks.start(this.#reconcileInput(tunnel));
    // The server may have compared before its webhooks existed.
    this.#server?.compareNow();
    const repairs = setInterval(() => void webhooks.repair(), this.#config.repairIntervalMs);
    this.#parts.addCloser(async () => clearInterval(repairs));
  }

  async replay(): Promise<ReplayResult | undefined> {
    return requireOpen(this.#proxy).replay();
  }

  close(): Promise<void> {
    const closed = this.#parts.close();
    this.#firstServing.reject(this.#parts.signal.reason);
    return closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Never rejects: retryable failures are retried in the background. */
  async #updateWebhooks(): Promise<void> {
    if (this.#webhooks && this.#tunnel) await this.#webhooks.update(this.#reconcileInput(this.#tunnel));
  }

  #reconcileInput(tunnel: Tunnel): ReconcileInput {
    return {
      endpoints: this.#watchingServer().endpoints.filter(({ watch }) => watch.length > 0),
      publicUrl: tunnel.url,
      secret: this.#description.secret ?? null,
    };
  }

  #handleServing(description: ServerDescription): void {
    this.#description = description;
    this.#updateConsole({ state: "serving", problem: undefined });
    // The page that sends events lists the endpoints.
    this.#console.events.changed("send");
    void this.#server?.waitForPort().then(
      (serverPort) => this.#console.relay(serverPort),
      () => {},
    );
    this.#stored?.store(description.secret);
    this.#firstServing.resolve();
    void this.#updateWebhooks().then(() => {
      if (this.#isReady) this.#emit({ event: "reloaded", endpoints: this.state.endpoints });
    });
  }

  #handleBroken(error: WebhookError, isRestarted: boolean): void {
    this.#updateConsole({ state: "broken", problem: describeProblem({ error, isRestarted }) });
    if (!this.#isReady && !this.#config.waitForFile) this.#firstServing.reject(error);
    else {
      const stack = error.cause instanceof Error ? error.cause.stack : undefined;
      this.#emit({ event: "broken", reason: error.message, ...(stack !== undefined && { stack }), isRestarted });
    }
  }

  #inboxUrl(port = defaultPort): string {
    return this.#config.inbox ?? devInboxUrl(port);
  }
}

function requireOpen<Part>(part: Part | undefined): Part {
  if (part) return part;
  const message = "The session is not open. Wait for startDev() to resolve, or start a new session.";
  throw new WebhookError(message, { code: "NOT_READY" });
}

/**
 * The open parts of a session. Parts are closed in reverse order, including parts that finish opening while the session
 * is being closed.
 */
export class OpenParts {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #opening: Promise<unknown>[] = [];
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** Aborts with the code `CLOSING` when the session is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Adds an open part, or closes it if the session is already closed.
   *
   * @throws `CLOSING` if the session is already closed.
   */
  async add(part: { close(): Promise<void> }): Promise<void> {
    if (this.signal.aborted) {
      await part.close();
      throw this.signal.reason;
    }
    this.addCloser(() => part.close());
  }

  /** Adds a function that runs before earlier parts are closed. */
  addCloser(closer: () => Promise<void>): void {
    this.#closers.push(closer);
  }

  /** Adds a function that runs after all parts are closed. */
  addFinalCloser(closer: () => Promise<void>): void {
    this.#closers.unshift(closer);
  }

  /** Makes {@link close} wait for a promise that opens parts. */
  track<Result>(opening: Promise<Result>): Promise<Result> {
    this.#opening.push(opening);
    return opening;
  }

  /** Aborts {@link signal} and closes all parts. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort(new WebhookError("The session was closed while it started.", { code: "CLOSING" }));
    try {
      await this.#closeOpened();
    } finally {
      await Promise.allSettled(this.#opening);
      // Close again, because parts that were still opening may have added closers.
      await this.#closeOpened();
    }
  }

  async #closeOpened(): Promise<void> {
    const closer = this.#closers.pop();
    try {
      await closer?.();
    } finally {
      if (closer) await this.#closeOpened();
    }
  }
}

import { inspect } from "node:util";
import { defaultHubPort, defaultPort } from "../core/defaults.ts";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { maskUrl } from "../core/urls.ts";
import type { KnownWatched } from "../payload/watch.ts";
import { dashboardPath } from "../receiver/dashboard/serve.ts";
import { webhooksPath } from "../receiver/delivery-request.ts";
import type { ServerDescription } from "../receiver/server-control.ts";
import type { TemporaryWebhooks } from "../registration/temporary-webhooks.ts";
import { createReachabilityCheck, type ReachabilityCheck } from "../tunnel/reachability-check.ts";
import { type OpenTunnelOptions, openCheckedTunnel, type Tunnel } from "../tunnel/tunnel.ts";
import type { DevEvent, DevState, ReplayResult } from "./dev-event.ts";
import { type DevHub, openDevHub } from "./dev-hub.ts";
import { type DevConfig, devInboxUrl, resolveDevOptions, type StartDevOptions } from "./dev-options.ts";
import { DevProxy } from "./dev-proxy.ts";
import { defaultWatch, suggestTrigger } from "./endpoint-defaults.ts";
import { ReloadingServer } from "./reloading-server.ts";
import { storeSessionSecret } from "./secret-file.ts";
import { type DesiredWebhooks, openSessionWebhooks, WebhookReconciler } from "./session-webhooks.ts";

/** A running server file that is reloaded when it changes, with its webhooks, until it is closed. */
export interface DevSession extends AsyncDisposable {
  /** The current addresses and endpoints. */
  readonly state: DevState;
  /**
   * The secret that was generated for this session, if the server has none and is not public. Send it as
   * `X-Webhook-Secret` with your own deliveries. The local Hub and `hub-webhooks trigger` send it automatically.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery again with a new id. Returns `undefined` if there is none yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load.
   */
  replay(): Promise<ReplayResult | undefined>;
  /** Deletes the webhooks of the session, closes the tunnel and stops the server. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Runs a server file as `hub-webhooks dev` does: at a stable address, with a reload on every change, and with temporary
 * webhooks on a Hub that are deleted at the end. Resolves when deliveries arrive: a test request through the public address
 * was answered.
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
  const { signal } = options;
  signal?.throwIfAborted();
  const session = new Session(options, resolveDevOptions(options));
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([session.open(), aborted.promise]);
  } catch (error) {
    await session.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  signal?.addEventListener("abort", () => void session.close(), { once: true });
  return session;
}

/** The parts of an open session. */
interface Parts {
  proxy: DevProxy;
  hub: DevHub;
  server: ReloadingServer;
  tunnel: Tunnel;
  reconciler: WebhookReconciler;
}

class Session implements DevSession {
  readonly #options: StartDevOptions;
  readonly #config: DevConfig;
  readonly #parts: Partial<Parts> = {};
  /** Close the opened parts, the latest first. */
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #firstServing = Promise.withResolvers<void>();
  #description: ServerDescription = { endpoints: [] };
  #isReady = false;
  #isSecretStored = false;
  #closed: Promise<void> | undefined;
  /** Cancels the opening of parts. */
  readonly #ending = new AbortController();
  /** Parts that are being opened. They close themselves if the session is closed meanwhile. */
  readonly #opening: Promise<unknown>[] = [];

  constructor(options: StartDevOptions, config: DevConfig) {
    this.#options = options;
    this.#config = config;
    this.#firstServing.promise.catch(() => {});
  }

  get state(): DevState {
    const { proxy, hub, tunnel } = this.#parts;
    const publicUrl = tunnel?.url ?? proxy?.url ?? "";
    const hasBackground = this.#description.endpoints.some(({ background }) => background);
    return {
      url: proxy?.url ?? "",
      publicUrl,
      hub: { kind: this.#config.isReal ? "real" : "local", url: hub?.client.endpoint ?? "" },
      ...(hasBackground && { console: `${proxy?.url ?? ""}${dashboardPath}`, inbox: maskUrl(this.#inbox(proxy)) }),
      endpoints: this.#description.endpoints.map((endpoint) => {
        const watched = this.#watchOf(endpoint);
        const trigger = this.#config.isReal ? undefined : suggestTrigger({ endpoint, watched });
        return {
          name: endpoint.name,
          url: `${publicUrl}${webhooksPath}${endpoint.name}`,
          watch: watched.map(({ type, name }) => `${type}:${name}`),
          ...(trigger && { trigger }),
        };
      }),
    };
  }

  get secret(): string | undefined {
    const { text, use } = this.#config.secret;
    return use === "where-open" && this.#description.secret === text ? text : undefined;
  }

  open(): Promise<void> {
    const opening = this.#open();
    this.#opening.push(opening);
    return opening;
  }

  async #open(): Promise<void> {
    const { path, tunnel: tunnelOptions, publicUrl, isPublic, secret, repairIntervalMs } = this.#config;
    const reachabilityCheck = createReachabilityCheck();
    const proxy = await DevProxy.open({
      port: this.#options.port,
      reachabilityCheck,
      // The user's own address may have any host.
      allowAnyHost: publicUrl !== undefined,
      onForeignHost: (host) => this.#emitProblem(foreignHost(host, this.#part("proxy").url)),
      // The server is created after the proxy.
      serverPort: () => this.#parts.server?.port ?? this.#firstServing.promise.then(() => this.#part("server").port),
      onDelivery: (delivery) => this.#emit({ event: "delivery", ...delivery }),
      onProblem: (message) => this.#emit({ event: "problem", code: "REQUEST_REFUSED", message }),
    });
    await this.#add("proxy", proxy);
    const hub = await openDevHub({ ...this.#options, allowRemote: isPublic, signal: this.#ending.signal });
    await this.#add("hub", hub);
    this.#reportTakenPorts({ proxy, hub });
    const server = new ReloadingServer({
      path,
      launchResult: { port: proxy.port, url: proxy.url, publicUrl: proxy.url },
      // With the user's own address, the whole server is public, including the dashboard.
      environment: { ...hub.environment, ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }) },
      ...{ secret, inbox: this.#inbox(proxy) },
      onOutput: (line) => this.#emit({ event: "output", ...line }),
      onReload: (files) => this.#emit({ event: "reloading", files }),
      onServing: (description) => this.#handleServing(description),
      onBroken: ({ error, isRestarted }) => this.#handleBroken(error, isRestarted),
    });
    await this.#add("server", server);
    server.start();
    // All three take a while and are independent. The first failure rejects.
    const openingTunnel = this.#openTunnel(
      tunnelOptions === false
        ? { publicUrl: publicUrl ?? proxy.url, port: proxy.port }
        : { ...tunnelOptions, port: proxy.publicPort },
      reachabilityCheck,
    );
    const openingWebhooks = this.#openWebhooks(hub, {
      url: `${proxy.url}${reachabilityCheck.path}`,
      answer: reachabilityCheck.answer,
    });
    this.#opening.push(openingTunnel, openingWebhooks);
    const [tunnel, webhooks] = await Promise.all([openingTunnel, openingWebhooks, this.#firstServing.promise]);
    server.setPublicUrl(tunnel.url);
    const reconciler = new WebhookReconciler({
      webhooks,
      onSteps: (steps) => this.#emit({ event: "webhooks", steps }),
      onProblem: (error) => this.#emitProblem(error),
    });
    await this.#add("reconciler", reconciler);
    await reconciler.start(this.#desiredWebhooks(tunnel));
    if (this.#closed) throw closedMeanwhile();
    const repairs = setInterval(() => void reconciler.repair(), repairIntervalMs);
    this.#closers.push(async () => clearInterval(repairs));
    this.#isReady = true;
    this.#emit({ event: "ready", ...this.state });
  }

  async replay(): Promise<ReplayResult | undefined> {
    return this.#part("proxy").replay();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const over = closedMeanwhile();
    this.#ending.abort(over);
    this.#firstServing.reject(over);
    await this.#closeOpened();
    await Promise.allSettled(this.#opening);
    // Parts that were being opened may have added closers.
    await this.#closeOpened();
  }

  async #closeOpened(): Promise<void> {
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) await closer();
  }

  #part<Name extends keyof Parts>(name: Name): Parts[Name] {
    const part = this.#parts[name];
    if (part) return part;
    throw new WebhookError("This session is not open. Wait for startDev() to resolve, or start another session.", {
      code: "CLOSING",
    });
  }

  /** Adds a part to the session, or closes it if the session is already closed. */
  async #add<Name extends keyof Parts>(name: Name, part: Parts[Name]): Promise<void> {
    this.#parts[name] = part;
    if (this.#closed) {
      await part.close();
      throw closedMeanwhile();
    }
    this.#closers.push(() => part.close());
  }

  async #openTunnel(options: OpenTunnelOptions, reachabilityCheck: ReachabilityCheck): Promise<Tunnel> {
    const tunnel = await openCheckedTunnel({ ...options, signal: this.#ending.signal }, { reachabilityCheck });
    await this.#add("tunnel", tunnel);
    tunnel.on("down", (error) => this.#emit({ event: "down", reason: error.message }));
    tunnel.on("error", (error) => {
      if (tunnel.status === "up") this.#emitProblem(error);
    });
    tunnel.on("urlChanged", (publicUrl) => {
      this.#parts.server?.setPublicUrl(publicUrl);
      this.#emit({ event: "urlChanged", publicUrl });
    });
    // The Hub may have suspended webhooks meanwhile, and the address may have changed.
    tunnel.on("up", () => {
      this.#emit({ event: "up", publicUrl: tunnel.url });
      void this.#updateWebhooks();
    });
    return tunnel;
  }

  async #openWebhooks(hub: DevHub, alive: { url: string; answer: string }): Promise<TemporaryWebhooks> {
    const { webhooks, release } = await openSessionWebhooks({
      ...{
        hub: hub.client,
        isReal: this.#config.isReal,
        state: this.#options.state,
        alive,
        signal: this.#ending.signal,
      },
      onSteps: (steps) => this.#emit({ event: "webhooks", steps }),
      onProblem: (problem) => this.#emitProblem(problem),
    });
    // Closed last: the other parts still write to the state file.
    this.#closers.unshift(release);
    return webhooks;
  }

  /** Reports that another port was chosen because the default one is in use. */
  #reportTakenPorts({ proxy, hub }: { proxy: DevProxy; hub: DevHub }): void {
    const { port, hubPort } = this.#options;
    const report = (message: string) => this.#emitProblem({ code: "PORT_IN_USE", message });
    if (port === undefined && proxy.port !== defaultPort)
      report(`Port ${defaultPort} is in use. The server is at ${proxy.url}.`);
    if (this.#config.isReal || hubPort !== undefined || hub.client.endpoint.endsWith(`:${defaultHubPort}`)) return;
    report(
      `Port ${defaultHubPort} is in use, possibly by another local Hub. The local Hub of this session is at ${hub.client.endpoint}.`,
    );
  }

  /** Never rejects: failures of the Hub are retried. */
  async #updateWebhooks(): Promise<void> {
    const { reconciler, tunnel } = this.#parts;
    if (reconciler && tunnel) await reconciler.update(this.#desiredWebhooks(tunnel));
  }

  #desiredWebhooks(tunnel: Tunnel): DesiredWebhooks {
    return {
      endpoints: this.#description.endpoints
        .map((endpoint) => ({ name: endpoint.name, watched: this.#watchOf(endpoint), domains: endpoint.domains }))
        .filter(({ watched }) => watched.length > 0),
      baseUrl: tunnel.url,
      secret: this.#description.secret ?? null,
    };
  }

  #handleServing(description: ServerDescription): void {
    this.#description = description;
    this.#storeSecret();
    this.#firstServing.resolve();
    void this.#updateWebhooks().then(() => {
      if (this.#isReady) this.#emit({ event: "reloaded", endpoints: this.state.endpoints });
    });
  }

  /** For `trigger --url`, if the server has no secret of its own. */
  #storeSecret(): void {
    const { secret } = this;
    if (secret === undefined || this.#isSecretStored || this.#closed) return;
    this.#isSecretStored = true;
    try {
      const remove = storeSessionSecret({ port: this.#part("proxy").port, secret });
      this.#closers.push(async () => remove());
    } catch (error) {
      this.#emitProblem({
        code: "FOLDER_UNUSABLE",
        message: `The secret of this session could not be stored for trigger --url (${messageOf(error)}). Pass it with --secret-stdin.`,
      });
    }
  }

  #handleBroken(error: WebhookError, isRestarted: boolean): void {
    if (!this.#isReady && !this.#options.waitForFile) this.#firstServing.reject(error);
    else {
      const stack = error.cause instanceof Error ? error.cause.stack : undefined;
      this.#emit({ event: "broken", reason: error.message, ...(stack !== undefined && { stack }), isRestarted });
    }
  }

  #inbox(proxy: DevProxy | undefined): string {
    return this.#config.inbox ?? devInboxUrl(proxy?.port ?? defaultPort);
  }

  #watchOf(endpoint: ServerDescription["endpoints"][number]): readonly KnownWatched[] {
    if (endpoint.watch.length > 0) return endpoint.watch;
    if (this.#config.watch) return this.#config.watch;
    return this.#config.isReal ? [] : defaultWatch(endpoint);
  }

  #emitProblem({ code, message }: { code: string; message: string }): void {
    this.#emit({ event: "problem", code, message });
  }

  #emit(event: DevEvent): void {
    if (this.#closed && event.event !== "output" && event.event !== "problem") return;
    const { onEvent } = this.#options;
    // The listener may throw or be async: an unhandled rejection would end the process.
    (async () => onEvent?.(event))().catch((reason: unknown) => {
      process.emitWarning(`The listener of the session event "${event.event}" failed: ${inspect(reason)}`);
    });
  }
}

function foreignHost(host: string, url: string) {
  return {
    code: "CROSS_SITE_REFUSED",
    message: `A request for host ${JSON.stringify(host)} was rejected, because a page of another site may have sent it. Use ${url}, or set --public-url for your own proxy.`,
  };
}

function closedMeanwhile(): WebhookError {
  return new WebhookError("This session was closed while it started.", { code: "CLOSING" });
}

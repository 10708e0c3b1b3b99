import type { Hono } from "hono";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Outcome } from "../payload/delivery.ts";
import { Activity } from "./activity.ts";
import { toResponse } from "./answer.ts";
import { BackgroundWork } from "./background-work.ts";
import { checkedBodyLimit } from "./body-limit.ts";
import { serveDashboard } from "./dashboard/serve.ts";
import { serveDefaultExport, stopServingDefaultExport } from "./default-export.ts";
import { type DeliveryRequest, RoutedRequest, webhooksPath } from "./delivery-request.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpointExists, findEndpoint } from "./find-endpoint.ts";
import { InboxCounts } from "./inbox-counts.ts";
import { KnownSecrets } from "./known-secrets.ts";
import { serveLandingPage } from "./landing/serve.ts";
import { launchHost } from "./launch-host.ts";
import type { LaunchedServer, LaunchOptions } from "./launch-options.ts";
import { MetricsRoute } from "./metrics-route.ts";
import type { Launch } from "./node/launch.ts";
import { leadsOthersHere, OwnerCheck } from "./owner.ts";
import { ReadyRoute } from "./ready-route.ts";
import { Receiver } from "./receive.ts";
import { redactOutcome } from "./redact-outcome.ts";
import { RefusalLog } from "./refusal-log.ts";
import { isTestRun } from "./runtime.ts";
import { SecretCheck } from "./secret.ts";
import { ServerApp } from "./server-app.ts";
import { type ServerDetails, serverDetails } from "./server-details.ts";
import { ServerInbox } from "./server-inbox.ts";
import { createLaunchLogger, createServerLogger } from "./server-logger.ts";
import { StartupReport } from "./startup-report.ts";
import { createWebhookFunction, type WebhookFunction } from "./webhook-function.ts";
import type { WebhooksServerOptions } from "./webhooks-server-options.ts";

const defaultGrace: Duration = "30s";

/**
 * Receives webhooks of the Hub: `POST /webhooks/<endpoint>` runs your handler and answers with what it returns.
 *
 * It needs nothing of Node until it is launched: `server.fetch` runs wherever Hono runs.
 *
 * @example
 * ```ts
 * const server = new WebhooksServer();
 * server.webhook(async function trigger_training(payload) {
 *   if (payload.repo.type === "dataset" && payload.event.action === "update") return { training: true };
 * });
 * export default server;
 * await server.launch();
 * ```
 */
export class WebhooksServer {
  /** Registers handlers as endpoints, before or after the launch: see {@link WebhookFunction}. */
  readonly webhook: WebhookFunction;
  /**
   * The Hono app, for routes of your own; the option `app`, where it is set. Middleware cannot be added any more:
   * `server.app.use()` throws `MIDDLEWARE_TOO_LATE`, because the built-in routes are there already.
   */
  readonly app: Hono;
  /** The deliveries of the background endpoints. */
  readonly inbox: ServerInbox = new ServerInbox(() => this.#background.open());

  readonly #options: WebhooksServerOptions;
  readonly #serverApp: ServerApp;
  readonly #endpoints = new Map<string, Endpoint>();
  /** The endpoints that no middleware is in front of: a delivery over Node's socket skips Hono. */
  readonly #direct = new Set<string>();
  readonly #redaction: KnownSecrets;
  readonly #secret: SecretCheck;
  readonly #owner: OwnerCheck;
  readonly #receiver: Receiver;
  readonly #background: BackgroundWork;
  readonly #activity: Activity;
  readonly #inboxCounts: InboxCounts;
  readonly #metrics: MetricsRoute;
  readonly #ready: ReadyRoute;
  readonly #report: StartupReport;
  readonly #refusals: RefusalLog;
  #logger: Logger;
  #prepared: Promise<void> | undefined;
  /** Whether the launch was given an address by which others reach all of this server. */
  #isPublic = false;
  /** From the start of `close()` until it is started again. */
  #isClosed = false;
  #launched: Promise<Launch> | undefined;
  #reachedAt: LaunchedServer | undefined;
  #stopHandlingSignals: (() => void) | undefined;
  #graceMs = toMilliseconds(defaultGrace, "shutdownGrace");
  readonly #fetch: WebhooksServer["fetch"] = (request, environment, context) => {
    this.#redaction.addBindings(environment);
    this.#report.tell(environment);
    return this.app.fetch(request, environment ?? {}, context);
  };

  /** @throws `OPTION_INVALID` */
  constructor(options: WebhooksServerOptions = {}) {
    const now = options.now ?? Date.now;
    const bodyLimit = checkedBodyLimit(options.bodyLimit);
    this.#serverApp = new ServerApp({ ...options, log: () => this.#logger });
    this.app = this.#serverApp.hono;
    this.webhook = createWebhookFunction({
      add: (endpoint) => this.#add(endpoint),
      expectMethod: (call) => this.#report.expectMethod(call),
    });
    this.#options = options;
    this.#redaction = new KnownSecrets(options);
    this.#logger = createServerLogger(options.logger, this.#redaction);
    this.#refusals = new RefusalLog({ log: () => this.#logger, now });
    this.#activity = new Activity(now);
    this.#background = new BackgroundWork({
      endpoints: this.#endpoints,
      inbox: options.inbox,
      run: async (endpoint, task, signal) =>
        redactOutcome(await this.#receiver.work(endpoint, task, signal), this.#redaction),
      log: () => this.#logger,
      now,
    });
    this.#inboxCounts = new InboxCounts({ inbox: () => this.#background.opened, now });
    this.#secret = new SecretCheck({
      ...{ secret: options.secret, secretInQuery: options.secretInQuery ?? false, now },
      onSecret: (secret) => this.#redaction.add([secret]),
    });
    this.#owner = new OwnerCheck({
      ...{ token: options.dashboardToken, now, refusals: this.#refusals },
      isPublic: () => this.#isPublic,
    });
    this.#receiver = new Receiver({
      endpoints: this.#endpoints,
      secret: this.#secret,
      bodyLimit,
      log: () => this.#logger,
      refusals: this.#refusals,
      now,
      activity: this.#activity,
      createId: options.createId ?? (() => crypto.randomUUID()),
      accept: (arrival) => this.#background.accept(arrival),
    });
    this.#metrics = new MetricsRoute({
      isOn: options.metrics,
      activity: this.#activity,
      endpoints: this.#endpoints,
      inbox: this.#inboxCounts,
      owner: this.#owner,
      log: () => this.#logger,
    });
    this.#ready = new ReadyRoute({
      needsInbox: () => this.#background.endpointNames.length > 0,
      inbox: () => this.#background.opened,
      isClosed: () => this.#isClosed,
      owner: this.#owner,
      now,
    });
    this.#report = new StartupReport({
      endpoints: this.#endpoints,
      secret: this.#secret,
      redaction: this.#redaction,
      log: () => this.#logger,
    });
    this.#serverApp.add((app) => this.#route(app));
    serveDefaultExport(this, this.#fetch);
  }

  /** Names of the endpoints, in the order in which they were registered. */
  get endpointNames(): readonly string[] {
    return [...this.#endpoints.keys()];
  }

  /**
   * Answers a request: the shape that Hono's adapters, Bun, Deno and workers call. In a worker the secret comes from
   * `environment.WEBHOOK_SECRET`.
   */
  get fetch(): (
    request: Request,
    environment?: unknown,
    context?: Parameters<Hono["fetch"]>[2],
  ) => Response | Promise<Response> {
    return this.#fetch;
  }

  /**
   * Sends a request to this server without a socket, for tests.
   *
   * @example
   * ```ts
   * const response = await server.request("/webhooks/retrain", { method: "POST", headers, body });
   * ```
   */
  async request(input: string | Request, init?: RequestInit): Promise<Response> {
    return this.fetch(new Request(typeof input === "string" ? new URL(input, "http://localhost") : input, init));
  }

  /**
   * Delivers a payload without HTTP and without a secret, for tests: checked, filtered and handled as if it had come
   * in. `endpoint` may be left out where there is only one.
   *
   * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`, `PAYLOAD_INVALID`.
   * @example
   * ```ts
   * const outcome = await server.receive(webhookPayload("repo.content"), { endpoint: "retrain" });
   * ```
   */
  async receive(payload: unknown, { endpoint: name, id }: { endpoint?: string; id?: string } = {}): Promise<Outcome> {
    const body = payload === undefined ? "" : JSON.stringify(payload);
    return this.#receiver.deliver({ endpoint: findEndpoint(this.#endpoints, name), body, id });
  }

  /**
   * Prepares the server without listening: checks the settings, sets up the logger, logs configuration warnings, and,
   * if there are background endpoints, opens the inbox and resumes its deliveries. Call it before another server passes
   * requests to `server.fetch`. `launch()` includes it.
   *
   * @throws `OPTION_INVALID` when `WEBHOOK_SECRET` is empty, `LOG_LEVEL` or `INBOX_URL` is invalid, or metrics are
   * enabled without `prom-client`; `INBOX_UNUSABLE`.
   */
  async ready(): Promise<void> {
    this.#isClosed = false;
    this.#secret.assertUsable();
    await this.#prepare();
    this.#report.tell();
    await this.#background.openIfNeeded();
  }

  /**
   * Starts listening, opens the tunnel if you set one, and logs the URLs to register on the Hub. By default it also
   * handles SIGTERM and SIGINT: see {@link LaunchOptions.handleSignals}.
   *
   * When `hub-webhooks dev`, `hub-webhooks sync` or a job runs your file, that tool decides whether and where the server
   * listens, and these options have no effect. Bun and `deno serve` do not serve the default export a second time.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`. With `handleSignals`, it logs the error
   * and exits with code 1 instead.
   * @example
   * ```ts
   * const { url } = await server.launch({ port: 0, handleSignals: false });
   * ```
   */
  async launch(options: LaunchOptions = {}): Promise<LaunchedServer> {
    const host = launchHost();
    if (host) return host.launched(this);
    stopServingDefaultExport(this);
    this.#launched ??= this.#launch(options);
    const launched = await this.#launched;
    return {
      port: launched.port,
      url: launched.url,
      // A tunnel may come back with another address.
      get publicUrl() {
        return launched.publicUrl;
      },
    };
  }

  /** Stops accepting, finishes what is in work and closes the tunnel. Safe to call twice. */
  async close(): Promise<void> {
    await this.#close();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What tools need of it, such as those that register its endpoints on the Hub. */
  [serverDetails](): ServerDetails {
    const secret = this.#secret;
    return {
      endpoints: [...this.#endpoints.values()].map(({ name, watch, domains, repos, scopes, background, warnings }) => ({
        ...{ name, watch, domains, repos, scopes, warnings },
        background: background !== undefined,
      })),
      // Read when it is asked for: a job asks for none, and an unusable one must not end it.
      get secret() {
        return secret.first;
      },
      isOpenOnPurpose: secret.isOff,
      useSecret: (text, options) => secret.use(text, options),
      useInbox: (url) => this.#background.useInbox(url),
      limitRetryWaits: (maxMs) => this.#background.limitRetryWaits(maxMs),
      runJob: async ({ endpoint, ...delivery }) => {
        await this.#prepare();
        return this.#receiver.runOnce({ endpoint: findEndpoint(this.#endpoints, endpoint), ...delivery });
      },
    };
  }

  /** Calls at the same time share one preparation; one that failed may be tried again. */
  #prepare(): Promise<void> {
    const prepare = async () => {
      this.#redaction.addEnvironment();
      if (!this.#options.logger) this.#logger = await createLaunchLogger(this.#redaction);
      await this.#metrics.open();
    };
    this.#prepared ??= prepare().catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #launch(options: LaunchOptions): Promise<Launch> {
    this.#isClosed = false;
    const wasOpen = this.#background.opened !== undefined;
    this.#isPublic = leadsOthersHere(options);
    try {
      await this.#prepare();
      this.#secret.assertUsable();
      await this.#background.openIfNeeded();
      const { launch } = await import("./node/launch.ts");
      const target = {
        fetch: this.fetch,
        // The short way of a delivery that names an endpoint as it is; any other has to be routed, and meets middleware.
        deliver: (request: DeliveryRequest) =>
          this.#direct.has(request.endpointName) ? this.#receiver.handle(request) : undefined,
        endpointNames: () => this.endpointNames,
        secret: this.#secret,
        dashboard: () => (this.#background.endpointNames.length > 0 ? this.#owner : undefined),
        background: () => ({
          inbox: this.#options.inbox,
          hasBackgroundEndpoints: this.#background.endpointNames.length > 0,
        }),
        tell: (tell: { announce: boolean }) => this.#report.tell(undefined, tell),
        log: () => this.#logger,
        refusals: this.#refusals,
      };
      this.#graceMs = toMilliseconds(options.shutdownGrace ?? defaultGrace, "shutdownGrace");
      const launched = await launch(target, options);
      this.#reachedAt = launched;
      if (options.handleSignals ?? !isTestRun()) {
        const { handleSignals } = await import("./node/signals.ts");
        this.#stopHandlingSignals = handleSignals({ close: () => this.#close(), log: () => this.#logger });
      }
      return launched;
    } catch (error) {
      this.#launched = undefined;
      // A server that nobody can reach must not work on.
      if (!wasOpen) await this.#background.close(this.#graceMs);
      const mayExit = (options.handleSignals ?? !isTestRun()) && typeof process !== "undefined";
      if (!WebhookError.isInstance(error) || !mayExit) throw error;
      this.#logger.error({ code: error.code }, error.message);
      process.exit(1);
    }
  }

  async #close(): Promise<boolean> {
    this.#isClosed = true;
    const startedAt = performance.now();
    const launched = this.#launched;
    const running = await launched?.catch(() => undefined);
    const complete = (await running?.close()) ?? true;
    // After the last request: what is still accepted has to be kept. There is one grace for both.
    await this.#background.close(Math.max(0, this.#graceMs - (performance.now() - startedAt)));
    this.#refusals.flush();
    if (running && this.#launched === launched) {
      this.#launched = undefined;
      this.#reachedAt = undefined;
      this.#stopHandlingSignals?.();
    }
    return complete;
  }

  #add(endpoint: Endpoint): void {
    const { name } = endpoint;
    if (this.#endpoints.has(name)) throw endpointExists(name);
    this.#background.add(endpoint);
    this.#endpoints.set(name, endpoint);
    if (this.#serverApp.isDirect(`${webhooksPath}${name}`)) this.#direct.add(name);
    this.#report.added(endpoint);
    if (!this.#reachedAt) return;
    this.#logger.info({ endpoint: name, url: `${this.#reachedAt.publicUrl}${webhooksPath}${name}` }, "endpoint added");
  }

  #route(app: Hono): void {
    app.all(`${webhooksPath}*`, async (context) => {
      // A parent app calls this without `fetch`.
      this.#report.tell(context.env);
      return toResponse(await this.#receiver.handle(new RoutedRequest(context)));
    });
    app.get("/health", (context) => context.json({ status: "ok" }));
    this.#ready.mount(app);
    this.#metrics.mount(app);
    const shared = { mountPoint: this.#serverApp.mountPoint, now: this.#options.now ?? Date.now };
    serveDashboard(app, {
      ...shared,
      owner: this.#owner,
      inbox: this.inbox,
      endpointNames: () => this.#background.endpointNames,
      log: () => this.#logger,
      refusals: this.#refusals,
    });
    serveLandingPage(app, {
      ...shared,
      page: this.#options.landingPage,
      endpoints: this.#endpoints,
      secretIsSet: (bindings) => this.#secret.isSet(bindings),
      activity: this.#activity,
      inbox: this.#inboxCounts,
      reachedAt: () => this.#reachedAt,
    });
  }
}

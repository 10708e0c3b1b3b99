import type { Hono } from "hono";
import { createForwardingLogger, type Logger } from "../core/log.ts";
import { webhooksPath } from "../core/urls.ts";
import { toResponse } from "../http/answer.ts";
import { readBodyLimit } from "../http/body.ts";
import type { HubClient } from "../hub/client.ts";
import type { Outcome } from "../payload/parse.ts";
import { ServerApp } from "./app.ts";
import { BackgroundWork, InboxCountsReader } from "./background.ts";
import { ConditionCheck } from "./conditions.ts";
import { ReceiverConsole } from "./console/receiver-console.ts";
import {
  launchInterceptor,
  type ServerControl,
  serveDefaultExport,
  serverControl,
  stopServingDefaultExport,
} from "./control.ts";
import { Activity } from "./counts.ts";
import { DeliveryPipeline } from "./deliver.ts";
import type { Endpoint } from "./endpoint.ts";
import { ServerHub } from "./hub.ts";
import { ServerInbox } from "./inbox.ts";
import { serveLandingPage } from "./landing/serve.ts";
import { ServerLifecycle, StartupReport } from "./lifecycle.ts";
import { createReadyLogger, createServerLogger, RefusalLog, ServerRedaction } from "./logs.ts";
import { MetricsRoute } from "./metrics-route.ts";
import { checkServerOptions, type LaunchedServer, type LaunchOptions, type WebhooksServerOptions } from "./options.ts";
import { OwnChanges } from "./own-changes.ts";
import { OwnerCheck } from "./owner.ts";
import { ReadyRoute } from "./ready.ts";
import { DeliveryHistory } from "./recent/delivery-history.ts";
import { RoutedRequest } from "./request.ts";
import { SecretCheck } from "./secret.ts";
import { createWebhookFunction, EndpointRegistry, type WebhookFunction } from "./webhook.ts";

/**
 * Receives Hub webhooks: `POST /webhooks/<endpoint>` runs your handler and answers with the handler's result, or stores
 * the delivery for a background endpoint.
 *
 * Until you launch the server, it requires no Node APIs: `server.fetch` runs on every runtime that Hono supports.
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
  /** Registers handlers as endpoints, before or after the launch. See {@link WebhookFunction}. */
  readonly webhook: WebhookFunction;
  /**
   * The Hono app, to which you can add routes. This is the app from the `app` option, or a new app. You cannot add
   * middleware: `server.app.use()` throws `MIDDLEWARE_TOO_LATE`, because the built-in routes are already registered.
   */
  readonly app: Hono;
  /** The deliveries of the background endpoints. */
  readonly inbox: ServerInbox = new ServerInbox(() => this.#backgroundWork.open());

  readonly #options: WebhooksServerOptions;
  readonly #serverApp: ServerApp;
  readonly #endpoints = new EndpointRegistry();
  /** The names of endpoints without middleware. On Node, deliveries to these endpoints skip Hono. */
  readonly #direct = new Set<string>();
  readonly #redaction: ServerRedaction;
  readonly #secretCheck: SecretCheck;
  readonly #ownerCheck: OwnerCheck;
  readonly #ownChanges: OwnChanges;
  readonly #hub: ServerHub;
  readonly #pipeline: DeliveryPipeline;
  readonly #backgroundWork: BackgroundWork;
  readonly #activity: Activity;
  readonly #history: DeliveryHistory;
  readonly #inboxCounts: InboxCountsReader;
  readonly #metrics: MetricsRoute;
  readonly #console: ReceiverConsole;
  readonly #report: StartupReport;
  readonly #refusalLog: RefusalLog;
  readonly #lifecycle: ServerLifecycle;
  readonly #redact = (text: string): string => this.#redaction.text(text);
  /** Returns the current time, in milliseconds since the epoch. */
  readonly #now: () => number;
  /** The token of a tool that shows this server in its own console. Overrides the owner's token. */
  #consoleToken: string | undefined;
  #logger: Logger;
  /** Forwards to `#logger`, which changes when the server starts. */
  readonly #log: Logger = createForwardingLogger(() => this.#logger);
  /** Answers every request that is not a direct delivery: from `listen`, from other runtimes, and through the default export. */
  readonly #fetch: WebhooksServer["fetch"] = (request, environment, context) => {
    this.#redaction.addBindings(environment);
    this.#report.log(environment);
    return this.#serverApp.fetch(request, environment ?? {}, context);
  };

  /** @throws `OPTION_INVALID` if an option is invalid or unknown. */
  constructor(options: WebhooksServerOptions = {}) {
    checkServerOptions(options);
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#redaction = new ServerRedaction(options);
    this.#logger = createServerLogger(options.logger, this.#redaction);
    this.#refusalLog = new RefusalLog({ log: this.#log, now: this.#now });
    this.#serverApp = new ServerApp({ ...options, log: this.#log, refusalLog: this.#refusalLog });
    this.app = this.#serverApp.hono;
    this.webhook = createWebhookFunction({
      add: (endpoint) => this.#add(endpoint),
      trackDecoratorCall: (call) => this.#report.trackDecoratorCall(call),
    });
    this.#activity = new Activity(this.#now);
    this.#history = new DeliveryHistory({
      recordDetails: options.recordDetails ?? true,
      now: this.#now,
      redact: this.#redact,
    });
    this.#secretCheck = new SecretCheck({
      secret: options.secret,
      isSecretGiven: "secret" in options,
      secretInQuery: options.secretInQuery ?? false,
      now: this.#now,
      onSecret: (secret) => this.#redaction.add([secret]),
    });
    this.#ownerCheck = new OwnerCheck({
      token: options.consoleToken,
      now: this.#now,
      refusalLog: this.#refusalLog,
      isPublic: () => this.#lifecycle.isPublic,
    });
    this.#backgroundWork = this.#createBackgroundWork();
    this.#inboxCounts = new InboxCountsReader({ inbox: () => this.#backgroundWork.opened, now: this.#now });
    this.#ownChanges = new OwnChanges({
      store: async () => (await this.#backgroundWork.opened)?.ownActions,
      log: this.#log,
    });
    this.#hub = new ServerHub({
      hub: options.hub,
      signature: options.hubSignature,
      observer: this.#ownChanges,
      log: this.#log,
    });
    this.#pipeline = this.#createPipeline();
    this.#metrics = this.#createMetricsRoute();
    this.#console = this.#createConsole();
    this.#report = new StartupReport({
      endpoints: this.#endpoints.byName,
      secretCheck: this.#secretCheck,
      ownerCheck: this.#ownerCheck,
      redaction: this.#redaction,
      log: this.#log,
    });
    this.#lifecycle = this.#createLifecycle();
    this.#serverApp.add((app) => this.#addRoutes(app));
    serveDefaultExport(this, this.#fetch);
  }

  /**
   * The Hub client of this server, for code outside handlers. Handlers receive the same client as `context.hub`. The `hub` option
   * configures the client, which is loaded at the first call.
   *
   * @example
   * ```ts
   * const { name } = await server.hub.whoami();
   * ```
   */
  get hub(): HubClient {
    return this.#hub.client;
  }

  /** The names of the endpoints, in the order of their registration. */
  get endpointNames(): readonly string[] {
    return this.#endpoints.names;
  }

  /**
   * Responds to a request. Hono's adapters, Bun, Deno, and edge workers call this function. On an edge worker, the
   * secret is read from `environment.WEBHOOK_SECRET`.
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
   * Validates and filters a payload, and runs the handler, without HTTP and without a secret, for tests. You can omit
   * `endpoint` if the server has only one endpoint.
   *
   * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
   * @example
   * ```ts
   * const outcome = await server.receive(webhookPayload("repo.content"), { endpoint: "retrain" });
   * ```
   */
  async receive(payload: unknown, { endpoint: name, id }: { endpoint?: string; id?: string } = {}): Promise<Outcome> {
    const body = payload === undefined ? "" : JSON.stringify(payload);
    return this.#pipeline.receive(this.#endpoints.find(name), { body, id });
  }

  /**
   * Prepares the server without listening: checks the settings, sets up the logger, and logs configuration warnings. If
   * there are background endpoints, also opens the inbox and starts to run queued deliveries. Call this method before
   * another server passes requests to `server.fetch`. You do not need it before `launch()`.
   *
   * @throws `OPTION_INVALID` when `WEBHOOK_SECRET` is empty, `CONSOLE_TOKEN` is short, `LOG_LEVEL` or `INBOX_URL` is invalid, or
   * metrics are enabled without `prom-client`; `INBOX_UNUSABLE`.
   */
  async ready(): Promise<void> {
    await this.#lifecycle.ready();
  }

  /**
   * Starts listening, opens a tunnel if the options request one, and logs the URLs to register on the Hub. By default,
   * `launch()` also handles SIGTERM and SIGINT: see {@link LaunchOptions.handleSignals}.
   *
   * When `hub-webhooks dev`, `hub-webhooks sync`, or a job runs your file, the command decides whether and where the
   * server listens, and these options have no effect. After `launch()`, Bun and `deno serve` do not also serve the
   * default export.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`. With `handleSignals`, `launch()` logs the
   * error and exits the process with code 1 instead.
   * @example
   * ```ts
   * const { url } = await server.launch({ port: 0, handleSignals: false });
   * ```
   */
  async launch(options: LaunchOptions = {}): Promise<LaunchedServer> {
    const interceptor = launchInterceptor();
    if (interceptor) return interceptor.onLaunch(this);
    stopServingDefaultExport(this);
    return this.#lifecycle.launch(options);
  }

  /**
   * Stops accepting requests, waits up to `shutdownGrace` for running handlers, and closes the tunnel and inbox. Safe
   * to call twice.
   */
  async close(): Promise<void> {
    await this.#lifecycle.close();
  }

  /** Calls {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Describes and controls the server for tools of this package, such as `sync`. */
  get [serverControl](): ServerControl {
    const secretCheck = this.#secretCheck;
    return {
      describe: () => ({
        endpoints: this.#endpoints.describe(),
        get secret() {
          return secretCheck.first;
        },
      }),
      isSecretDisabled: secretCheck.isSecretDisabled,
      useSecret: (secret, mode) => secretCheck.use(secret, mode),
      useInbox: (url) => this.#backgroundWork.useInbox(url),
      useConsoleToken: (token) => {
        this.#consoleToken = token;
      },
      console: this.#console,
      limitRetryWaits: (maxMs) => this.#backgroundWork.limitRetryWaits(maxMs),
      setRegistrations: (registrations) => this.#endpoints.setRegistrations(registrations),
      launch: (launchOptions) => this.#lifecycle.launch(launchOptions, { mayExit: false }),
      runJob: async ({ endpoint, ...delivery }) => {
        await this.#lifecycle.prepare();
        return this.#pipeline.runJob(this.#endpoints.find(endpoint), delivery);
      },
    };
  }

  async #openLogger(): Promise<void> {
    this.#redaction.addEnvironment();
    if (!this.#options.logger) this.#logger = await createReadyLogger(this.#redaction);
  }

  #add(endpoint: Endpoint): void {
    const { name } = endpoint;
    this.#endpoints.assertNew(name);
    this.#backgroundWork.add(endpoint);
    this.#endpoints.add(endpoint);
    if (this.#serverApp.isDirect(`${webhooksPath}${name}`)) this.#direct.add(name);
    this.#report.added(endpoint);
    const { launchedServer } = this.#lifecycle;
    if (launchedServer) {
      this.#logger.info(
        { endpoint: name, url: `${launchedServer.publicUrl}${webhooksPath}${name}` },
        "Endpoint added.",
      );
    }
  }

  #createBackgroundWork(): BackgroundWork {
    return new BackgroundWork({
      endpoints: this.#endpoints,
      inbox: this.#options.inbox,
      log: this.#log,
      now: this.#now,
      run: (endpoint, claimed, signal) => this.#pipeline.runClaimed(endpoint, claimed, signal),
      onFailure: (error) => this.#lifecycle.fail(error),
      onAttemptStored: (key) => this.#history.changed(key),
    });
  }

  #createPipeline(): DeliveryPipeline {
    return new DeliveryPipeline({
      endpoints: this.#endpoints.byName,
      secretCheck: this.#secretCheck,
      bodyLimit: readBodyLimit(this.#options.bodyLimit),
      log: this.#log,
      refusalLog: this.#refusalLog,
      now: this.#now,
      createId: this.#options.createId ?? (() => crypto.randomUUID()),
      store: (delivery) => this.#backgroundWork.store(delivery),
      bucket: () => this.#backgroundWork.bucket,
      activity: this.#activity,
      history: this.#history,
      hub: () => this.#hub.client,
      conditionCheck: new ConditionCheck({ serverHub: this.#hub, ownChanges: this.#ownChanges, log: this.#log }),
      redactOutcome: (outcome) => this.#redaction.outcome(outcome),
    });
  }

  #createMetricsRoute(): MetricsRoute {
    return new MetricsRoute({
      isOn: this.#options.metrics,
      endpoints: this.#endpoints.byName,
      activity: this.#activity,
      inbox: this.#inboxCounts,
      ownerCheck: this.#ownerCheck,
      log: this.#log,
    });
  }

  #createConsole(): ReceiverConsole {
    return new ReceiverConsole({
      endpoints: this.#endpoints,
      pipeline: this.#pipeline,
      history: this.#history,
      activity: this.#activity,
      background: this.#backgroundWork,
      hub: this.#hub,
      secretCheck: this.#secretCheck,
      ownerCheck: this.#ownerCheck,
      redaction: this.#redaction,
      refusalLog: this.#refusalLog,
      log: this.#log,
      now: this.#now,
      lifecycle: () => this.#lifecycle,
      toolToken: () => this.#consoleToken,
    });
  }

  #createLifecycle(): ServerLifecycle {
    return new ServerLifecycle({
      background: this.#backgroundWork,
      metrics: this.#metrics,
      console: this.#console,
      openLogger: () => this.#openLogger(),
      server: {
        fetch: this.#fetch,
        // Other deliveries go through the router and middleware of the app (see `ServerApp.isDirect`).
        deliver: (request) => (this.#direct.has(request.endpointName) ? this.#pipeline.handle(request) : undefined),
        endpoints: this.#endpoints,
        inbox: this.#options.inbox,
        secretCheck: this.#secretCheck,
        ownerCheck: this.#ownerCheck,
        console: this.#console,
        report: ({ announce }) => this.#report.log(undefined, { announce }),
        log: this.#log,
        refusalLog: this.#refusalLog,
      },
    });
  }

  #addRoutes(app: Hono): void {
    const background = () => this.#endpoints.backgroundEndpoints;
    const shared = { mountPoint: this.#serverApp.mountPoint, now: this.#now };
    app.all(`${webhooksPath}*`, async (context) => {
      // A parent app calls this route directly, not through `fetch`, so the report must also be logged here.
      this.#report.log(context.env);
      return toResponse(await this.#pipeline.handle(new RoutedRequest(context)));
    });
    app.get("/health", (context) => context.json({ status: "ok" }));
    new ReadyRoute({
      needsInbox: () => background().length > 0,
      inbox: () => this.#backgroundWork.opened,
      isClosed: () => this.#lifecycle.isClosed,
      ownerCheck: this.#ownerCheck,
      now: this.#now,
    }).mount(app);
    this.#metrics.mount(app);
    this.#console.mount(app);
    serveLandingPage(app, {
      ...shared,
      page: this.#options.landingPage,
      endpoints: this.#endpoints.byName,
      secretIsSet: (bindings) => this.#secretCheck.isSet(bindings),
      activity: this.#activity,
      inbox: this.#inboxCounts,
      launchedServer: () => this.#lifecycle.launchedServer,
    });
  }
}

import type { Hono } from "hono";
import { loadOnce } from "../core/time.ts";
import { webhooksPath } from "../core/urls.ts";
import { toResponse } from "../http/answer.ts";
import type { HubClient } from "../hub/client.ts";
import type { Outcome } from "../payload/parse.ts";
import { ServerApp } from "./app.ts";
import type { ServerCatchUp } from "./catch-up.ts";
import { ServerContext } from "./context.ts";
import {
  launchInterceptor,
  type ServerControl,
  serveDefaultExport,
  serverControl,
  stopServingDefaultExport,
} from "./control.ts";
import { DeliveryPipeline } from "./deliver.ts";
import type { Endpoint } from "./endpoint.ts";
import { createServerHub, type ServerHub } from "./hub.ts";
import { BackgroundWork, createCountsReader, ServerInbox } from "./inbox.ts";
import { createStartupReport, ServerLifecycle, type StartupReport } from "./lifecycle.ts";
import { checkServerOptions, type LaunchedServer, type LaunchOptions, type WebhooksServerOptions } from "./options.ts";
import * as platform from "./platform.node.ts";
import { toDeliveryRequest } from "./request.ts";
import { createMetricsRoute, serveLandingPage, serveReady } from "./routes.ts";
import { createWebhookFunction, type WebhookFunction } from "./webhook.ts";

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
  readonly inbox: ServerInbox;

  readonly #context: ServerContext;
  readonly #app: ServerApp;
  readonly #hub: ServerHub;
  readonly #background: BackgroundWork;
  readonly #pipeline: DeliveryPipeline;
  readonly #catchUp: () => Promise<ServerCatchUp>;
  readonly #console: platform.ReceiverConsole;
  readonly #report: StartupReport;
  readonly #lifecycle: ServerLifecycle;
  /** The names of the endpoints without middleware, whose deliveries skip Hono on Node. */
  readonly #direct = new Set<string>();
  /** Answers every request that is not a direct delivery: from `listen`, from other runtimes, and through the default export. */
  readonly #fetch: WebhooksServer["fetch"] = (request, environment, context) => {
    this.#context.redaction.addBindings(environment);
    this.#report.log(environment);
    return this.#app.fetch(request, environment ?? {}, context);
  };

  /** @throws `OPTION_INVALID` if an option is invalid or unknown. */
  constructor(options: WebhooksServerOptions = {}) {
    checkServerOptions(options);
    const context = new ServerContext(options, platform.DeliveryHistory);
    this.#context = context;
    const { log, refusalLog } = context;
    this.#app = new ServerApp({ ...options, log, refusalLog, loadErrorPage: platform.loadErrorPage });
    this.app = this.#app.hono;
    this.#report = createStartupReport(context);
    this.webhook = createWebhookFunction((endpoint) => this.#add(endpoint), this.#report);
    this.#background = new BackgroundWork(context, {
      loadInbox: platform.loadInbox,
      run: (endpoint, claimed, signal) => this.#pipeline.runClaimed(endpoint, claimed, signal),
      onFailure: (error) => this.#lifecycle.fail(error),
    });
    this.inbox = new ServerInbox(() => this.#background.open());
    const background = this.#background;
    const hub = createServerHub(options, { background, log, loadClient: platform.loadHubClient });
    this.#hub = hub;
    const catchUp = loadOnce(async () => {
      const { ServerCatchUp } = await platform.loadCatchUp();
      return new ServerCatchUp(context, { background, hub, pipeline: this.#pipeline });
    });
    this.#catchUp = catchUp;
    this.#pipeline = new DeliveryPipeline(context, { background, hub, catchUp });
    this.#console = new platform.ReceiverConsole(context, { pipeline: this.#pipeline, background, hub });
    const counts = createCountsReader(background, context);
    const metrics = createMetricsRoute(context, { inbox: counts, load: platform.loadMetrics });
    this.#lifecycle = new ServerLifecycle(context, {
      ...{ background, catchUp, metrics, console: this.#console, report: this.#report, fetch: this.#fetch },
      ...{ loadNodeLogger: platform.loadNodeLogger, loadStart: platform.loadStart },
      deliver: (request) => (this.#direct.has(request.endpointName) ? this.#pipeline.handle(request) : undefined),
    });
    this.#app.add((app) => {
      app.all(`${webhooksPath}*`, async (routed) => {
        // A parent app calls this route directly, not through `fetch`, so the report must also be logged here.
        this.#report.log(routed.env);
        return toResponse(await this.#pipeline.handle(toDeliveryRequest(routed)));
      });
      app.get("/health", (routed) => routed.json({ status: "ok" }));
      serveReady(app, context, background);
      metrics.mount(app);
      this.#console.mount(app);
      serveLandingPage(app, {
        ...{ server: context, inbox: counts, mountPoint: this.#app.mountPoint, loadPage: platform.loadLandingPage },
      });
    });
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
    return this.#context.endpoints.names;
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
    return this.#pipeline.receive(this.#context.endpoints.find(name), { body, id });
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
    const { endpoints, secretCheck, redaction } = this.#context;
    return {
      describe: () => ({
        endpoints: endpoints.describe(),
        get secret() {
          return secretCheck.first;
        },
      }),
      isSecretDisabled: secretCheck.isSecretDisabled,
      useSecret: (secret, mode) => {
        secretCheck.use(secret, mode);
        redaction.add([secret]);
      },
      useInbox: (url) => this.#background.useInbox(url),
      useConsoleToken: (token) => {
        this.#context.toolToken = token;
      },
      console: this.#console,
      limitRetryWaits: (maxMs) => this.#background.limitRetryWaits(maxMs),
      setRegistrations: (registrations) => endpoints.setRegistrations(registrations),
      launch: (launchOptions) => this.#lifecycle.launch(launchOptions, { mayExit: false }),
      catchUp: async (options) => {
        await this.#lifecycle.prepare();
        return (await this.#catchUp()).run(options);
      },
      compareNow: () => this.#lifecycle.compareNow(),
      runJob: async ({ endpoint, ...delivery }) => {
        await this.#lifecycle.prepare();
        return this.#pipeline.runJob(this.#context.endpoints.find(endpoint), delivery);
      },
    };
  }

  #add(endpoint: Endpoint): void {
    const { name } = endpoint;
    const { endpoints, launched, log } = this.#context;
    endpoints.assertNew(name);
    this.#background.add(endpoint);
    endpoints.add(endpoint);
    if (this.#app.isDirect(`${webhooksPath}${name}`)) this.#direct.add(name);
    this.#report.added(endpoint);
    if (launched) log.info({ endpoint: name, url: `${launched.publicUrl}${webhooksPath}${name}` }, "Endpoint added.");
  }
}

/**
 * Registers an endpoint on a shared server, which is launched at the end of the script. Takes the arguments of {@link
 * WebhookFunction}.
 *
 * The server is launched at Node's `beforeExit` event. Node does not emit this event after `process.exit()`, or while a
 * timer or open connection keeps the process alive, and other runtimes may not support it. In these cases, or to set
 * options, create a {@link WebhooksServer}.
 *
 * @example
 * ```ts
 * import { webhookEndpoint } from "hub-webhooks";
 *
 * webhookEndpoint(async function trigger_training(payload) {
 *   return { training: payload.repo.name };
 * });
 * ```
 */
export const webhookEndpoint: WebhookFunction = (...given: readonly unknown[]) => {
  sharedServer ??= createSharedServer();
  return Reflect.apply(sharedServer.webhook, undefined, given);
};

let sharedServer: WebhooksServer | undefined;

function createSharedServer(): WebhooksServer {
  const created = new WebhooksServer();
  const interceptor = launchInterceptor();
  if (interceptor) {
    interceptor.onSharedServer(created);
  } else if (typeof process !== "undefined" && typeof process.once === "function") {
    process.once("beforeExit", () => {
      // Without endpoints, `ready()` only logs warnings about calls without a handler.
      void (created.endpointNames.length > 0 ? created.launch() : created.ready());
    });
  }
  return created;
}

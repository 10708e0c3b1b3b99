import { Hono } from "hono";
import type { Outcome } from "../delivery.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { WebhookError } from "../errors.ts";
import type { Inbox, Task } from "../inbox/inbox.ts";
import type { Logger } from "../logger.ts";
import { answerError } from "./answer.ts";
import { createConsoleLogger } from "./console-logger.ts";
import type { Endpoint } from "./endpoint.ts";
import { type LandingPage, serveLandingPage } from "./landing/serve.ts";
import type { Launch, LaunchedServer, LaunchOptions } from "./node/launch.ts";
import { Receiver, webhooksPath } from "./receive.ts";
import { SecretCheck } from "./secret.ts";
import { ServerInbox } from "./server-inbox.ts";
import { createWebhookFunction, type WebhookFunction } from "./webhook-function.ts";

/** What a {@link WebhooksServer} may be given. */
export interface WebhooksServerOptions {
  /**
   * The secret that every delivery must carry, or several, all accepted, while one replaces the other. Default:
   * `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`. Without any, the endpoints are open to everyone.
   */
  secret?: string | readonly string[];
  /**
   * Whether `?secret=` in the URL is accepted where there is no header, for senders that cannot set one. Default
   * `false`: URLs end up in the logs of whatever stands in between.
   */
  secretInQuery?: boolean;
  /** Default: pino on standard output once launched (level `LOG_LEVEL`, else `info`), the console elsewhere. */
  logger?: Logger;
  /** Largest body in bytes. Default 10 MiB: a bucket's payload may list ten thousand files. */
  bodyLimit?: number;
  /** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
  landingPage?: LandingPage;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** Makes the id of a delivery that came without a `Webhook-Id`. Default `crypto.randomUUID`. */
  createId?: () => string;
}

const defaultGrace: Duration = "30s";
const defaultBodyLimit = 10 * 1024 * 1024;

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
  readonly webhook: WebhookFunction = createWebhookFunction((endpoint) => this.#add(endpoint));
  /** The Hono app, for routes of your own. */
  readonly app: Hono = new Hono();
  /** The deliveries of the background endpoints. */
  readonly inbox: ServerInbox = new ServerInbox(() => this.#openInbox());

  readonly #options: WebhooksServerOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #secret: SecretCheck;
  readonly #receiver: Receiver;
  readonly #startedAt: Date;
  #logger: Logger;
  #openedInbox: Promise<Inbox> | undefined;
  #prepared: Promise<void> | undefined;
  #told = false;
  #launched: Promise<Launch> | undefined;
  #reachedAt: LaunchedServer | undefined;
  #leaveProcess: (() => void) | undefined;
  #graceMs = toMilliseconds(defaultGrace, "shutdownGrace");

  /** @throws `OPTION_INVALID` */
  constructor(options: WebhooksServerOptions = {}) {
    const now = options.now ?? Date.now;
    const bodyLimit = options.bodyLimit ?? defaultBodyLimit;
    if (!Number.isInteger(bodyLimit) || bodyLimit < 1) {
      throw new WebhookError(`Option "bodyLimit" is ${bodyLimit}: give a whole number of bytes above zero.`, {
        code: "OPTION_INVALID",
      });
    }
    this.#options = options;
    this.#logger = options.logger ?? createConsoleLogger();
    this.#startedAt = new Date(now());
    this.#secret = new SecretCheck({ secret: options.secret, secretInQuery: options.secretInQuery ?? false, now });
    this.#receiver = new Receiver({
      endpoints: this.#endpoints,
      secret: this.#secret,
      bodyLimit,
      log: () => this.#logger,
      now,
      createId: options.createId ?? (() => crypto.randomUUID()),
      accept: async (arrival) => {
        const inbox = await this.#openInbox().catch((cause: unknown) => {
          throw notKept(cause);
        });
        return inbox.accept(arrival);
      },
    });
    this.#route();
  }

  /** Names of the endpoints, in the order in which they were registered. */
  get endpointNames(): readonly string[] {
    return [...this.#endpoints.keys()];
  }

  /**
   * Answers a request: the shape that Hono's adapters, Bun, Deno and workers call. In a worker the secret comes from
   * `environment.WEBHOOK_SECRET`.
   */
  readonly fetch = (
    request: Request,
    environment?: unknown,
    context?: Parameters<Hono["fetch"]>[2],
  ): Response | Promise<Response> => {
    this.#tell(environment);
    return this.app.fetch(request, environment ?? {}, context);
  };

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
    return this.#receiver.deliver({ endpoint: this.#find(name), body, id });
  }

  /**
   * Prepares the server without listening: the logger, a word on the secret and, where an endpoint works in the
   * background, the inbox, on which work begins. `launch()` does it too.
   *
   * @throws `OPTION_INVALID` when `LOG_LEVEL` is no level or `INBOX_URL` no inbox; `INBOX_UNUSABLE`.
   */
  async start(): Promise<void> {
    await this.#prepare();
    this.#tell();
    if (this.#backgroundEndpoints().length > 0) await this.#openInbox();
  }

  /**
   * Listens, opens the tunnel if asked for, and says where to register the endpoints. By default the process is the
   * server's from then on: see {@link LaunchOptions}.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`; with `ownsProcess`, which is the
   * default, the process ends instead, with code 1.
   * @example
   * ```ts
   * const { url } = await server.launch({ port: 0, ownsProcess: false });
   * ```
   */
  async launch(options: LaunchOptions = {}): Promise<LaunchedServer> {
    this.#launched ??= this.#launch(options);
    const { port, url, publicUrl } = await this.#launched;
    return { port, url, publicUrl };
  }

  /** Stops accepting, finishes what is in work and closes the tunnel. Safe to call twice. */
  async close(): Promise<void> {
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Calls at the same time share one preparation; one that failed may be tried again. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#chooseLogger().catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #chooseLogger(): Promise<void> {
    if (this.#options.logger) return;
    const { createNodeLogger } = await import("./node/logger.ts");
    this.#logger = createNodeLogger();
  }

  async #launch(options: LaunchOptions): Promise<Launch> {
    const wasOpen = this.#openedInbox !== undefined;
    try {
      await this.#prepare();
      if (this.#backgroundEndpoints().length > 0) await this.#openInbox();
      const { launch } = await import("./node/launch.ts");
      const target = {
        fetch: this.fetch,
        endpointNames: () => this.endpointNames,
        secret: this.#secret,
        tell: () => this.#tell(),
        log: () => this.#logger,
      };
      this.#graceMs = toMilliseconds(options.shutdownGrace ?? defaultGrace, "shutdownGrace");
      const launched = await launch(target, options);
      this.#reachedAt = launched;
      if (options.ownsProcess ?? true) {
        const { ownProcess } = await import("./node/own-process.ts");
        this.#leaveProcess = ownProcess({ close: () => this.#close(), log: () => this.#logger });
      }
      return launched;
    } catch (error) {
      this.#launched = undefined;
      // A server that nobody can reach must not work on.
      if (!wasOpen) await this.#closeInbox();
      const ownsProcess = (options.ownsProcess ?? true) && typeof process !== "undefined";
      if (!WebhookError.isInstance(error) || !ownsProcess) throw error;
      this.#logger.error({ code: error.code }, error.message);
      process.exit(1);
    }
  }

  async #close(): Promise<boolean> {
    const launched = this.#launched;
    const running = await launched?.catch(() => undefined);
    const complete = (await running?.close()) ?? true;
    // After the last request: what is still accepted has to be kept.
    await this.#closeInbox();
    if (running && this.#launched === launched) {
      this.#launched = undefined;
      this.#reachedAt = undefined;
      this.#leaveProcess?.();
    }
    return complete;
  }

  async #closeInbox(): Promise<void> {
    const opened = this.#openedInbox;
    const inbox = await opened?.catch(() => undefined);
    await inbox?.close(this.#graceMs);
    if (this.#openedInbox === opened) this.#openedInbox = undefined;
  }

  #backgroundEndpoints(): readonly Endpoint[] {
    return [...this.#endpoints.values()].filter(({ background }) => background !== undefined);
  }

  /** Calls at the same time share one inbox; one that could not be opened may be tried again. */
  #openInbox(): Promise<Inbox> {
    this.#openedInbox ??= this.#startInbox().catch((error) => {
      this.#openedInbox = undefined;
      throw error;
    });
    return this.#openedInbox;
  }

  async #startInbox(): Promise<Inbox> {
    const { openServerInbox } = await import("./node/background.ts");
    const inbox = await openServerInbox({ log: () => this.#logger, now: this.#options.now ?? Date.now });
    for (const endpoint of this.#backgroundEndpoints()) this.#work(inbox, endpoint);
    return inbox;
  }

  #work(inbox: Inbox, endpoint: Endpoint): void {
    if (!endpoint.background) return;
    const run = (task: Task, signal: AbortSignal) => this.#receiver.work(endpoint, task, signal);
    inbox.work({ endpoint: endpoint.name, ...endpoint.background, run });
  }

  #add(endpoint: Endpoint): void {
    const { name } = endpoint;
    if (this.#endpoints.has(name)) {
      throw new WebhookError(
        `An endpoint named "${name}" is registered already: give one of the two another name. A class whose methods are endpoints can be instantiated once.`,
        { code: "ENDPOINT_EXISTS" },
      );
    }
    this.#endpoints.set(name, endpoint);
    // One that is added while the server runs; what fails to open is told to the first delivery.
    void this.#openedInbox?.then(
      (inbox) => this.#work(inbox, endpoint),
      () => {},
    );
    if (this.#told) this.#tellDoubts(endpoint);
    if (this.#reachedAt) {
      const url = `${this.#reachedAt.publicUrl}${webhooksPath}${name}`;
      this.#logger.info({ endpoint: name, url }, "endpoint added");
    }
  }

  #find(name: string | undefined): Endpoint {
    const names = this.endpointNames;
    if (name === undefined && names.length !== 1) {
      throw new WebhookError(
        `Say which endpoint the payload is for, as in receive(payload, { endpoint: "${names[0] ?? "retrain"}" }).`,
        {
          code: "ENDPOINT_REQUIRED",
        },
      );
    }
    const endpoint = this.#endpoints.get(name ?? names[0] ?? "");
    if (endpoint) return endpoint;
    throw new WebhookError(`There is no endpoint "${name}"; there are: ${names.join(", ") || "none"}.`, {
      code: "ENDPOINT_UNKNOWN",
      status: 404,
    });
  }

  #route(): void {
    this.app.all(`${webhooksPath}*`, (context) => this.#receiver.handle(context));
    this.app.get("/health", (context) => context.json({ status: "ok" }));
    serveLandingPage(this.app, {
      page: this.#options.landingPage,
      endpoints: this.#endpoints,
      secretIsSet: (bindings) => this.#secret.isSet(bindings),
      startedAt: this.#startedAt,
      reachedAt: () => this.#reachedAt,
    });
    this.app.notFound(() =>
      answerError(new WebhookError("There is nothing at this path.", { code: "NOT_FOUND", status: 404 })),
    );
    this.app.onError((cause) => {
      this.#logger.error({ err: cause }, "A page or a route of your own failed.");
      return answerError(
        new WebhookError("Something went wrong in the receiver; its log says what.", { code: "INTERNAL", status: 500 }),
      );
    });
  }

  #tellDoubts({ name, doubts }: Endpoint): void {
    for (const doubt of doubts) this.#logger.warn({ endpoint: name }, doubt);
  }

  /** Says, once, what there is to know before the first delivery: which settings look wrong, and whether it is open. */
  #tell(bindings?: unknown): void {
    if (this.#told) return;
    this.#told = true;
    for (const endpoint of this.#endpoints.values()) this.#tellDoubts(endpoint);
    for (const warning of this.#secret.warnings(bindings)) this.#logger.warn(warning);
    if (this.#secret.isSet(bindings)) {
      this.#logger.info("A webhook secret is set: only deliveries that carry it are accepted.");
      return;
    }
    this.#logger.warn(
      "No webhook secret is set: the endpoints are open to everyone. To close them, set WEBHOOK_SECRET (in a Space: Settings, Variables and secrets) or pass { secret }, and give the same secret to the webhook on the Hub.",
    );
  }
}

function notKept(cause: unknown): WebhookError {
  return new WebhookError("The receiver has no inbox to keep the delivery in; its log says why.", {
    code: "INBOX_UNAVAILABLE",
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
    cause,
  });
}

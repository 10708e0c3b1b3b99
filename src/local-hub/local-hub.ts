import type { Hono } from "hono";
import { checkCount, checkOptionNames, checkPort } from "../core/check-option.ts";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { createSafeLogger } from "../core/logger.ts";
import type { Job } from "../hub/jobs.ts";
import { type Listener, type ListenOptions, listen } from "../receiver/node/listen.ts";
import { createHubApp } from "./app.ts";
import { Dispatcher } from "./delivery/dispatcher.ts";
import { HttpSender } from "./delivery/http-sender.ts";
import type { HubDelivery, HubDeliveryAttempt } from "./delivery/hub-delivery.ts";
import { type HubEvent, parseEvent } from "./events/event-request.ts";
import { triggerEvent } from "./events/trigger.ts";
import type { HubContext } from "./hub-context.ts";
import { createId, createSha } from "./ids.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { AuditLog } from "./resources/organizations/audit-log.ts";
import type { ApiEnvironment } from "./routes/authentication.ts";
import { seedStore } from "./seed/seed.ts";
import { openStore, type Store } from "./store/store.ts";

/** The options of `LocalHub.launch`. */
export interface LocalHubOptions {
  /** Default 0: any free port. */
  port?: number;
  /** SQLite file that keeps all data across restarts. Default: in memory. */
  state?: string;
  /** Runs the commands of jobs as local processes. Default `false`: jobs are only recorded. */
  runJobs?: boolean;
  /** Delivers to other machines too. Default `false`: only to this one. */
  allowRemote?: boolean;
  /** Attempts per delivery. Default 3. */
  attempts?: number;
  /** Time before the second attempt, doubled before each further one. Default `"500ms"`. */
  backoff?: Duration;
  /** Time for the whole response of a receiver. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** Consecutive failed deliveries after which a webhook is suspended. Default 5. */
  suspendAfter?: number;
  /** Triggers of a webhook per 24 hours. Default 1000, as on the Hub; `Infinity` for no limit. */
  triggersPerDay?: number;
  /** Logs each delivery. Default: no log. */
  logger?: Logger;
}

const optionNames = {
  port: true,
  state: true,
  runJobs: true,
  allowRemote: true,
  attempts: true,
  backoff: true,
  timeout: true,
  suspendAfter: true,
  triggersPerDay: true,
  logger: true,
} satisfies Record<keyof LocalHubOptions, true>;

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/**
 * A Hub on this machine: it serves the webhooks API, triggers events and delivers them, without an account and without
 * internet access.
 *
 * @example
 * ```ts
 * await using hub = await LocalHub.launch();
 * const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
 * await client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
 * const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
 * ```
 */
export class LocalHub {
  /** Address without a trailing slash, for `HF_ENDPOINT`. */
  readonly url: string;
  readonly port: number;
  readonly #parts: Parts;
  #closed: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.url = parts.context.hubUrl;
    this.port = parts.listener.port;
  }

  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `LOCAL_HUB_STATE_UNUSABLE`, `OPTION_INVALID`.
   */
  static async launch(options: LocalHubOptions = {}): Promise<LocalHub> {
    checkOptionNames(options, { valid: Object.keys(optionNames), kind: "LocalHub" });
    const limits = {
      attempts: checkCount(options.attempts ?? 3, "attempts", { allowsInfinity: true }),
      backoffMs: toMilliseconds(options.backoff ?? "500ms", "backoff"),
      timeoutMs: toMilliseconds(options.timeout ?? "30s", "timeout"),
      suspendAfter: checkCount(options.suspendAfter ?? 5, "suspendAfter", { allowsInfinity: true }),
      triggersPerDay: checkCount(options.triggersPerDay ?? 1_000, "triggersPerDay", { allowsInfinity: true }),
    };
    const { runJobs = false, allowRemote = false } = options;
    const now = () => Date.now();
    const log = createSafeLogger(options.logger ?? silent);
    const port = checkPort(options.port ?? 0);
    let app: Hono<ApiEnvironment> | undefined;
    const listener = await listenOn(port, {
      log,
      fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
    });
    const store = await openStoreOrClose(options.state, listener);
    const hubUrl = `http://127.0.0.1:${listener.port}`;
    const sender = new HttpSender({ allowRemote });
    const jobs = new JobRunner({ store: store.jobs, runJobs, now, createId, log });
    const dispatcher = new Dispatcher({ store, sender, jobs, limits, hubUrl, now, createId, log });
    seedStore(store, { now: now() });
    const auditLog = new AuditLog({ store: store.auditLog, createId, now });
    const context: HubContext = {
      store,
      dispatcher,
      auditLog,
      hubUrl,
      createId,
      createSha,
      now,
      log,
      runJobs,
      allowRemote,
      startedAt: new Date(now()),
      reset: () => resetStore(context),
    };
    app = createHubApp(context);
    return new LocalHub({ context, listener, sender, jobs });
  }

  /**
   * Triggers a push to a repository and waits until every delivery has succeeded or failed its last attempt. Creates
   * the repository if necessary. `fields` override fields of the payload.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` after it was closed.
   */
  async push(repo: HubEvent["repo"], fields: Omit<Partial<HubEvent>, "repo" | "event"> = {}): Promise<HubDelivery[]> {
    return this.trigger({ ...fields, repo, event: { scope: "repo.content", action: "update" } });
  }

  /**
   * Triggers an event and waits until every delivery has succeeded or failed its last attempt. Any further field of the
   * payload can be set, such as `comment`, `discussion` or `updatedRefs`. The local Hub fills in the fields that you omit.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` after it was closed.
   * @example
   * ```ts
   * await localHub.trigger({
   *   repo: { type: "model", name: "me/net" },
   *   event: { scope: "discussion.comment", action: "create" },
   *   comment: { content: "@bot hello" },
   * });
   * ```
   */
  async trigger(event: HubEvent): Promise<HubDelivery[]> {
    const parsed = parseEvent(event);
    const context = this.#context();
    const { deliveries } = triggerEvent(context, parsed);
    return Promise.all(deliveries.map((delivery) => context.dispatcher.waitUntilSettled(delivery)));
  }

  /** Returns the latest 100 attempts of a webhook, newest first. */
  deliveries(webhookId: string): HubDeliveryAttempt[] {
    return this.#context().store.deliveries.attempts(webhookId);
  }

  /** Returns the jobs that webhooks have started, newest first. */
  jobs(): Job[] {
    return this.#context().store.jobs.all();
  }

  /** Restores the initial state: deletes webhooks, deliveries, jobs and all changes. */
  reset(): void {
    this.#context().reset();
  }

  /** Stops serving and delivering, and cancels running jobs. A state file keeps the pending deliveries. */
  close(): Promise<void> {
    this.#closed ??= close(this.#parts);
    return this.#closed;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #context(): HubContext {
    if (this.#closed === undefined) return this.#parts.context;
    throw new WebhookError("This local Hub is closed. Launch another one with LocalHub.launch().", { code: "CLOSING" });
  }
}

interface Parts {
  context: HubContext;
  listener: Listener;
  sender: HttpSender;
  jobs: JobRunner;
}

function resetStore({ store, dispatcher, now }: HubContext): void {
  for (const { id } of store.webhooks.all()) dispatcher.cancel(id);
  store.clear();
  seedStore(store, { now: now() });
}

/** Time for open requests to finish during {@link LocalHub.close}. */
const closeGraceMs = 5_000;

async function close({ context, listener, sender, jobs }: Parts): Promise<void> {
  const listenerClosed = listener.close(closeGraceMs);
  await Promise.all([context.dispatcher.close(), jobs.close()]);
  await listenerClosed;
  sender.close();
  context.store.close();
}

async function listenOn(
  port: number,
  { fetch, log }: { fetch: ListenOptions["fetch"]; log: Logger },
): Promise<Listener> {
  const timeouts = { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 10_000 };
  try {
    return await listen({ fetch, host: "127.0.0.1", port, timeouts, log: () => log });
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") throw error;
    throw new WebhookError(`Port ${port} is in use. Stop the program that listens there, or choose another port.`, {
      code: "PORT_IN_USE",
      cause: error,
    });
  }
}

/** Runs after listening, so that a failed launch creates no state file. */
async function openStoreOrClose(file: string | undefined, listener: Listener): Promise<Store> {
  try {
    return openStore({ file });
  } catch (error) {
    await listener.close(0);
    throw error;
  }
}

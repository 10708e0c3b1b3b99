import type { Hono } from "hono";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { createSafeLogger } from "../core/logger.ts";
import { checkCount, checkPort } from "../core/option-error.ts";
import type { Job } from "../hub/jobs.ts";
import { type Listener, type ListenOptions, listen } from "../receiver/node/listen.ts";
import { createHubApp } from "./app.ts";
import { Dispatcher } from "./delivery/dispatcher.ts";
import { Poster } from "./delivery/http-sender.ts";
import type { HubDelivery, LogEntry } from "./delivery/hub-delivery.ts";
import { checkEvent, type HubEvent } from "./events/event-request.ts";
import { type TriggerContext, triggerEvent } from "./events/trigger.ts";
import { newId, newSha } from "./ids.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { AuditLog } from "./resources/audit-log.ts";
import type { ApiEnvironment } from "./routes/api.ts";
import { seedStore } from "./seed/seed.ts";
import { openStore, type Store } from "./store/store.ts";

/** How to start a local Hub. */
export interface LocalHubOptions {
  /** Default 0: any free one. */
  port?: number;
  /** A SQLite file in which everything survives a restart. Default: in memory, and gone with the process. */
  state?: string;
  /** Runs the commands of jobs as local processes. Default `false`: jobs are only recorded. */
  runJobs?: boolean;
  /** Delivers to other machines too. Default `false`: to this one only. */
  allowRemote?: boolean;
  /** How often a delivery is tried. Default 3. */
  attempts?: number;
  /** What passes before the second attempt; it doubles with each further one. Default `"500ms"`. */
  backoff?: Duration;
  /** How long a receiver may take for a whole answer. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** How many deliveries in a row may fail, each with all its attempts, until the webhook is suspended. Default 5. */
  suspendAfter?: number;
  /** How often a webhook fires in 24 hours. Default 1000, as on the Hub; `Infinity` for no limit. */
  triggersPerDay?: number;
  /** Told of each delivery. Default: nobody is. */
  logger?: Logger;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/**
 * A Hub of your own, on this machine: it serves the Hub's API, lets events happen and delivers them, without
 * an account and without the internet.
 *
 * @example
 * ```ts
 * await using hub = await LocalHub.launch();
 * const client = new HubClient({ endpoint: hub.url, token: "hf_local" });
 * await client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
 * const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
 * ```
 */
export class LocalHub {
  /** Its address, without a trailing slash: what `HF_ENDPOINT` is to be. */
  readonly url: string;
  /** The port of that address. */
  readonly port: number;
  readonly #parts: Parts;
  #ended: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.url = parts.trigger.baseUrl;
    this.port = parts.listener.port;
  }

  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `STATE_UNUSABLE`, `OPTION_INVALID`.
   */
  static async launch(options: LocalHubOptions = {}): Promise<LocalHub> {
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
    const baseUrl = `http://127.0.0.1:${listener.port}`;
    const poster = new Poster({ allowRemote });
    const jobs = new JobRunner({ store: store.jobs, runs: runJobs, now, newId, log });
    const dispatcher = new Dispatcher({ store, poster, jobs, limits, baseUrl, now, newId, log });
    seedStore(store, { now: now() });
    const auditLog = new AuditLog({ store: store.auditLog, newId, now });
    const trigger = { store, dispatcher, auditLog, baseUrl, newId, newSha, now, log };
    const hub = new LocalHub({ trigger, listener, poster, jobs });
    app = createHubApp({
      ...trigger,
      runsJobs: runJobs,
      allowsRemote: allowRemote,
      startedAt: new Date(now()),
      reset: () => hub.reset(),
    });
    return hub;
  }

  /**
   * Lets somebody push to a repository, which is made if there is none, and waits until every delivery of that has
   * succeeded or is given up. `fields` are laid over the payload.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` once it is closed.
   */
  async push(repo: HubEvent["repo"], fields: Omit<Partial<HubEvent>, "repo" | "event"> = {}): Promise<HubDelivery[]> {
    return this.trigger({ ...fields, repo, event: { scope: "repo.content", action: "update" } });
  }

  /**
   * Lets any event happen, and waits until every delivery of it has succeeded or is given up. Its `edits` change the
   * payload alone, as it is sent.
   *
   * @throws `ARGUMENT_INVALID`; `CLOSING` once it is closed.
   * @example
   * ```ts
   * await hub.trigger({ repo: { type: "model", name: "me/net" }, event: { scope: "discussion", action: "create" } });
   * ```
   */
  async trigger(event: HubEvent): Promise<HubDelivery[]> {
    const checked = checkEvent(event);
    const trigger = this.#open();
    const { deliveries } = triggerEvent(trigger, checked);
    return Promise.all(deliveries.map((delivery) => trigger.dispatcher.settled(delivery)));
  }

  /** The log of a webhook, newest first: its latest hundred attempts. */
  deliveries(webhookId: string): LogEntry[] {
    return this.#open().store.deliveries.entries(webhookId);
  }

  /** The jobs that webhooks have started, newest first. */
  jobs(): Job[] {
    return this.#open().store.jobs.all();
  }

  /** Forgets all that has happened since it was new: webhooks, deliveries, jobs, and every change. */
  reset(): void {
    const { store, dispatcher, now } = this.#open();
    for (const { id } of store.webhooks.all()) dispatcher.drop(id);
    store.clear();
    seedStore(store, { now: now() });
  }

  /** Stops serving and delivering and ends the jobs that run. What is still to be delivered is kept in the state file. */
  close(): Promise<void> {
    this.#ended ??= end(this.#parts);
    return this.#ended;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): TriggerContext {
    if (this.#ended === undefined) return this.#parts.trigger;
    throw new WebhookError("This local Hub is closed: start another one with LocalHub.launch().", { code: "CLOSING" });
  }
}

interface Parts {
  trigger: TriggerContext;
  listener: Listener;
  poster: Poster;
  jobs: JobRunner;
}

/** How long requests in work may take when it is closed, in milliseconds. */
const closingGraceMs = 5_000;

async function end({ trigger, listener, poster, jobs }: Parts): Promise<void> {
  const served = listener.close(closingGraceMs);
  await Promise.all([trigger.dispatcher.close(), jobs.close()]);
  await served;
  poster.close();
  trigger.store.close();
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
    throw new WebhookError(`Port ${port} is taken: end the program that listens there, or choose another port.`, {
      code: "PORT_IN_USE",
      cause: error,
    });
  }
}

/** After the port, so that a state file is not made for a Hub that cannot listen. */
async function openStoreOrClose(file: string | undefined, listener: Listener): Promise<Store> {
  try {
    return openStore({ file });
  } catch (error) {
    await listener.close(0);
    throw error;
  }
}

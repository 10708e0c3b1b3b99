import { suspendedAfterFailure } from "../hub/contract/webhooks.ts";
import type { Logger } from "../logger.ts";
import { type AttemptContext, attemptDelivery } from "./attempt.ts";
import type { JobRunner } from "./job-runner.ts";
import type { LogEntry } from "./log-entry.ts";
import type { Poster } from "./post.ts";
import { Queue } from "./queue.ts";
import type { PendingDelivery } from "./store/delivery-store.ts";
import type { Store } from "./store/store.ts";
import type { StoredWebhook } from "./store/webhook-store.ts";

/** How a local Hub delivers. */
export interface DeliveryLimits {
  /** How often a delivery is tried. */
  attempts: number;
  /** Milliseconds before the second attempt; they double with each further one. */
  backoffMs: number;
  /** Milliseconds for one attempt, the whole answer included. */
  timeoutMs: number;
  /** Deliveries that fail in a row, each with all its attempts, before the webhook is suspended. */
  suspendAfter: number;
  /** How often a webhook fires in 24 hours. */
  triggersPerDay: number;
}

/** What a {@link Dispatcher} is made from. */
export interface DispatcherOptions {
  store: Store;
  poster: Poster;
  jobs: JobRunner;
  limits: DeliveryLimits;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  newId: () => string;
  log: Logger;
}

/** A delivery that an event has led to. */
export interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id`: kept on retries and replays. */
  deliveryId: string;
  /** The log entry of its latest attempt. */
  logId: string;
  /** HTTP status of that attempt; `null` when there was no answer, or none yet. */
  status: number | null;
}

/** Attempts under way at the same time; what is more waits, so that a flood costs no memory but its rows. */
const attemptsAtOnce = 64;
/** Longer than this, a timer of JavaScript fires at once. */
const longestTimerMs = 2_147_483_647;
const dayMs = 24 * 60 * 60 * 1000;

interface Waiter {
  delivery: HubDelivery;
  resolve: (delivery: HubDelivery) => void;
}

/** Delivers: to URLs and to jobs, with retries, suspension and a log. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #ready = new Queue<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #waiters = new Map<string, Waiter>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    for (const pending of options.store.deliveries.allPending()) this.#schedule(pending);
  }

  /**
   * Fires webhooks: notes one delivery for each and begins to send. `body` makes the payload of a webhook. Webhooks
   * that have used up their triggers of the day are left out.
   */
  fire(webhooks: readonly StoredWebhook[], body: (webhook: StoredWebhook) => string): HubDelivery[] {
    const { store, newId, now } = this.#options;
    const dueAt = now();
    const deliveries: PendingDelivery[] = [];
    store.atOnce(() => {
      for (const webhook of webhooks) {
        if (!this.#takeTrigger(webhook, dueAt)) continue;
        const ids = { webhookId: webhook.id, deliveryId: newId(), logId: newId() };
        const delivery = { ...ids, attempt: 1, dueAt, body: body(webhook) };
        store.deliveries.putPending(delivery);
        deliveries.push(delivery);
      }
    });
    for (const { deliveryId } of deliveries) this.#ready.push(deliveryId);
    this.#proceed();
    return deliveries.map(({ webhookId, deliveryId, logId }) => ({ webhookId, deliveryId, logId, status: null }));
  }

  /** Resolves when a delivery that was just fired has succeeded or will not be tried again. */
  settled(delivery: HubDelivery): Promise<HubDelivery> {
    return new Promise((resolve) => this.#waiters.set(delivery.deliveryId, { delivery, resolve }));
  }

  /** Sends a delivery of the log again, once, to where the webhook points now. */
  async replay(webhook: StoredWebhook, { deliveryId, request }: LogEntry): Promise<LogEntry> {
    const { store, newId } = this.#options;
    const attempt = store.deliveries.latestAttempt(deliveryId) + 1;
    const delivery = { deliveryId, logId: newId(), attempt, body: request.body };
    const { entry } = await attemptDelivery(this.#attemptContext(), { webhook, delivery });
    if (store.webhooks.get(webhook.id)) this.#note(webhook.id, entry);
    return entry;
  }

  /** Gives up what is under way, keeps what is to come in the store, and sends nothing more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#underWay);
    for (const deliveryId of this.#waiters.keys()) this.#settle(deliveryId, {});
  }

  /** Counts a trigger, unless the day's are used up. */
  #takeTrigger(webhook: StoredWebhook, at: number): boolean {
    const { store, limits, log } = this.#options;
    const sameDay = at - webhook.dayBeganAt < dayMs;
    const triggersToday = sameDay ? webhook.triggersToday : 0;
    if (triggersToday >= limits.triggersPerDay) {
      log.warn({ webhook: webhook.id }, `not fired: its ${limits.triggersPerDay} triggers a day are used up`);
      return false;
    }
    const dayBeganAt = sameDay ? webhook.dayBeganAt : at;
    store.webhooks.put({ ...webhook, dayBeganAt, triggersToday: triggersToday + 1, lastTriggerAt: at });
    return true;
  }

  #schedule(pending: PendingDelivery): void {
    const { deliveryId, dueAt } = pending;
    const waitMs = Math.max(0, dueAt - this.#options.now());
    const wake = () => {
      this.#timers.delete(deliveryId);
      if (waitMs > longestTimerMs) return this.#schedule(pending);
      this.#ready.push(deliveryId);
      this.#proceed();
    };
    this.#timers.set(deliveryId, setTimeout(wake, Math.min(waitMs, longestTimerMs)));
  }

  #proceed(): void {
    while (this.#underWay.size < attemptsAtOnce && !this.#closing.signal.aborted) {
      const deliveryId = this.#ready.shift();
      if (deliveryId === undefined) return;
      const work = this.#deliver(deliveryId)
        .catch((error: unknown) => this.#options.log.error({ err: error, deliveryId }, "A delivery went wrong."))
        .finally(() => {
          this.#underWay.delete(work);
          this.#proceed();
        });
      this.#underWay.add(work);
    }
  }

  async #deliver(deliveryId: string): Promise<void> {
    const { store, limits, now, newId } = this.#options;
    const pending = store.deliveries.getPending(deliveryId);
    const webhook = pending && store.webhooks.get(pending.webhookId);
    if (!pending || webhook?.disabled !== false) {
      store.deliveries.deletePending(deliveryId);
      return this.#settle(deliveryId, {});
    }
    // A replay may have gone on counting meanwhile; that leaves the attempts of this delivery as many as they are.
    const isRetry = pending.attempt > 1;
    const attempt = isRetry ? Math.max(pending.attempt, store.deliveries.latestAttempt(deliveryId) + 1) : 1;
    const delivery = { ...pending, attempt };
    const { entry, retryable } = await attemptDelivery(this.#attemptContext(), { webhook, delivery });
    const succeeded = entry.error === null;
    // What was cut off by closing is sent again after the next start.
    if (this.#closing.signal.aborted && !succeeded) return;
    // It may have been deleted meanwhile, with its log.
    if (!store.webhooks.get(webhook.id)) return this.#settle(deliveryId, { status: entry.status });
    const next =
      succeeded || !retryable || pending.attempt >= limits.attempts
        ? undefined
        : {
            ...pending,
            logId: newId(),
            attempt: pending.attempt + 1,
            dueAt: now() + limits.backoffMs * 2 ** (pending.attempt - 1),
          };
    store.atOnce(() => {
      this.#note(webhook.id, entry);
      if (next) return store.deliveries.putPending(next);
      store.deliveries.deletePending(deliveryId);
      this.#count(webhook.id, succeeded);
    });
    if (next) this.#schedule(next);
    else this.#settle(deliveryId, { logId: entry.logId, status: entry.status });
  }

  #settle(deliveryId: string, outcome: Partial<HubDelivery>): void {
    const waiter = this.#waiters.get(deliveryId);
    this.#waiters.delete(deliveryId);
    waiter?.resolve({ ...waiter.delivery, ...outcome });
  }

  /** Counts a delivery as succeeded or failed, and suspends its webhook after too many failures in a row. */
  #count(webhookId: string, succeeded: boolean): void {
    const { store, limits, log } = this.#options;
    const webhook = store.webhooks.get(webhookId);
    const failures = succeeded ? 0 : (webhook?.failures ?? 0) + 1;
    if (!webhook || failures === webhook.failures) return;
    const suspended = failures >= limits.suspendAfter && webhook.disabled === false;
    if (suspended) log.warn({ webhook: webhookId }, `suspended: ${failures} deliveries in a row have failed`);
    store.webhooks.put({ ...webhook, failures, ...(suspended && { disabled: suspendedAfterFailure }) });
  }

  #note(webhookId: string, entry: LogEntry): void {
    const { store, log } = this.#options;
    store.deliveries.addEntry(webhookId, entry);
    const { status, attempt, durationMs, deliveryId, logId, error } = entry;
    const fields = { status, webhook: webhookId, attempt, ms: durationMs, deliveryId, logId };
    if (error === null) log.info(fields, "delivered");
    else log.warn({ ...fields, reason: error }, "delivery failed");
  }

  #attemptContext(): AttemptContext {
    const { poster, jobs, limits, baseUrl, now } = this.#options;
    return { poster, jobs, baseUrl, now, timeoutMs: limits.timeoutMs, signal: this.#closing.signal };
  }
}

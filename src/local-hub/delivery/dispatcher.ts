import { exponentialBackoff } from "../../core/backoff.ts";
import { maxTimerMs } from "../../core/duration.ts";
import type { Logger } from "../../core/logger.ts";
import { suspendedAfterFailure } from "../../hub/webhooks/schemas.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import { targetUrl } from "../resources/webhooks.ts";
import type { DueDelivery } from "../store/delivery-store.ts";
import type { Store } from "../store/store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { type AttemptContext, attemptDelivery } from "./attempt.ts";
import type { Poster } from "./http-sender.ts";
import type { LogEntry } from "./hub-delivery.ts";
import { droppedDelivery, type HubDelivery, triedDelivery, untriedDelivery } from "./hub-delivery.ts";
import { Lanes } from "./webhook-queues.ts";

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

/** Attempts of one webhook under way at the same time; what is more waits, so that a flood opens no flood of sockets. */
const attemptsAtOnce = 16;
const dayMs = 24 * 60 * 60 * 1000;

interface Waiter {
  delivery: HubDelivery;
  resolve: (delivery: HubDelivery) => void;
}

/** Delivers: to URLs and to jobs, with retries, suspension and a log. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #lanes = new Lanes({ atOnce: attemptsAtOnce });
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #waiters = new Map<string, Waiter>();
  readonly #closing = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    for (const due of options.store.deliveries.allDue()) this.#schedule(due);
  }

  /**
   * Fires webhooks: notes one delivery for each and begins to send. `body` makes the payload of a webhook. Webhooks
   * that have used up their triggers of the day are left out.
   */
  fire(webhooks: readonly StoredWebhook[], body: (webhook: StoredWebhook) => string): HubDelivery[] {
    const { store, newId, now, baseUrl } = this.#options;
    const dueAt = now();
    const deliveries: HubDelivery[] = [];
    store.atOnce(() => {
      for (const webhook of webhooks) {
        if (!this.#takeTrigger(webhook, dueAt)) continue;
        const ids = { webhookId: webhook.id, deliveryId: newId(), logId: newId() };
        store.deliveries.putPending({ ...ids, attempt: 1, dueAt, body: body(webhook) });
        deliveries.push(untriedDelivery({ ...ids, url: targetUrl(webhook, { baseUrl }) }));
      }
    });
    for (const delivery of deliveries) this.#enqueue(delivery);
    return deliveries;
  }

  /** Whether a webhook has a trigger left today. */
  canFire(webhook: StoredWebhook): boolean {
    return this.#triggersToday(webhook, this.#options.now()) < this.#options.limits.triggersPerDay;
  }

  /** Resolves when a delivery that was just fired has succeeded or will not be tried again. */
  settled(delivery: HubDelivery): Promise<HubDelivery> {
    return new Promise((resolve) => this.#waiters.set(delivery.deliveryId, { delivery, resolve }));
  }

  /** Sends a delivery of the log again, once, to where the webhook points now. */
  async replay(webhook: StoredWebhook, { deliveryId, request }: LogEntry): Promise<LogEntry> {
    const { store, newId } = this.#options;
    const delivery = { deliveryId, logId: newId(), attempt: 1, body: request.body };
    const { entry } = await attemptDelivery(this.#attemptContext(), { webhook, delivery });
    if (store.webhooks.get(webhook.id)) this.#note(webhook.id, entry);
    return entry;
  }

  /** Gives up what is still to be sent to a webhook that was deleted or stopped. */
  drop(webhookId: string): void {
    const { store, log } = this.#options;
    const dropped = store.deliveries.pendingOf(webhookId);
    for (const deliveryId of dropped) {
      clearTimeout(this.#timers.get(deliveryId));
      this.#timers.delete(deliveryId);
      store.deliveries.deletePending(deliveryId);
      this.#settle(deliveryId);
    }
    if (dropped.length > 0) log.warn({ webhook: webhookId, deliveries: dropped.length }, "deliveries given up");
  }

  /** Gives up what is under way, keeps what is to come in the store, and sends nothing more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#lanes.stop();
    for (const deliveryId of this.#waiters.keys()) this.#settle(deliveryId);
  }

  /** Counts a trigger, unless the day's are used up. */
  #takeTrigger(webhook: StoredWebhook, at: number): boolean {
    const { store, limits, log } = this.#options;
    const triggersToday = this.#triggersToday(webhook, at);
    if (triggersToday >= limits.triggersPerDay) {
      log.warn({ webhook: webhook.id }, `not fired: its ${limits.triggersPerDay} triggers a day are used up`);
      return false;
    }
    const dayBeganAt = isSameDay(webhook, at) ? webhook.dayBeganAt : at;
    store.webhooks.put({ ...webhook, dayBeganAt, triggersToday: triggersToday + 1, lastTriggerAt: at });
    return true;
  }

  #triggersToday(webhook: StoredWebhook, at: number): number {
    return isSameDay(webhook, at) ? webhook.triggersToday : 0;
  }

  #schedule(due: DueDelivery): void {
    const waitMs = Math.max(0, due.dueAt - this.#options.now());
    const wake = () => {
      this.#timers.delete(due.deliveryId);
      if (waitMs > maxTimerMs) this.#schedule(due);
      else this.#enqueue(due);
    };
    this.#timers.set(due.deliveryId, setTimeout(wake, Math.min(waitMs, maxTimerMs)));
  }

  #enqueue({ deliveryId, webhookId }: { deliveryId: string; webhookId: string }): void {
    this.#lanes.run(webhookId, () =>
      this.#deliver(deliveryId).catch((error: unknown) => {
        this.#options.log.error(
          { err: error, deliveryId },
          "A delivery could not be worked on; with a state file the next start tries it again.",
        );
      }),
    );
  }

  async #deliver(deliveryId: string): Promise<void> {
    const { store, limits, now, newId } = this.#options;
    const pending = store.deliveries.getPending(deliveryId);
    const webhook = pending && store.webhooks.get(pending.webhookId);
    if (!pending || !webhook) return;
    const { entry, retryable } = await attemptDelivery(this.#attemptContext(), { webhook, delivery: pending });
    const succeeded = entry.error === null;
    // What was cut off by closing is sent again after the next start.
    if (this.#closing.signal.aborted && !succeeded) return;
    if (!store.deliveries.getPending(deliveryId)) {
      // Dropped meanwhile: that it was tried is told, unless the log went with the webhook.
      if (store.webhooks.get(webhook.id)) this.#note(webhook.id, entry);
      return;
    }
    const next =
      succeeded || !retryable || pending.attempt >= limits.attempts
        ? undefined
        : {
            ...{ deliveryId, webhookId: webhook.id, logId: newId(), body: pending.body },
            attempt: pending.attempt + 1,
            dueAt: now() + exponentialBackoff(pending.attempt, { firstMs: limits.backoffMs }),
          };
    const noted = store.atOnce(() => {
      const kept = this.#note(webhook.id, entry);
      if (next) store.deliveries.putPending(next);
      else {
        store.deliveries.deletePending(deliveryId);
        this.#count(webhook.id, succeeded);
      }
      return kept;
    });
    if (next) this.#schedule({ deliveryId, webhookId: webhook.id, dueAt: next.dueAt });
    else this.#settle(deliveryId, noted);
  }

  /** Tells who waits for it how its latest attempt ended, if it was tried at all. */
  #settle(deliveryId: string, latest?: LogEntry): void {
    const waiter = this.#waiters.get(deliveryId);
    if (!waiter) return;
    this.#waiters.delete(deliveryId);
    const entry = latest ?? this.#options.store.deliveries.latestEntry(deliveryId);
    const { delivery } = waiter;
    waiter.resolve(entry ? triedDelivery(delivery.webhookId, entry) : droppedDelivery(delivery));
  }

  /** Counts a delivery as succeeded or failed, and suspends its webhook after too many failures in a row. */
  #count(webhookId: string, succeeded: boolean): void {
    const { store, limits, log } = this.#options;
    const webhook = store.webhooks.get(webhookId);
    const failures = succeeded ? 0 : (webhook?.failures ?? 0) + 1;
    if (!webhook || failures === webhook.failures) return;
    const isSuspended = failures >= limits.suspendAfter && webhook.disabled === false;
    store.webhooks.put({ ...webhook, failures, ...(isSuspended && { disabled: suspendedAfterFailure }) });
    if (!isSuspended) return;
    log.warn({ webhook: webhookId }, `suspended: ${failures} deliveries in a row have failed`);
    this.drop(webhookId);
  }

  #note(webhookId: string, attempted: LogEntry): LogEntry {
    const { store, log } = this.#options;
    const { deliveryId } = attempted;
    // Counted only now: a replay may have come between an attempt and its retry.
    const latest = store.deliveries.latestEntry(deliveryId)?.attempt ?? 0;
    const entry = { ...attempted, attempt: Math.max(attempted.attempt, latest + 1) };
    store.deliveries.addEntry(webhookId, entry);
    const { status, attempt, durationMs, logId, error } = entry;
    const fields = { status, webhook: webhookId, attempt, ms: durationMs, deliveryId, logId };
    if (error === null) log.info(fields, "delivered");
    else log.warn({ ...fields, reason: error }, "delivery failed");
    return entry;
  }

  #attemptContext(): AttemptContext {
    const { poster, jobs, limits, baseUrl, now } = this.#options;
    return { poster, jobs, baseUrl, now, timeoutMs: limits.timeoutMs, signal: this.#closing.signal };
  }
}

function isSameDay({ dayBeganAt }: StoredWebhook, at: number): boolean {
  return at - dayBeganAt < dayMs;
}

import type { Logger } from "../../core/log.ts";
import { maxTimerMs } from "../../core/options.ts";
import { exponentialBackoff } from "../../core/time.ts";
import { suspendedAfterFailure } from "../../hub/webhooks/schemas.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { PendingDelivery, ScheduledDelivery } from "../store/delivery-store.ts";
import type { Store } from "../store/store.ts";
import { maskedTargetUrl, type StoredWebhook } from "../store/webhook-store.ts";
import { type AttemptContext, attemptDelivery } from "./attempt.ts";
import type { FaultyDelivery } from "./faults.ts";
import type { HttpSender } from "./http-sender.ts";
import {
  describeAttempted,
  describeCanceled,
  describePending,
  type HubDelivery,
  type HubDeliveryAttempt,
} from "./hub-delivery.ts";

interface DeliveryLimits {
  attempts: number;
  /** The pause before the second attempt. The pause doubles before each later attempt. */
  backoffMs: number;
  timeoutMs: number;
  /** The number of consecutive failed deliveries after which a webhook is suspended. */
  suspendAfter: number;
  triggersPerDay: number;
}

interface DispatcherOptions {
  store: Store;
  sender: HttpSender;
  jobs: JobRunner;
  limits: DeliveryLimits;
  deliveryFaults: FaultyDelivery;
  hubUrl: string;
  now: () => number;
  createId: () => string;
  log: Logger;
}

/** The maximum number of concurrent attempts per webhook. Without a limit, a burst of events would open a socket for each delivery. */
const maxConcurrentAttempts = 16;
const dayMs = 24 * 60 * 60 * 1000;

/** Sends deliveries to URLs and jobs, retries failed deliveries, suspends failing webhooks, and records the attempts. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queues = new WebhookQueues();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #waiters = new Map<string, { delivery: HubDelivery; resolve: (delivery: HubDelivery) => void }>();
  /** Called when no delivery is pending, or the dispatcher closes. */
  readonly #idleWaiters: (() => void)[] = [];
  readonly #closing = new AbortController();
  /** Whether {@link close} has ended all attempts. Requests in progress can still fire webhooks. */
  #isClosed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { store, limits, now } = options;
    // The clock can have been set back since.
    const latest = now() + exponentialBackoff(limits.attempts - 1, { firstMs: limits.backoffMs });
    for (const { dueAt, ...delivery } of store.deliveries.allScheduled()) {
      this.#schedule({ ...delivery, dueAt: Math.min(dueAt, latest) });
    }
  }

  /** Stores and queues a delivery for each webhook below its daily limit. `onStored` is called in the same transaction. */
  fire(
    webhooks: readonly StoredWebhook[],
    body: (webhook: StoredWebhook) => string,
    onStored: (deliveries: readonly HubDelivery[]) => void = () => {},
  ): HubDelivery[] {
    const { store, createId, now, hubUrl } = this.#options;
    const dueAt = now();
    const deliveries: HubDelivery[] = [];
    store.transaction(() => {
      for (const webhook of webhooks) {
        if (!this.#countTrigger(webhook, dueAt)) continue;
        const ids = { webhookId: webhook.id, deliveryId: createId(), logId: createId() };
        store.deliveries.putPending({ ...ids, attempt: 1, dueAt, body: body(webhook) });
        deliveries.push(describePending({ ...ids, url: maskedTargetUrl(webhook, { hubUrl }) }));
      }
      onStored(deliveries);
    });
    // The caller can roll back the change of the event.
    store.afterCommit(() => {
      for (const delivery of deliveries) {
        const waitMs = this.#options.deliveryFaults.delayMs();
        if (waitMs > 0) this.#schedule({ ...delivery, dueAt: dueAt + waitMs });
        else this.#enqueue(delivery);
      }
    });
    return deliveries;
  }

  get limits(): Readonly<DeliveryLimits> {
    return this.#options.limits;
  }

  triggersToday(webhook: StoredWebhook, at = this.#options.now()): number {
    return isSameDay(webhook, at) ? webhook.triggersToday : 0;
  }

  canFire(webhook: StoredWebhook): boolean {
    return this.triggersToday(webhook) < this.limits.triggersPerDay;
  }

  /** Waits until a delivery that `fire` has just returned succeeds, fails for good, or is canceled, or the dispatcher closes. */
  waitUntilSettled(delivery: HubDelivery): Promise<HubDelivery> {
    return new Promise((resolve) => {
      this.#waiters.set(delivery.deliveryId, { delivery, resolve });
      if (this.#isClosed) this.#settle(delivery.deliveryId);
    });
  }

  /** Waits until all deliveries have succeeded, have failed without another retry, or are canceled, or until the dispatcher closes. */
  waitUntilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#checkIdle();
    });
  }

  /** Sends the delivery of an earlier attempt again, to the webhook's current URL or job. A replay is not retried. */
  async replay(webhook: StoredWebhook, { deliveryId, request }: HubDeliveryAttempt): Promise<HubDeliveryAttempt> {
    const { store, createId } = this.#options;
    const delivery = { deliveryId, logId: createId(), attempt: 1, body: request.body };
    const { attempt } = await attemptDelivery(this.#attemptContext(), { webhook, delivery });
    return store.webhooks.get(webhook.id) ? this.#recordAttempt(webhook.id, attempt) : attempt;
  }

  cancel(webhookId: string): void {
    const { store, log } = this.#options;
    const canceled = store.deliveries.pendingOf(webhookId);
    for (const deliveryId of canceled) {
      clearTimeout(this.#timers.get(deliveryId));
      this.#timers.delete(deliveryId);
      store.deliveries.deletePending(deliveryId);
      this.#settle(deliveryId);
    }
    if (canceled.length > 0)
      log.warn({ webhook: webhookId, deliveries: canceled.length }, "The webhook's pending deliveries were canceled.");
  }

  /** Stops sending deliveries and aborts running attempts. Pending deliveries stay in the store. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#queues.stop();
    this.#isClosed = true;
    for (const deliveryId of this.#waiters.keys()) this.#settle(deliveryId);
    this.#checkIdle();
  }

  /** Returns `false` if the webhook has reached its daily limit. */
  #countTrigger(webhook: StoredWebhook, at: number): boolean {
    const { store, limits, log } = this.#options;
    const triggersToday = this.triggersToday(webhook, at);
    if (triggersToday >= limits.triggersPerDay) {
      log.warn(
        { webhook: webhook.id, triggersPerDay: limits.triggersPerDay },
        "The webhook did not fire, because it has reached its daily limit. Raise triggersPerDay, or create another webhook.",
      );
      return false;
    }
    const dayBeganAt = isSameDay(webhook, at) ? webhook.dayBeganAt : at;
    store.webhooks.put({ ...webhook, dayBeganAt, triggersToday: triggersToday + 1, lastTriggerAt: at });
    return true;
  }

  #schedule(scheduled: ScheduledDelivery): void {
    if (this.#closing.signal.aborted) return;
    const waitMs = Math.max(0, scheduled.dueAt - this.#options.now());
    const onTimer = () => {
      this.#timers.delete(scheduled.deliveryId);
      if (waitMs > maxTimerMs) this.#schedule(scheduled);
      else this.#enqueue(scheduled);
    };
    this.#timers.set(scheduled.deliveryId, setTimeout(onTimer, Math.min(waitMs, maxTimerMs)));
  }

  #enqueue({ deliveryId, webhookId }: { deliveryId: string; webhookId: string }): void {
    const { limits, now, log } = this.#options;
    this.#queues.add(webhookId, () =>
      this.#deliver(deliveryId).catch((error: unknown) => {
        log.error(
          { err: error, deliveryId },
          `A delivery could not be processed. It is sent again in ${limits.timeoutMs / 1000} s.`,
        );
        // The store can be full for a while. The pause is long, because the receiver can have processed the delivery.
        this.#schedule({ deliveryId, webhookId, dueAt: now() + limits.timeoutMs });
      }),
    );
  }

  async #deliver(deliveryId: string): Promise<void> {
    const { store, limits, now, createId, deliveryFaults: faults } = this.#options;
    const pending = store.deliveries.getPending(deliveryId);
    const webhook = pending && store.webhooks.get(pending.webhookId);
    if (!pending || !webhook) return;
    if (pending.attempt === 1 && faults.isDropped()) {
      // The caller of `fire` calls `waitUntilSettled` after it.
      await Promise.resolve();
      this.#drop(pending, webhook);
      return;
    }
    if (pending.attempt === 1 && faults.isDuplicated()) {
      const delivery = { ...pending, logId: createId() };
      const { attempt: first } = await attemptDelivery(this.#attemptContext(), { webhook, delivery });
      if (this.#closing.signal.aborted) return;
      if (store.webhooks.get(webhook.id)) this.#recordAttempt(webhook.id, first);
    }
    const { attempt, retryable } = await attemptDelivery(this.#attemptContext(), { webhook, delivery: pending });
    const succeeded = attempt.error === null;
    // `close` aborted this attempt. With a state file, the delivery is sent again when the local Hub restarts.
    if (this.#closing.signal.aborted && !succeeded) return;
    if (!store.deliveries.getPending(deliveryId)) {
      // The delivery was canceled during the attempt. If the webhook was deleted, its attempts are not stored.
      if (store.webhooks.get(webhook.id)) this.#recordAttempt(webhook.id, attempt);
      return;
    }
    const isRetried = !succeeded && retryable && pending.attempt < limits.attempts;
    const next = isRetried && {
      ...{ deliveryId, webhookId: webhook.id, logId: createId(), body: pending.body, attempt: pending.attempt + 1 },
      dueAt: now() + exponentialBackoff(pending.attempt, { firstMs: limits.backoffMs }),
    };
    const recorded = store.transaction(() => {
      const stored = this.#recordAttempt(webhook.id, attempt);
      if (next) store.deliveries.putPending(next);
      else {
        store.deliveries.deletePending(deliveryId);
        this.#countResult(webhook.id, succeeded);
      }
      return stored;
    });
    if (next) this.#schedule({ deliveryId, webhookId: webhook.id, dueAt: next.dueAt });
    else this.#settle(deliveryId, recorded);
  }

  /** Loses a delivery, as `drop` asks for. The Hub would not count it as a failure of the webhook either. */
  #drop({ deliveryId, logId, body }: PendingDelivery, webhook: StoredWebhook): void {
    const { store, now, hubUrl } = this.#options;
    const recorded = store.transaction(() => {
      store.deliveries.deletePending(deliveryId);
      return this.#recordAttempt(webhook.id, {
        ...{ logId, deliveryId, attempt: 1, at: new Date(now()).toISOString(), durationMs: 0 },
        ...{ url: maskedTargetUrl(webhook, { hubUrl }), status: null, request: { headers: {}, body }, response: null },
        error: "lost on purpose: the local Hub drops a share of its deliveries",
      });
    });
    this.#settle(deliveryId, recorded);
  }

  /** If there was no attempt, the delivery counts as canceled. */
  #settle(deliveryId: string, latest?: HubDeliveryAttempt): void {
    this.#checkIdle();
    const waiter = this.#waiters.get(deliveryId);
    if (!waiter) return;
    this.#waiters.delete(deliveryId);
    const attempt = latest ?? this.#options.store.deliveries.latestAttempt(deliveryId);
    const { delivery } = waiter;
    waiter.resolve(attempt ? describeAttempted(delivery.webhookId, attempt) : describeCanceled(delivery));
  }

  #checkIdle(): void {
    if (this.#idleWaiters.length === 0) return;
    if (!this.#isClosed && this.#options.store.deliveries.hasPending()) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** At `suspendAfter` consecutive failed deliveries, suspends the webhook and cancels its pending deliveries. */
  #countResult(webhookId: string, succeeded: boolean): void {
    const { store, limits, log } = this.#options;
    const webhook = store.webhooks.get(webhookId);
    const failures = succeeded ? 0 : (webhook?.failures ?? 0) + 1;
    if (!webhook || failures === webhook.failures) return;
    const isSuspended = failures >= limits.suspendAfter;
    store.webhooks.put({ ...webhook, failures, ...(isSuspended && { disabled: suspendedAfterFailure }) });
    if (!isSuspended) return;
    log.warn(
      { webhook: webhookId, failures },
      "The webhook was suspended, because too many consecutive deliveries failed. Fix the receiver, then enable the webhook again.",
    );
    this.cancel(webhookId);
  }

  #recordAttempt(webhookId: string, sent: HubDeliveryAttempt): HubDeliveryAttempt {
    const { store, log } = this.#options;
    const { deliveryId } = sent;
    // Attempts are numbered when they are stored, because a replay can run between an attempt and its retry.
    const latest = store.deliveries.latestAttempt(deliveryId)?.attempt ?? 0;
    const numbered = { ...sent, attempt: Math.max(sent.attempt, latest + 1) };
    store.deliveries.addAttempt(webhookId, numbered);
    const { status, attempt, durationMs, logId, error } = numbered;
    const fields = { status, webhook: webhookId, attempt, ms: durationMs, deliveryId, logId };
    if (error === null) log.info(fields, "delivered");
    else log.warn({ ...fields, reason: error }, "delivery failed");
    return numbered;
  }

  #attemptContext(): AttemptContext {
    const { sender, jobs, limits, hubUrl, now } = this.#options;
    return { sender, jobs, hubUrl, now, timeoutMs: limits.timeoutMs, signal: this.#closing.signal };
  }
}

function isSameDay({ dayBeganAt }: StoredWebhook, at: number): boolean {
  // The clock can have been set back since.
  return Math.abs(at - dayBeganAt) < dayMs;
}

/** Runs deliveries in one queue per webhook, so that a slow receiver does not delay other webhooks. */
class WebhookQueues {
  readonly #queues = new Map<string, WebhookQueue>();
  #running = 0;
  #stopped: PromiseWithResolvers<void> | undefined;

  /** Adds a task to the queue of a webhook. The task must not reject. */
  add(webhookId: string, task: Task): void {
    const queue = this.#queues.get(webhookId) ?? { waiting: new Queue(), running: 0 };
    this.#queues.set(webhookId, queue);
    queue.waiting.push(task);
    this.#runNext(webhookId, queue);
  }

  /** Stops starting tasks. Resolves when all running tasks have ended. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.withResolvers();
    if (this.#running === 0) this.#stopped.resolve();
    return this.#stopped.promise;
  }

  #runNext(webhookId: string, queue: WebhookQueue): void {
    while (queue.running < maxConcurrentAttempts && !this.#stopped) {
      const task = queue.waiting.shift();
      if (!task) break;
      queue.running += 1;
      this.#running += 1;
      void task().finally(() => {
        queue.running -= 1;
        this.#running -= 1;
        this.#runNext(webhookId, queue);
        if (this.#running === 0) this.#stopped?.resolve();
      });
    }
    if (queue.running === 0) this.#queues.delete(webhookId);
  }
}

type Task = () => Promise<void>;

interface WebhookQueue {
  waiting: Queue<Task>;
  running: number;
}

interface Link<Item> {
  item: Item;
  next?: Link<Item>;
}

/** A queue, implemented as a linked list, because `shift` on a long array moves all remaining items. */
class Queue<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;

  push(item: Item): void {
    const link: Link<Item> = { item };
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }

  shift(): Item | undefined {
    const link = this.#first;
    this.#first = link?.next;
    if (!this.#first) this.#last = undefined;
    return link?.item;
  }
}

import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../core/logger.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { QueueOptions, Task } from "../inbox.ts";
import { inboxClosing, leaseLost } from "../inbox-errors.ts";
import { nextAttemptAt } from "../retry-policy.ts";
import { closingError, storedError } from "../stored-delivery.ts";
import type { DamageLog } from "./damage-log.ts";
import type { Claimed, DeliveryTable, Ending, EndingResult } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { SuspectGate } from "./suspect-gate.ts";

/** What a {@link QueueWorker} is made from. */
export interface QueueWorkerOptions {
  queue: QueueOptions;
  /** Belongs to the current file of the inbox. */
  table: () => DeliveryTable;
  commit: GroupCommit;
  gate: SuspectGate;
  damage: DamageLog;
  /** Names this process. */
  owner: string;
  /** How often an ending is tried to be stored, in milliseconds. */
  retryMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a clock that is never set. */
  monotonicNow: () => number;
  log: () => Logger;
  /** Called when a delivery of this endpoint becomes due later (ms since the epoch). */
  later: (dueAt: number) => void;
  /** Called when a delivery starts or has ended. */
  runningChanged: () => void;
}

interface Running {
  claimed: Claimed;
  controller: AbortController;
  done: Promise<void>;
}

/** Runs the deliveries of one endpoint, so many at a time. */
export class QueueWorker {
  readonly #options: QueueWorkerOptions;
  /** By id. */
  readonly #running = new Map<string, Running>();
  readonly #stopped = new AbortController();
  #claiming: Promise<void> | undefined;
  #isClaiming = false;
  #isWanted = false;
  #closing = false;
  #closed = false;
  /** By the monotonic clock. */
  #failingSince: number | undefined;

  constructor(options: QueueWorkerOptions) {
    this.#options = options;
  }

  get queue(): QueueOptions {
    return this.#options.queue;
  }

  get running(): number {
    return this.#running.size;
  }

  /** For how long no delivery could be taken, in milliseconds; 0 when the last try was fine. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#options.monotonicNow() - this.#failingSince;
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Takes deliveries that are due, up to its concurrency. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    this.#claiming = this.#claim();
  }

  /** Runs the first suspect that is due. Returns whether there was one; never rejects. */
  async runSuspect(): Promise<boolean> {
    const { queue, table, commit, owner, now, gate } = this.#options;
    if (this.#closing) return false;
    const taking = this.#try(() =>
      commit.write(() =>
        table().claimSuspect(queue.endpoint, { claimant: { owner, now: now() }, onDamage: this.#onDamage }),
      ),
    );
    this.#claiming = Promise.all([this.#claiming, taking]).then(() => {});
    const claimed = await taking;
    if (!claimed) return false;
    gate.start();
    await this.#run(claimed);
    return true;
  }

  /** Aborts what other processes have taken over: this one did not show for the length of a lease that it is alive. */
  keepOnly(isKept: (id: string) => boolean): void {
    for (const [id, { controller }] of this.#running) if (!isKept(id)) controller.abort(leaseLost());
  }

  /** Takes nothing more, asks handlers to end, and hands back what is not done after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    await this.#claiming;
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(inboxClosing());
    this.#stopped.abort();
    if (running.length === 0) return;
    const grace = Promise.withResolvers<void>();
    const timer = setTimeout(grace.resolve, graceMs);
    await Promise.race([Promise.all(running.map(({ done }) => done)), grace.promise]);
    clearTimeout(timer);
    await Promise.all([...this.#running.values()].map(({ claimed }) => this.#handBack(claimed)));
    this.#closed = true;
  }

  async #claim(): Promise<void> {
    const { queue, gate } = this.#options;
    while (this.#isWanted && !this.#closing && this.#running.size < queue.concurrency && gate.enter()) {
      this.#isWanted = false;
      await this.#claimSome();
      gate.leave();
    }
    // At once after the last look, or a wake in between would be lost.
    this.#isClaiming = false;
  }

  async #claimSome(): Promise<void> {
    const { queue, table, commit, owner, now, gate } = this.#options;
    const most = queue.concurrency - this.#running.size;
    let isDamaged = false;
    const onDamage = (error: unknown) => {
      isDamaged = true;
      this.#onDamage(error);
    };
    const claimed = await this.#try(() =>
      commit.write(() => table().claim(queue.endpoint, { most, claimant: { owner, now: now() }, onDamage })),
    );
    for (const delivery of claimed ?? []) {
      gate.start();
      void this.#run(delivery);
    }
    if (claimed?.length === most || isDamaged) this.#isWanted = true;
  }

  readonly #onDamage = (error: unknown): void => {
    this.#options.damage.note(error, this.#options.queue.endpoint);
  };

  async #try<Taken>(take: () => Promise<Taken>): Promise<Taken | undefined> {
    const { log, queue, damage, monotonicNow } = this.#options;
    try {
      const taken = await take();
      this.#failingSince = undefined;
      return taken;
    } catch (error) {
      // The next poll tries again.
      if (!damage.note(error, queue.endpoint) && this.#failingSince === undefined) {
        log().error(
          { err: error, endpoint: queue.endpoint },
          "No delivery could be taken out of the inbox. The receiver tries again every second.",
        );
      }
      this.#failingSince ??= monotonicNow();
      return undefined;
    }
  }

  #run(claimed: Claimed): Promise<void> {
    const { gate, runningChanged } = this.#options;
    const controller = new AbortController();
    // Not at once: a handler may block the event loop, and what it must not stop is started first.
    const done = Promise.resolve()
      .then(() => this.#work(claimed, controller))
      .finally(() => {
        // The transaction that stored the end may have claimed the delivery again: that run has its own entry.
        if (this.#running.get(claimed.id)?.controller === controller) this.#running.delete(claimed.id);
        runningChanged();
        if (!this.#closing) this.wake();
        gate.leave();
      });
    this.#running.set(claimed.id, { claimed, controller, done });
    runningChanged();
    return done;
  }

  async #work(claimed: Claimed, controller: AbortController): Promise<void> {
    const { queue } = this.#options;
    const began = performance.now();
    const { id, endpoint, body, receivedAt, attempt: number, countedAttempts } = claimed;
    const isLast = countedAttempts >= queue.policy.attempts;
    const retryWaitMs = queue.policy.waitAfter(countedAttempts);
    const task = { id, endpoint, body, receivedAt, attempt: number, isLast, retryWaitMs };
    const outcome = await queue.run(task, controller.signal);
    // Handed back already: another process may run it by now.
    if (this.#closed) return;
    // Told to end, and did not succeed: that is no fault of the delivery.
    if (this.#closing && outcome.status === "failed") return this.#handBack(claimed);
    const attempt = {
      number,
      startedAt: new Date(claimed.startedAt),
      durationMs: performance.now() - began,
      ...(outcome.status === "failed"
        ? { outcome: "failed" as const, error: storedError(outcome.error) }
        : { outcome: "succeeded" as const }),
    };
    await this.#end(claimed, { attempt, next: this.#nextAfter(task, outcome) });
  }

  #nextAfter({ isLast, retryWaitMs }: Task, outcome: Outcome): Ending["next"] {
    if (outcome.status !== "failed") return { status: "succeeded" };
    if (!outcome.error.retryable || isLast) return { status: "dead" };
    const dueAt = nextAttemptAt({ retryWaitMs, retryAt: outcome.retryAt, now: this.#options.now() });
    return { status: "queued", dueAt, counts: true };
  }

  #handBack(claimed: Claimed): Promise<void> {
    const now = this.#options.now();
    const attempt = {
      number: claimed.attempt,
      startedAt: new Date(claimed.startedAt),
      durationMs: now - claimed.startedAt,
      outcome: "abandoned" as const,
      error: closingError,
    };
    return this.#end(claimed, { attempt, next: { status: "queued", dueAt: now, counts: false } });
  }

  /** Stores how an attempt ended, as soon as that is possible. */
  async #end(claimed: Claimed, ending: Ending): Promise<void> {
    const { commit, table, owner, now, log, retryMs, queue } = this.#options;
    const fields = { endpoint: queue.endpoint, deliveryId: claimed.id };
    for (let failures = 0; ; failures += 1) {
      try {
        const result = await commit.write(() => table().end(claimed, ending, { owner, now: now() }));
        this.#noteEnding(result, { claimed, ending });
        return;
      } catch (error) {
        const cannotWait = this.#stopped.signal.aborted;
        const message = cannotWait
          ? "The result of a delivery could not be stored: it will be run again."
          : "The result of a delivery could not be stored yet. The receiver tries again until it is.";
        if (cannotWait || failures === 0) log().error({ ...fields, err: error }, message);
        if (cannotWait) return;
      }
      // Ends early at a shutdown, for a last try.
      await wait(retryMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
  }

  #noteEnding(result: EndingResult, { claimed, ending }: { claimed: Claimed; ending: Ending }): void {
    const { log, later, queue } = this.#options;
    const fields = { endpoint: queue.endpoint, deliveryId: claimed.id, attempt: claimed.attempt };
    if (result === "late") {
      log().warn(fields, "A delivery succeeded after another process had taken it over: the success counts.");
    } else if (result === "superseded") {
      log().warn(fields, "Another process had taken a delivery over: how it ended here is ignored.");
    } else if (ending.next.status === "queued") {
      later(ending.next.dueAt);
    }
  }
}

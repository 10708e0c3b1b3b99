import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { resolvesWithin } from "../../core/time.ts";
import { attemptOutcome, inboxClosing, leaseLost, storedClosingError } from "../errors.ts";
import { type EndpointQueue, type FinishedRun, nextStep } from "../inbox.ts";
import type { ClaimGate } from "./claim-gate.ts";
import type { InboxContext } from "./context.ts";
import type { AttemptEnd, ClaimedRow } from "./delivery-table.ts";

interface EndpointWorkerOptions extends InboxContext {
  queue: EndpointQueue;
  gate: ClaimGate;
  /** Called with the time of a scheduled retry. */
  onDueLater: (dueAt: number) => void;
  onRunningChange: () => void;
}

const takenOverMessages = {
  late: "A delivery succeeded after another process had taken it over. The delivery counts as succeeded, but may have run twice.",
  lateIgnored:
    "A delivery was ignored after another process had taken it over. The delivery counts as ignored, but may have run too.",
  superseded:
    "An attempt ended after another process had taken over the delivery. The result of the attempt is ignored.",
};

/** Runs the deliveries of one endpoint. */
export class EndpointWorker {
  readonly queue: EndpointQueue;
  readonly #options: EndpointWorkerOptions;
  readonly #running = new Map<string, { row: ClaimedRow; controller: AbortController; done: Promise<void> }>();
  readonly #inHandler = new Set<ClaimedRow>();
  /** The number of claimed deliveries whose handlers have not finished. A result that is being stored does not occupy a slot. */
  #occupiedSlots = 0;
  readonly #stopped = new AbortController();
  readonly #claims = new Set<Promise<unknown>>();
  #isClaiming = false;
  #hasMore = false;
  #closing = false;
  #closed = false;
  #interrupted = 0;
  /** When claims started failing, by the monotonic clock. */
  #failingSince: number | undefined;

  constructor(options: EndpointWorkerOptions) {
    this.queue = options.queue;
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** The time since claims started failing. 0 if the last claim succeeded. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#options.monotonicNow() - this.#failingSince;
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Claims due deliveries, up to the endpoint's concurrency. */
  wake(): void {
    this.#hasMore = true;
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    this.#addClaim(this.#claim());
  }

  /** Runs the first suspect if it is due. Returns whether a suspect was claimed. Never rejects. */
  async runSuspect(): Promise<boolean> {
    const { queue, table, processId, now, gate } = this.#options;
    if (this.#closing) return false;
    const claiming = this.#tryClaim(() => table.claimSuspect(queue.endpoint, { processId, now: now() }));
    this.#addClaim(claiming);
    const row = await claiming;
    if (!row) return false;
    gate.start();
    await this.#run(row);
    return true;
  }

  /** Aborts the handlers of deliveries whose leases this process has lost because it sent no heartbeats for too long. */
  abortLost(isKept: (id: string) => boolean): void {
    for (const [id, { controller }] of this.#running) if (!isKept(id)) controller.abort(leaseLost());
  }

  /** See `Inbox.close`. Returns the number of interrupted deliveries. */
  async close(graceMs: number): Promise<number> {
    this.#closing = true;
    for (const { controller } of this.#running.values()) controller.abort(inboxClosing());
    await Promise.all(this.#claims);
    this.#stopped.abort();
    const ends = [...this.#running.values()].map(({ done }) => done);
    await resolvesWithin(Promise.all(ends), graceMs);
    this.#closed = true;
    const unfinished = [...this.#inHandler];
    this.#interrupted += unfinished.length;
    const stored = [...this.#running.values()].filter(({ row }) => !this.#inHandler.has(row)).map(({ done }) => done);
    await Promise.all([...unfinished.map((row) => this.#endInterrupted(row)), ...stored]);
    return this.#interrupted;
  }

  /** Makes `close` wait for a claim, which must not reject. A claim of a suspect can run at the same time as another claim. */
  #addClaim(claim: Promise<unknown>): void {
    this.#claims.add(claim);
    void claim.then(() => this.#claims.delete(claim));
  }

  async #claim(): Promise<void> {
    const { queue, gate } = this.#options;
    while (this.#hasMore && !this.#closing && this.#occupiedSlots < queue.concurrency && gate.enter()) {
      this.#hasMore = false;
      await this.#claimSome();
      gate.leave();
    }
    // Without an `await` between the last check of the loop and this line. A call of `wake` in between would have no effect.
    this.#isClaiming = false;
  }

  async #claimSome(): Promise<void> {
    const { queue, table, processId, now, gate } = this.#options;
    const { damageCount } = table;
    let limit = 0;
    const rows = await this.#tryClaim(() => {
      // In the transaction, because more handlers have finished by then. Otherwise, every other transaction would claim one delivery.
      // Suspects can have started too, and SQLite has no limit below 0.
      limit = this.#closing ? 0 : Math.max(0, queue.concurrency - this.#occupiedSlots);
      return table.claim(queue.endpoint, limit, { processId, now: now() });
    });
    for (const row of rows ?? []) {
      gate.start();
      void this.#run(row);
    }
    // Damage that another worker has found meanwhile causes one more claim.
    if (rows?.length === limit || table.damageCount > damageCount) this.#hasMore = true;
  }

  /** Claims in the next transaction. Returns `undefined` if the claim fails. */
  async #tryClaim<Claimed>(claim: () => Claimed): Promise<Claimed | undefined> {
    const { groupCommit, log, queue, damage, monotonicNow } = this.#options;
    // If the claim is retried alone in its transaction, it skips the damage that it has found.
    const recordingDamage = () => {
      try {
        return claim();
      } catch (error) {
        damage.recordIfDamage(error, queue.endpoint);
        throw error;
      }
    };
    try {
      const result = await groupCommit.write(recordingDamage, { isLast: true });
      this.#failingSince = undefined;
      return result;
    } catch (error) {
      // The next poll retries the claim.
      if (!damage.recordIfDamage(error, queue.endpoint) && this.#failingSince === undefined) {
        log.error(
          { err: error, endpoint: queue.endpoint },
          "Deliveries could not be claimed from the inbox. Claims are retried every second.",
        );
      }
      this.#failingSince ??= monotonicNow();
      return undefined;
    }
  }

  #run(row: ClaimedRow): Promise<void> {
    const { gate, onRunningChange } = this.#options;
    const controller = new AbortController();
    let hasSlot = true;
    this.#occupiedSlots += 1;
    const freeSlot = () => {
      if (!hasSlot) return;
      hasSlot = false;
      this.#occupiedSlots -= 1;
      if (!this.#closing) this.wake();
    };
    // Before the handler can block the event loop, the heartbeat thread must start, and the senders of the deliveries that the same
    // transaction has accepted must be answered.
    const done = nextTurn()
      .then(() => this.#process(row, { signal: controller.signal, freeSlot }))
      .finally(() => {
        freeSlot();
        // The delivery can already be running again, because the transaction that stored the end can also claim the delivery.
        if (this.#running.get(row.id)?.controller === controller) this.#running.delete(row.id);
        onRunningChange();
        gate.leave();
      });
    this.#running.set(row.id, { row, controller, done });
    onRunningChange();
    return done;
  }

  async #process(row: ClaimedRow, { signal, freeSlot }: { signal: AbortSignal; freeSlot: () => void }): Promise<void> {
    const { queue } = this.#options;
    // `close` was called after the claim.
    if (this.#closing) return this.#release(row);
    // Another process has taken the delivery over.
    if (signal.aborted) return;
    const startedAt = performance.now();
    const { id, endpoint, body, receivedAt, attempt: number, countedAttempts } = row;
    const isLastAttempt = countedAttempts >= queue.policy.maxAttempts;
    const retryDelayMs = queue.policy.waitAfter(countedAttempts);
    const claimed = { id, endpoint, body, receivedAt, attempt: number, isLastAttempt, retryDelayMs };
    this.#inHandler.add(row);
    const outcome = await queue.run(claimed, signal);
    this.#inHandler.delete(row);
    // `close` has already requeued the delivery, and another process may be running it.
    if (this.#closed) return;
    const next = nextStep(outcome, { claimed, isInterrupted: signal.aborted, now: this.#options.now() });
    if (next.status === "queued" && !next.counts) {
      if (this.#closing) this.#interrupted += 1;
      return this.#endInterrupted(row, outcome.onStored);
    }
    const attempt = {
      number,
      startedAt: new Date(row.startedAt),
      durationMs: performance.now() - startedAt,
      ...attemptOutcome(outcome),
      details: outcome.details,
    };
    const stored = this.#end(row, { attempt, next }, outcome.onStored);
    // The next claim is then part of the transaction that stores this result.
    freeSlot();
    await stored;
  }

  /** Requeues a delivery whose handler has not run, because the inbox is closing. */
  async #release(row: ClaimedRow): Promise<void> {
    const { groupCommit, table, processId, now, log } = this.#options;
    try {
      await groupCommit.write(() => table.leases.release(row, { processId, now: now() }));
    } catch (error) {
      log.error(
        { endpoint: row.endpoint, deliveryId: row.id, err: error },
        "A claimed delivery could not be requeued during the shutdown. The delivery will run after its lease has expired.",
      );
    }
  }

  /** Requeues a delivery whose attempt was interrupted. Stores nothing after a lost lease, because another process owns the row. */
  #endInterrupted(row: ClaimedRow, onStored?: FinishedRun["onStored"]): Promise<void> {
    const now = this.#options.now();
    const attempt = {
      number: row.attempt,
      startedAt: new Date(row.startedAt),
      durationMs: now - row.startedAt,
      outcome: "abandoned" as const,
      error: storedClosingError,
    };
    return this.#end(row, { attempt, next: { status: "queued", dueAt: now, counts: false } }, onStored);
  }

  /** Stores the result of an attempt. Retries until the result is stored or the inbox closes. */
  async #end(row: ClaimedRow, ending: AttemptEnd, onStored: FinishedRun["onStored"]): Promise<void> {
    const { groupCommit, table, processId, now, log, pollMs, queue, onDueLater } = this.#options;
    const fields = { endpoint: queue.endpoint, deliveryId: row.id };
    for (let failures = 0; ; failures += 1) {
      try {
        const ended = await groupCommit.write(() => table.recordEnd(row, ending, { processId, now: now() }));
        if (ended.result === "stored" && ended.next.status === "queued") onDueLater(ended.next.dueAt);
        if (ended.result !== "stored") {
          const isIgnored = ended.result === "late" && ended.next.status === "ignored";
          log.warn({ ...fields, attempt: row.attempt }, takenOverMessages[isIgnored ? "lateIgnored" : ended.result]);
        }
        if (ended.result !== "superseded") onStored?.(ended.next);
        queue.onAttemptStored?.({ endpoint: row.endpoint, id: row.id });
        return;
      } catch (error) {
        const cannotWait = this.#stopped.signal.aborted;
        const message = cannotWait
          ? "The result of a delivery could not be stored. The delivery will run again."
          : "The result of a delivery could not be stored. The write will be retried.";
        if (cannotWait || failures === 0) log.error({ ...fields, err: error }, message);
        if (cannotWait) return;
      }
      // Closing the inbox aborts this pause. The loop then tries one last time.
      await wait(pollMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
  }
}

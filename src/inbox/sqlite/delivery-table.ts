import type { DatabaseSync } from "node:sqlite";
import { isDamage } from "../../core/sqlite-errors.ts";
import type { ClaimedDelivery, DeliveryKey, IncomingDelivery } from "../inbox.ts";
import { deliveryRunning, deliveryUnknown, inboxFull } from "../inbox-errors.ts";
import type { NextStep } from "../next-step.ts";
import { encodeHeaders } from "../recorded-headers.ts";
import type { Retention } from "../retention.ts";
import { AttemptTable, type TimedAttempt } from "./attempt-table.ts";
import { DeliveryPruner } from "./delivery-pruner.ts";
import { DeliveryReader } from "./delivery-reader.ts";
import { DeliverySearch } from "./delivery-search.ts";
import { type Claimant, Leases } from "./leases.ts";
import { OwnActionTable } from "./own-action-table.ts";
import { PauseTable } from "./pause-table.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** A claimed delivery as read from its row, before the retry policy is applied. */
export interface ClaimedRow extends Omit<ClaimedDelivery, "isLastAttempt" | "retryDelayMs"> {
  sequence: number;
  /** The number of attempts so far that count, including this attempt. See `uncounted_attempts` in `migrations.ts`. */
  countedAttempts: number;
  /** When this attempt started, in milliseconds since the epoch. */
  startedAt: number;
}

/** The result of an attempt and the next status of the delivery. */
export interface AttemptEnd {
  attempt: TimedAttempt;
  next: NextStep;
}

/**
 * The effect of storing the result of an attempt. `late`: another process had taken over the delivery, but the success
 * counts. `superseded`: another process had taken over the delivery, and the result has no effect on its status.
 */
export type RecordResult = "stored" | "late" | "superseded";

/** The limits of one transaction that replays dead deliveries. */
const maxReplayRows = 200;
const maxReplayMs = 10;

/**
 * The maximum number of rows of `failed_attempts` after a prune. A search index that has missed more failed attempts is built again.
 */
const maxFailedAttempts = 100_000;

/** The maximum number of suspects that are read to find a suspect that is not on a damaged page. */
const maxSuspects = 20;

/** Reads and writes the deliveries of an inbox. Call the methods that write inside a transaction. */
export class DeliveryTable {
  readonly reader: DeliveryReader;
  readonly search: DeliverySearch;
  readonly pruner: DeliveryPruner;
  readonly leases: Leases;
  readonly ownActions: OwnActionTable;
  readonly pauses: PauseTable;
  readonly #statements: Statements;
  readonly #attempts: AttemptTable;
  /** The sequences of deliveries on damaged pages. These deliveries cannot be claimed. */
  readonly #damaged = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
    this.#attempts = new AttemptTable(this.#statements);
    this.reader = new DeliveryReader(this.#statements, this.#attempts);
    this.search = new DeliverySearch(database, this.reader);
    this.leases = new Leases(this.#statements, this.#attempts);
    this.ownActions = new OwnActionTable(this.#statements);
    this.pauses = new PauseTable(this.#statements);
    this.pruner = new DeliveryPruner(database, this.#statements);
  }

  /**
   * Adds a delivery, or queues it again if it is dead. Returns whether the delivery was already stored and not dead.
   *
   * @throws `INBOX_FULL` if the endpoint has `maxQueued` queued deliveries.
   */
  add(
    { id, endpoint, body, receivedAt, headers, replayOf }: IncomingDelivery,
    { now, maxQueued }: { now: number; maxQueued: number },
  ): boolean {
    const headersText = encodeHeaders(headers) ?? null;
    const values = {
      endpoint,
      id,
      body,
      received_at: receivedAt.getTime(),
      now,
      headers: headersText,
      replay_of: replayOf ?? null,
      max_queued: maxQueued,
    };
    if (this.#statements.add.run(values).changes > 0) return false;
    const known = this.#statements.find.get(endpoint, id);
    if (!known) throw inboxFull(endpoint);
    if (known.status !== "dead") return true;
    this.#statements.revive.run(body, headersText, now, now, Number(known.sequence));
    return false;
  }

  /**
   * Claims up to `limit` due deliveries that are not suspects.
   *
   * @param onDamage called when a delivery is found on a damaged page. Later claims skip this delivery.
   */
  claim(
    endpoint: string,
    { limit, claimant, onDamage }: { limit: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): ClaimedRow[] {
    const due = this.#statements.due.all(endpoint, claimant.now, limit + this.#damaged.size);
    const claimed: ClaimedRow[] = [];
    for (const { sequence } of due) {
      if (claimed.length === limit) break;
      if (this.#damaged.has(Number(sequence))) continue;
      const delivery = this.#claimOne(endpoint, { sequence: Number(sequence), claimant, onDamage });
      if (delivery) claimed.push(delivery);
    }
    return claimed;
  }

  /** Returns the first suspect of an endpoint with its due time in milliseconds since the epoch. */
  nextSuspect(endpoint: string): { sequence: number; dueAt: number } | undefined {
    return this.#statements.suspects
      .all(endpoint, maxSuspects)
      .map((row) => ({ sequence: Number(row.sequence), dueAt: Number(row.due_at) }))
      .find(({ sequence }) => !this.#damaged.has(sequence));
  }

  /** Claims the first suspect of an endpoint if it is due. */
  claimSuspect(
    endpoint: string,
    { claimant, onDamage }: { claimant: Claimant; onDamage: (error: unknown) => void },
  ): ClaimedRow | undefined {
    const suspect = this.nextSuspect(endpoint);
    if (suspect === undefined || suspect.dueAt > claimant.now) return undefined;
    return this.#claimOne(endpoint, { sequence: suspect.sequence, claimant, onDamage });
  }

  #claimOne(
    endpoint: string,
    { sequence, claimant, onDamage }: { sequence: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): ClaimedRow | undefined {
    const { processId, now } = claimant;
    try {
      // Read the row first, because a write to a damaged page would fail the whole transaction.
      this.#statements.row.get(sequence);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damaged.add(sequence);
      onDamage(error);
      return undefined;
    }
    try {
      const row = this.#statements.claim.get(processId, now, now, sequence);
      return (
        row && {
          sequence,
          id: String(row.id),
          endpoint,
          body: String(row.body),
          receivedAt: new Date(Number(row.received_at)),
          attempt: Number(row.attempts),
          countedAttempts: Number(row.attempts) - Number(row.uncounted_attempts),
          startedAt: now,
        }
      );
    } catch (error) {
      if (isDamage(error)) this.#damaged.add(sequence);
      throw error;
    }
  }

  /**
   * Stores the result of an attempt. If another process has taken over the delivery, a success counts unless the delivery has
   * already succeeded, and a failure is ignored.
   *
   * Storing the same result twice has no effect. This is necessary because a commit fails if the file was deleted, although
   * the restored file contains the committed data.
   */
  recordEnd({ endpoint, id }: ClaimedRow, { attempt, next }: AttemptEnd, { processId, now }: Claimant): RecordResult {
    const row = this.#statements.find.get(endpoint, id);
    const isRunningHere = row?.status === "running" && row.process_id === processId && row.attempts === attempt.number;
    if (row === undefined) return "superseded";
    const sequence = Number(row.sequence);
    if (!isRunningHere && this.#attempts.has(sequence, attempt)) return "stored";
    if (!isRunningHere && next.status !== "succeeded") return "superseded";
    this.#attempts.add(sequence, attempt);
    // A delivery with a requested replay must run again, so a late success does not end the delivery.
    if (!isRunningHere && (row.status === "succeeded" || row.replay_requested === 1)) return "superseded";
    const isQueued = next.status === "queued";
    this.#statements.end.run({
      status: next.status,
      due_at: isQueued ? next.dueAt : null,
      finished_at: isQueued ? null : now,
      is_uncounted: isQueued && !next.counts ? 1 : 0,
      now,
      sequence,
    });
    return isRunningHere ? "stored" : "late";
  }

  /** Returns when the next of an endpoint's deliveries is due, not counting suspects, in milliseconds since the epoch. */
  nextDueAt(endpoint: string): number | undefined {
    const dueAt = this.#statements.nextDue.get(endpoint)?.due_at;
    return typeof dueAt === "number" ? dueAt : undefined;
  }

  /** Corrects the times of deliveries after the clock was set back. Otherwise, retries would be delayed by the difference. */
  correctClock(endpoint: string, now: number): void {
    for (const status of ["queued", "running"]) this.#statements.correctClock.run({ endpoint, status, now });
  }

  /**
   * Queues a delivery again. A running delivery is queued again when its attempt ends. Returns `false` if the delivery or its body
   * is not stored.
   */
  replay({ endpoint, id }: DeliveryKey, now: number): boolean {
    return this.#statements.replay.run({ now, endpoint, id }).changes > 0;
  }

  /**
   * Discards a queued or dead delivery. Has no effect if the delivery has finished.
   *
   * @throws `DELIVERY_UNKNOWN`, `DELIVERY_RUNNING`
   */
  discard({ endpoint, id }: DeliveryKey, now: number): void {
    if (this.#statements.discard.run({ endpoint, id, now }).changes > 0) return;
    const row = this.#statements.find.get(endpoint, id);
    if (!row) throw deliveryUnknown({ endpoint, id }, "discarded");
    if (row.status === "running") throw deliveryRunning({ endpoint, id });
  }

  /** Removes all but the newest rows of `failed_attempts`. */
  pruneFailedAttempts(): void {
    this.#statements.removeFailedAttempts.run(maxFailedAttempts);
  }

  /** Returns the sequence of the newest delivery, or 0 if there are no deliveries. */
  lastSequence(): number {
    return Number(this.#statements.lastSequence.get()?.sequence ?? 0);
  }

  /**
   * Replays some dead deliveries of an endpoint, ordered by sequence. Returns the number of replayed deliveries, and the sequence
   * after which to continue. `next` is `undefined` if no dead deliveries are left.
   */
  replayDeadStep(
    endpoint: string,
    { after, last, now }: { after: number; last: number; now: number },
  ): { count: number; next: number | undefined } {
    const until = performance.now() + maxReplayMs;
    const found = this.#statements.dead.all(endpoint, after, last, maxReplayRows);
    let count = 0;
    for (const row of found) {
      const sequence = Number(row.sequence);
      count += Number(this.#statements.replayDead.run({ sequence, now }).changes);
      if (performance.now() >= until) return { count, next: sequence };
    }
    const lastFound = found.length === maxReplayRows ? found.at(-1) : undefined;
    return { count, next: lastFound && Number(lastFound.sequence) };
  }

  /** Stores the retention of an endpoint for processes that do not serve the endpoint. */
  setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): void {
    this.#statements.setRetention.run(endpoint, bodiesMs, idsMs);
  }
}

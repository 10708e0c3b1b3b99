import type { DatabaseSync } from "node:sqlite";
import { isDamage } from "../../core/files.ts";
import { deliveryRunning, deliveryUnknown, inboxFull } from "../errors.ts";
import {
  type ClaimedDelivery,
  type CursorClaim,
  type DeliveryKey,
  type DeliveryStatus,
  type IncomingDelivery,
  maxClaimMs,
  maxOwnActions,
  type NextStep,
  ownActionRetentionMs,
  type StoredDelivery,
} from "../inbox.ts";
import { encodeHeaders } from "../records.ts";
import type { Retention } from "../retry.ts";
import { DeliveryIds } from "./delivery-ids.ts";
import {
  createTotals,
  DeliveryReader,
  type Row,
  type TimedAttempt,
  type Totals,
  toAttemptRow,
  toleranceMs,
  toStatus,
} from "./delivery-reader.ts";
import { EventIndex } from "./event-index.ts";
import { type Claimant, Leases } from "./leases.ts";
import { createStatements, type Statements } from "./statements.ts";

/** The keys of own actions. Call the functions that write inside a transaction. */
function ownActionTable(statements: Statements) {
  /** Removes keys whose retention period has ended, and the oldest keys above the maximum. */
  const prune = (now: number): void => {
    const before = now - ownActionRetentionMs;
    statements.removeOwnActions().run({ max_kept: maxOwnActions, before, max_rows: maxRows });
  };
  return {
    add(keys: readonly string[], now: number): void {
      for (const key of keys) statements.addOwnAction().run(key, now);
      prune(now);
    },
    find: (keys: readonly string[]): ReadonlySet<string> =>
      new Set(keys.filter((key) => statements.ownAction().get(key) !== undefined)),
    prune,
  };
}

/** See `Cursors`. Call the functions that write inside a transaction. */
function cursorTable(statements: Statements) {
  return {
    get(endpoint: string, key: string): string | undefined {
      const row = statements.cursor().get(endpoint, key);
      return row && String(row.text);
    },
    list(endpoint: string): ReadonlyMap<string, string> {
      const rows = statements.cursors().all(endpoint);
      return new Map(rows.map(({ key, text }) => [String(key), String(text)]));
    },
    set(endpoint: string, texts: ReadonlyMap<string, string>): void {
      for (const [key, text] of texts) statements.setCursor().run(endpoint, key, text);
    },
    claim: ({ key, holder, forMs }: CursorClaim, now: number): boolean =>
      statements.claimCursor().run({ key, holder, ends_at: now + forMs, now, max_ms: maxClaimMs }).changes > 0,
  };
}

/** The maximum number of keys that one write removes. Each write adds fewer keys, so the table does not grow. */
const maxRows = 200;

/** A claimed delivery as read from its row, before the retry policy is applied. */
export interface ClaimedRow extends Omit<ClaimedDelivery, "isLastAttempt" | "retryDelayMs"> {
  sequence: number;
  /** The number of attempts so far that count, including this attempt. See `uncounted_attempts` in `schema.ts`. */
  countedAttempts: number;
  /** When this attempt started. */
  startedAt: number;
}

function toClaimed(endpoint: string, row: Row, now: number): ClaimedRow {
  const attempt = Number(row.attempts) + 1;
  return {
    sequence: Number(row.sequence),
    id: String(row.id),
    endpoint,
    body: String(row.body),
    receivedAt: new Date(Number(row.received_at)),
    attempt,
    countedAttempts: attempt - Number(row.uncounted_attempts),
    startedAt: now,
  };
}

export interface AttemptEnd {
  attempt: TimedAttempt;
  next: NextStep;
}

/** `late`: the result counts, although another process had taken over the delivery. `superseded`: it has no effect on the status. */
type RecordedEnd = { result: "stored" | "late"; next: NextStep } | { result: "superseded" };

/** The limits of one transaction that replays dead deliveries. */
const maxReplayRows = 200;
const maxReplayMs = 10;

/**
 * A claim that found damage is tried again after this time, and then after twice as long each time. Removing a delivery from an index can
 * also read the pages beside its own, and which pages these are changes with other deliveries.
 */
const damagedRetryMs = 60_000;

/** The maximum number of suspects that are read to find a suspect that is not on a damaged page. */
const maxSuspects = 20;

/** Reads and writes the deliveries of an inbox. Call the methods that write inside a transaction. */
export class DeliveryTable {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly reader: DeliveryReader;
  readonly index: EventIndex;
  readonly leases: Leases;
  readonly ownActions: ReturnType<typeof ownActionTable>;
  readonly cursors: ReturnType<typeof cursorTable>;
  readonly totals: Totals;
  readonly ids: DeliveryIds;
  /** The deliveries whose claims found damage, by sequence: when they can be claimed again, and how long they wait until then. */
  readonly #damaged = new Map<number, { until: number; waitMs: number }>();
  /** Whether a delivery on a damaged page was found. Deliveries are then claimed one by one. */
  #isDamaged = false;
  /** How often a claim has found damage that the next claims avoid. */
  damageCount = 0;
  /** The last delivery that was added, and the newest time up to it. `disorderMs`: see the table `disorder`. */
  #last = { sequence: Number.NaN, newest: 0, disorderMs: 0 };

  /** @param ids the IDs of the same file, which another connection has read. */
  constructor(database: DatabaseSync, { ids }: { ids?: DeliveryIds } = {}) {
    this.database = database;
    this.statements = createStatements(database);
    this.ids = ids ?? new DeliveryIds(this.statements);
    this.index = new EventIndex(this.statements);
    this.reader = new DeliveryReader(database, this.statements, this.index);
    this.totals = createTotals(this.statements);
    this.leases = new Leases(this.statements, this.totals);
    this.ownActions = ownActionTable(this.statements);
    this.cursors = cursorTable(this.statements);
  }

  /**
   * Adds a delivery, or queues it again if it is dead. Returns whether the delivery was already stored and not dead.
   *
   * @throws `INBOX_FULL` if the endpoint has `maxQueued` queued deliveries.
   */
  add(delivery: IncomingDelivery, { now, maxQueued }: { now: number; maxQueued: number }): boolean {
    const { id, endpoint, body, receivedAt, headers, replayOf } = delivery;
    const headersText = encodeHeaders(headers) ?? null;
    const found = this.sequenceOf(delivery);
    if (found !== undefined) return this.#addAgain(found, { body, headersText, now });
    if (this.totals.queued(endpoint) >= maxQueued) throw inboxFull(endpoint);
    const values = [endpoint, id, body, receivedAt.getTime(), now, headersText, replayOf ?? null] as const;
    const { changes, lastInsertRowid } = this.statements.add().run(...values);
    if (changes === 0) return true;
    const sequence = Number(lastInsertRowid);
    this.ids.add(sequence, delivery);
    this.totals.add(endpoint, "queued");
    this.#noticeDisorder(sequence, receivedAt.getTime());
    return false;
  }

  #addAgain(
    sequence: number,
    { body, headersText, now }: { body: string; headersText: string | null; now: number },
  ): boolean {
    const known = this.statements.row().get(sequence);
    if (known?.status !== "dead") return true;
    this.totals.store();
    this.statements.revive().run(body, headersText, now, now, sequence);
    if (known.body !== body) this.index.replace(sequence, body);
    return false;
  }

  /** Records that a delivery was received long before an earlier one. Costs a delivery that is in order no statement. */
  #noticeDisorder(sequence: number, receivedAt: number): void {
    let { newest, disorderMs } = this.#last;
    // Another process has added deliveries, or a transaction was rolled back.
    if (sequence !== this.#last.sequence + 1) {
      disorderMs = this.reader.disorderMs;
      newest = disorderMs + Number(this.statements.lastBefore().get(sequence)?.received_at ?? 0);
    }
    if (newest - receivedAt > disorderMs + toleranceMs) {
      disorderMs = newest - receivedAt;
      this.statements.addDisorder().run(disorderMs);
    }
    this.#last = { sequence, newest: Math.max(newest, receivedAt), disorderMs };
  }

  /**
   * Claims up to `limit` due deliveries that are not suspects. If a delivery is on a damaged page, the claim fails, because SQLite refuses
   * all other writes of the transaction. The next claims skip this delivery.
   *
   * @throws the error of SQLite, if a page is damaged.
   */
  claim(endpoint: string, limit: number, claimant: Claimant): ClaimedRow[] {
    try {
      if (!this.#isDamaged) {
        return this.#claimRows(endpoint, this.statements.due().all(endpoint, claimant.now, limit), claimant);
      }
    } catch (error) {
      if (isDamage(error)) {
        // The next claim finds the damaged delivery.
        this.#isDamaged = true;
        this.damageCount += 1;
      }
      throw error;
    }
    const due = this.statements.dueSequences().all(endpoint, claimant.now, limit + this.#damaged.size);
    const claimed: ClaimedRow[] = [];
    for (const { sequence } of due) {
      if (claimed.length === limit) break;
      if (this.#isSkipped(Number(sequence), claimant.now)) continue;
      const delivery = this.#claimOne(endpoint, Number(sequence), claimant);
      if (delivery) claimed.push(delivery);
    }
    return claimed;
  }

  /** Finds the first suspect of an endpoint. */
  nextSuspect(endpoint: string, now: number): { sequence: number; dueAt: number } | undefined {
    const rows = this.statements.suspects().all(endpoint, maxSuspects);
    const found = rows.find(({ sequence }) => !this.#isSkipped(Number(sequence), now));
    return found && { sequence: Number(found.sequence), dueAt: Number(found.due_at) };
  }

  claimSuspect(endpoint: string, claimant: Claimant): ClaimedRow | undefined {
    const suspect = this.nextSuspect(endpoint, claimant.now);
    if (suspect === undefined || suspect.dueAt > claimant.now) return undefined;
    return this.#claimOne(endpoint, suspect.sequence, claimant);
  }

  #claimRows(endpoint: string, rows: readonly Row[], { processId, now }: Claimant): ClaimedRow[] {
    if (rows.length === 0) return [];
    for (const { sequence } of rows) this.statements.claim().run(processId, now, Number(sequence));
    this.totals.move(endpoint, "queued", "running", rows.length);
    return rows.map((row) => toClaimed(endpoint, row, now));
  }

  #claimOne(endpoint: string, sequence: number, claimant: Claimant): ClaimedRow | undefined {
    try {
      const row = this.statements.row().get(sequence);
      const claimed = row && this.#claimRows(endpoint, [row], claimant)[0];
      this.#damaged.delete(sequence);
      return claimed;
    } catch (error) {
      if (isDamage(error)) {
        const waitMs = 2 * (this.#damaged.get(sequence)?.waitMs ?? damagedRetryMs / 2);
        this.#damaged.set(sequence, { until: claimant.now + waitMs, waitMs });
        this.damageCount += 1;
      }
      throw error;
    }
  }

  #isSkipped(sequence: number, now: number): boolean {
    const damaged = this.#damaged.get(sequence);
    // The last condition is for a clock that was set back.
    return damaged !== undefined && now < damaged.until && damaged.until - now <= damaged.waitMs;
  }

  /**
   * Stores the result of an attempt. If another process has taken over the delivery, a success counts unless the delivery has
   * already succeeded, `ignored` counts unless the delivery was already ignored or has succeeded, and a failure has no effect.
   *
   * Storing the same result twice has no effect. This is necessary because a commit fails if the file was moved, although
   * the file contains the committed data when it is moved back.
   */
  recordEnd(row: ClaimedRow, { attempt, next }: AttemptEnd, { processId, now }: Claimant): RecordedEnd {
    const { sequence, endpoint, id } = row;
    if (this.statements.addRunningAttempt().run(...toAttemptRow(sequence, attempt), processId).changes > 0) {
      return { result: "stored", next: this.#end(sequence, { endpoint, next, now, from: "running" }) };
    }
    const found = this.sequenceOf({ endpoint, id });
    const other = found === undefined ? undefined : this.statements.row().get(found);
    if (found === undefined || other === undefined) return { result: "superseded" };
    const attemptRow = toAttemptRow(found, attempt);
    if (this.statements.hasAttempt().get(...attemptRow.slice(0, 6))) return { result: "stored", next };
    if (next.status === "queued" || next.status === "dead") return { result: "superseded" };
    this.statements.addAttempt().run(...attemptRow);
    // A delivery with a requested replay must run again, so a late result does not end the delivery.
    const isEnded = other.status === "succeeded" || other.status === next.status;
    if (isEnded || other.replay_requested === 1) return { result: "superseded" };
    return { result: "late", next: this.#end(found, { endpoint, next, now, from: toStatus(other.status) }) };
  }

  /** Stores the next step, or queues the delivery if a replay was requested while it was running. Returns what was stored. */
  #end(
    sequence: number,
    { endpoint, next, now, from }: { endpoint: string; next: NextStep; now: number; from: DeliveryStatus },
  ): NextStep {
    const isQueued = next.status === "queued";
    const isUncounted = isQueued && !next.counts ? 1 : 0;
    const times = [isQueued ? next.dueAt : null, now, isQueued ? null : now] as const;
    if (from !== "running") this.totals.store();
    const isReplayed = this.statements.end().run(next.status, ...times, isUncounted, sequence).changes === 0;
    if (isReplayed) this.statements.endReplayed().run(now, isUncounted, sequence);
    if (from === "running") this.totals.move(endpoint, from, isReplayed ? "queued" : next.status);
    return isReplayed ? { status: "queued", dueAt: now, counts: isUncounted === 0 } : next;
  }

  /** Returns when the next delivery of an endpoint that is not a suspect is due, of those that are due after a time. */
  nextDueAt(endpoint: string, after = -1): number | undefined {
    const dueAt = this.statements.nextDue().get(endpoint, after)?.due_at;
    return typeof dueAt === "number" ? dueAt : undefined;
  }

  /** Corrects the times of deliveries after the clock was set back, which would otherwise delay retries. */
  correctClock(endpoint: string, now: number): void {
    this.statements.correctClock().run({ endpoint, now });
  }

  /** Queues a delivery again, a running one when its attempt ends. Returns `false` if the delivery or its body is not stored. */
  replay(key: DeliveryKey, now: number): boolean {
    const sequence = this.sequenceOf(key);
    if (sequence === undefined) return false;
    this.totals.store();
    return this.statements.replay().run({ now, sequence }).changes > 0;
  }

  /** See `Inbox.discard`. */
  discard(key: DeliveryKey, now: number): void {
    const sequence = this.sequenceOf(key);
    if (sequence === undefined) throw deliveryUnknown(key, "discarded");
    this.totals.store();
    if (this.statements.discard().run({ sequence, now }).changes > 0) return;
    if (this.statements.row().get(sequence)?.status === "running") throw deliveryRunning(key);
  }

  /** Returns the sequence of a delivery, also of one on a damaged page. */
  sequenceOf(key: DeliveryKey): number | undefined {
    return this.ids.find(key, this.statements);
  }

  /** Returns a delivery with its attempts. */
  get(key: DeliveryKey): StoredDelivery | undefined {
    const sequence = this.sequenceOf(key);
    return sequence === undefined ? undefined : this.reader.get(sequence);
  }

  lastSequence(): number {
    return Number(this.statements.lastSequence().get()?.sequence ?? 0);
  }

  /** Replays some dead deliveries, ordered by sequence. `next`: the sequence after which to continue, or `undefined` if none are left. */
  replayDeadStep(endpoint: string, { after, last, now }: { after: number; last: number; now: number }) {
    this.totals.store();
    const until = performance.now() + maxReplayMs;
    const sequences = this.statements
      .dead()
      .all(endpoint, after, last, maxReplayRows)
      .map(({ sequence }) => Number(sequence));
    let count = 0;
    for (const sequence of sequences) {
      count += Number(this.statements.replayDead().run({ sequence, now }).changes);
      if (performance.now() >= until) return { count, next: sequence };
    }
    return { count, next: sequences.length === maxReplayRows ? sequences.at(-1) : undefined };
  }

  pausedEndpoints(): string[] {
    const rows = this.statements.paused().all();
    return rows.map(({ endpoint }) => String(endpoint));
  }

  endpoints(): { endpoint: string; retention: Retention | undefined }[] {
    const rows = this.statements.endpoints().all();
    return rows.map(({ endpoint, retention_ms, ids_kept_ms }) => ({
      endpoint: String(endpoint),
      retention: retention_ms === null ? undefined : { bodiesMs: Number(retention_ms), idsMs: Number(ids_kept_ms) },
    }));
  }

  /** Stores the retention of an endpoint for processes that do not serve the endpoint. */
  setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): void {
    this.statements.setRetention().run(endpoint, bodiesMs, idsMs);
  }
}

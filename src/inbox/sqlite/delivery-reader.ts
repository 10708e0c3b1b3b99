import type { DatabaseSync } from "node:sqlite";
import { isDamage } from "../../core/files.ts";
import { cursorInvalid } from "../errors.ts";
import { type DeliveryFilter, matchesFilter } from "../filter.ts";
import {
  type DeliveryAttempt,
  type DeliveryCounts,
  type DeliveryPage,
  type DeliveryStatus,
  deliveryStatuses,
  type ListOptions,
  pageSize,
  type StoredDelivery,
} from "../inbox.ts";
import { decodeDetails, decodeHeaders, encodeDetails } from "../records.ts";
import type { EventIndex, IndexPosition } from "./event-index.ts";
import type { Statements } from "./statements.ts";

/** An attempt with its start time and duration, which SQLite always stores. */
export type TimedAttempt = DeliveryAttempt & { startedAt: Date; durationMs: number };

/** Returns the columns of an attempt, in the order of the table. */
export function toAttemptRow(sequence: number, attempt: TimedAttempt) {
  const { number, startedAt, durationMs, outcome, error, reason, details } = attempt;
  const { code = null, message = reason ?? null } = error ?? {};
  const times = [startedAt.getTime(), Math.max(0, Math.round(durationMs))] as const;
  return [sequence, number, ...times, outcome, code, message, encodeDetails(details) ?? null] as const;
}

export type Totals = ReturnType<typeof createTotals>;

/**
 * Counts deliveries that are added, and that start or stop running, and stores the counts once per transaction. A trigger, which
 * counts other changes, would cost 3 µs for each of these.
 */
export function createTotals(statements: Statements) {
  const added = new Map<string, Map<DeliveryStatus, number>>();
  /** The stored numbers of queued deliveries, which other processes do not change during a transaction. */
  const queued = new Map<string, number>();

  function add(endpoint: string, status: DeliveryStatus, count = 1): void {
    const counts = added.get(endpoint) ?? new Map<DeliveryStatus, number>();
    added.set(endpoint, counts.set(status, (counts.get(status) ?? 0) + count));
  }

  return {
    /** Returns the number of queued deliveries of an endpoint inside a transaction. */
    queued(endpoint: string): number {
      const stored = queued.get(endpoint) ?? Number(statements.queuedTotal().get(endpoint)?.deliveries ?? 0);
      queued.set(endpoint, stored);
      return stored + (added.get(endpoint)?.get("queued") ?? 0);
    },
    add,
    move(endpoint: string, from: DeliveryStatus, to: DeliveryStatus, count = 1): void {
      add(endpoint, from, -count);
      add(endpoint, to, count);
    },
    /**
     * Stores the counts. Call this method at the end of each transaction, and before a statement whose changes a trigger counts: a
     * trigger only subtracts from a total that is stored.
     */
    store(): void {
      for (const [endpoint, counts] of added) {
        for (const [status, count] of counts) if (count !== 0) statements.addToTotal().run(endpoint, status, count);
      }
      added.clear();
      queued.clear();
    },
    /** Forgets the counts of a transaction that was rolled back. */
    discard(): void {
      added.clear();
      queued.clear();
    },
  };
}

const outcomes = ["succeeded", "ignored", "failed", "abandoned"] as const;

/** The column `message` contains the error message or, without a code, why the delivery was ignored. */
function toAttempt(row: Row): DeliveryAttempt {
  const details = typeof row.details === "string" ? decodeDetails(row.details) : undefined;
  return {
    number: Number(row.number),
    startedAt: new Date(Number(row.started_at)),
    durationMs: Number(row.duration_ms),
    outcome: outcomes.find((known) => known === row.outcome) ?? "failed",
    ...(row.code !== null && { error: { code: String(row.code), message: String(row.message) } }),
    ...(row.code === null && typeof row.message === "string" && { reason: row.message }),
    ...(details && { details }),
  };
}

export type Row = Record<string, unknown>;

const scanBatch = 250;
/** Deliveries that are received at the same time are not always stored in the same order. This tolerance is added to `disorder`. */
export const toleranceMs = 60_000;

/** What a search looks for. Can be sent to a thread. */
export interface SearchRequest {
  filter: DeliveryFilter;
  options: ListOptions;
  maxMs: number;
}

/** The result of a search. Can be sent from a thread. */
export interface FoundDeliveries {
  /** The sequences of the matching deliveries, newest first. */
  sequences: readonly number[];
  /** Where the search stopped, unless all deliveries were examined. */
  end?: { sequence: number; receivedAt: number };
}

/** A list of an endpoint or a status up to this length is examined without the index, whose results can be much longer. */
const maxListed = 5_000;

/**
 * Reads deliveries for lists, searches, and details.
 *
 * A search finds deliveries that match filters, newest first, until the page is full or the time is over. It finds a repository, a scope,
 * and an action with the index, and examines other deliveries one by one.
 */
export class DeliveryReader {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #index: EventIndex;

  constructor(database: DatabaseSync, statements: Statements, index: EventIndex) {
    this.#database = database;
    this.#statements = statements;
    this.#index = index;
  }

  /**
   * Reads in one transaction. Otherwise, a delivery whose status changes between two queries of a merged list would be in neither: another
   * connection can write at any time.
   */
  #atOneTime<Result>(read: () => Result): Result {
    if (this.#database.isTransaction) return read();
    this.#database.exec("BEGIN");
    try {
      return read();
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  get(sequence: number): StoredDelivery | undefined {
    const row = this.#statements.row().get(sequence);
    if (!row) return undefined;
    const headers = typeof row.headers === "string" ? decodeHeaders(row.headers) : undefined;
    return { ...this.#toStored(row, this.#statements.attemptsWithDetails()), ...(headers && { headers }) };
  }

  /** @throws `OPTION_INVALID` if the limit or the cursor is invalid. */
  list(options: ListOptions): DeliveryPage {
    const limit = pageSize(options);
    const before = readCursor(options);
    return this.#atOneTime(() => {
      const sequences = this.#sequences(options, before, limit);
      const last = sequences.at(-1);
      return {
        deliveries: this.#readAll(sequences),
        ...(sequences.length === limit && last !== undefined && { next: String(last) }),
      };
    });
  }

  #readAll(sequences: readonly number[]): StoredDelivery[] {
    const rows = sequences.map((sequence) => this.#statements.row().get(sequence));
    return rows.filter((row) => row !== undefined).map((row) => this.#toStored(row));
  }

  /** Returns the newest sequences below `before`. Merges several queries, because the index sorts only within an endpoint and a status. */
  #sequences(options: ListOptions, before: number, limit: number): number[] {
    const isAll = options.endpoint === undefined && options.status === undefined;
    const rows = isAll
      ? this.#statements.newest().all(before, limit)
      : this.#totals(options).flatMap((total) => this.#newestOf(total, before, limit));
    const sequences = rows.map(({ sequence }) => Number(sequence));
    return sequences.sort((one, other) => other - one).slice(0, limit);
  }

  /** Returns the number of deliveries of an endpoint and a status, including those without a body. */
  count(options: ListOptions): number {
    return this.#totals(options).reduce((sum, { deliveries }) => sum + Number(deliveries), 0);
  }

  #totals({ endpoint, status }: ListOptions): Row[] {
    const totals = this.#statements.totals().all();
    return totals.filter((row) => row.endpoint === (endpoint ?? row.endpoint) && row.status === (status ?? row.status));
  }

  #newestOf({ endpoint, status }: Row, before: number, limit: number): Row[] {
    const { newestQueued, newestRunning, newestEnded } = this.#statements;
    if (status === "queued") return newestQueued().all(String(endpoint), before, limit);
    if (status === "running") return newestRunning().all(String(endpoint), before, limit);
    return newestEnded().all(String(endpoint), String(status), before, limit);
  }

  counts(): Record<string, DeliveryCounts> {
    // The object has no prototype, because an endpoint may be named "__proto__".
    const counts: Record<string, Record<DeliveryStatus, number>> = Object.create(null);
    for (const row of this.#statements.totals().all()) {
      const endpoint = String(row.endpoint);
      const known = counts[endpoint] ?? { queued: 0, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0 };
      counts[endpoint] = known;
      const status = deliveryStatuses.find((one) => one === row.status);
      if (status) known[status] = Number(row.deliveries);
    }
    return counts;
  }

  #toStored(row: Row, attempts = this.#statements.attempts()): StoredDelivery {
    const status = toStatus(row.status);
    return {
      id: String(row.id),
      endpoint: String(row.endpoint),
      status,
      receivedAt: new Date(Number(row.received_at)),
      ...(status === "queued" && { dueAt: new Date(Number(row.due_at)) }),
      ...(status === "running" && row.started_at !== null && { startedAt: new Date(Number(row.started_at)) }),
      ...(row.finished_at !== null && { finishedAt: new Date(Number(row.finished_at)) }),
      ...(row.body !== null && { body: String(row.body) }),
      ...(typeof row.replay_of === "string" && { replayOf: row.replay_of }),
      attempts: attempts.all(Number(row.sequence)).map(toAttempt),
    };
  }

  /** @throws `OPTION_INVALID` if the limit or the cursor is invalid. */
  find(request: SearchRequest): FoundDeliveries {
    return this.#atOneTime(() => {
      if (!this.#usesIndex(request)) return this.#find(request, 0);
      try {
        return this.#find(request, this.#index.end);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // A page of the index can be damaged.
        return this.#find(request, 0);
      }
    });
  }

  #usesIndex({ options }: SearchRequest): boolean {
    const { repository, scope, action, endpoint, status } = options;
    const hasField = [repository, scope, action].some((value) => value !== undefined);
    const isPart = endpoint !== undefined || status !== undefined;
    return hasField && !(isPart && this.count(options) <= maxListed);
  }

  /** `indexEnd`: the sequence up to which the index is used, or 0. */
  #find({ filter, options, maxMs }: SearchRequest, indexEnd: number): FoundDeliveries {
    const limit = pageSize(options);
    const stopAt = performance.now() + maxMs;
    const { receivedFrom, receivedUntil } = filter;
    const disorderMs = toleranceMs + this.disorderMs;
    const from = receivedFrom === undefined ? 0 : this.#firstReceivedAt(receivedFrom - disorderMs);
    const until =
      receivedUntil === undefined ? Number.POSITIVE_INFINITY : this.#firstReceivedAt(receivedUntil + disorderMs);
    const before = Math.min(until, readCursor(options));
    const sequences: number[] = [];
    for (const { sequence, isMatch } of this.#positions(options, before, indexEnd)) {
      if (sequence < from) break;
      const isTimeOver = performance.now() >= stopAt;
      if (!isMatch && !isTimeOver) continue;
      const row = this.#statements.row().get(sequence);
      if (!row) continue;
      if (this.#matches(filter, options, row)) sequences.push(sequence);
      if (sequences.length === limit || isTimeOver) {
        return { sequences, end: { sequence, receivedAt: Number(row.received_at) } };
      }
    }
    return { sequences };
  }

  *#positions(options: ListOptions, before: number, indexEnd: number): Generator<IndexPosition> {
    for (let next = before; next > indexEnd + 1; ) {
      const batch = this.#sequences(options, next, scanBatch);
      for (const sequence of batch) if (sequence > indexEnd) yield { sequence, isMatch: true };
      next = batch.length < scanBatch ? 0 : (batch.at(-1) ?? 0);
    }
    if (indexEnd > 0) yield* this.#index.find(options, Math.min(before, indexEnd + 1));
  }

  page({ sequences, end }: FoundDeliveries): DeliveryPage {
    return {
      deliveries: this.#readAll(sequences),
      ...(end && { next: String(end.sequence), searchedUntil: new Date(end.receivedAt) }),
    };
  }

  #matches(filter: DeliveryFilter, { endpoint, status }: ListOptions, row: Row): boolean {
    if (row.body === null) return false;
    if (row.endpoint !== (endpoint ?? row.endpoint) || row.status !== (status ?? row.status)) return false;
    return matchesFilter(filter, {
      id: String(row.id),
      receivedAt: Number(row.received_at),
      body: String(row.body),
      attempts: () => this.#statements.attemptsWithDetails().all(Number(row.sequence)).map(toAttempt),
    });
  }

  /** See the table `disorder`. */
  get disorderMs(): number {
    return Number(this.#statements.disorder().get()?.max_ms ?? 0);
  }

  /** Returns the first sequence that was received at a time or later, if all are in order. Uses a binary search. */
  #firstReceivedAt(time: number): number {
    let low = 0;
    let high = Number(this.#statements.lastSequence().get()?.sequence ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#statements.firstFrom().get(middle);
      if (!row || Number(row.received_at) >= time) high = middle;
      else low = Number(row.sequence) + 1;
    }
    return low;
  }
}

/** A status of a newer release is shown as dead. */
export function toStatus(value: unknown): DeliveryStatus {
  return deliveryStatuses.find((known) => known === value) ?? "dead";
}

/** Returns the sequence before which a page starts. @throws `OPTION_INVALID` if the cursor is invalid. */
function readCursor({ cursor }: Pick<ListOptions, "cursor">): number {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
  if (!Number.isSafeInteger(before)) throw cursorInvalid();
  return before;
}

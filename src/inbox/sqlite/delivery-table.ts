import type { DatabaseSync } from "node:sqlite";
import type { Arrival, DeliveryCounts, DeliveryKey, DeliveryPage, ListOptions, Task } from "../inbox.ts";
import { inboxFull } from "../inbox-errors.ts";
import { listInvalid, pageSize } from "../list-options.ts";
import {
  abandonedError,
  type DeliveryAttempt,
  type DeliveryStatus,
  type StoredDelivery,
  type TimedAttempt,
} from "../stored-delivery.ts";
import { prepareStatements } from "./statements.ts";

/** A delivery that a worker has taken, until its lease ends. */
export interface Claimed extends Omit<Task, "isLast"> {
  sequence: number;
  /** Attempts that count: all but those that a shutdown cut short, and those before a replay. */
  countedAttempts: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** A delivery whose lease has ended, and the number of the attempt that was made at it. */
export interface Abandoned extends DeliveryKey {
  sequence: number;
  countedAttempts: number;
  number: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** When the lease was given, or renewed for the last time. */
  lastSignAt: number;
}

/** How an attempt ended, and what becomes of the delivery. */
export interface Ending {
  attempt: TimedAttempt;
  next: { status: "succeeded" | "dead" } | { status: "queued"; dueAt: number; counts: boolean };
}

/** Who works on deliveries, and until when they are his: milliseconds since the epoch. */
export interface Lease {
  owner: string;
  now: number;
  until: number;
}

/** Deliveries that are forgotten in one transaction. */
const pruneStep = 500;

const statuses = ["queued", "running", "succeeded", "dead"] as const;

type Row = Record<string, unknown>;

/** The statements of an inbox. Whatever writes belongs into a transaction. */
export class DeliveryTable {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
  }

  /**
   * Adds an arrival, or begins with a dead one anew. Returns whether it was there already.
   *
   * @throws `INBOX_FULL` when the endpoint has `mostQueued` waiting.
   */
  add({ id, endpoint, body, receivedAt }: Arrival, { now, mostQueued }: { now: number; mostQueued: number }): boolean {
    const values = { endpoint, id, body, received_at: receivedAt.getTime(), now, most: mostQueued };
    if (this.#statements.add.run(values).changes > 0) return false;
    const known = this.#statements.find.get(endpoint, id);
    if (!known) throw inboxFull(endpoint);
    if (known.status !== "dead") return true;
    this.#statements.revive.run(body, now, now, Number(known.sequence));
    return false;
  }

  /** Takes up to `most` deliveries that are due. */
  claim(endpoint: string, { most, lease }: { most: number; lease: Lease }): Claimed[] {
    const rows = this.#statements.claim.all(lease.owner, lease.until, lease.now, lease.now, endpoint, lease.now, most);
    return rows.map((row) => ({
      sequence: Number(row.sequence),
      id: String(row.id),
      endpoint,
      body: String(row.body),
      receivedAt: new Date(Number(row.received_at)),
      attempt: Number(row.attempts),
      countedAttempts: Number(row.attempts) - Number(row.forgiven),
      startedAt: lease.now,
    }));
  }

  /** Notes how an attempt ended, unless the delivery was taken by somebody else meanwhile. Returns whether it was ours. */
  end({ sequence }: Claimed, { attempt, next }: Ending, { owner, now }: Pick<Lease, "owner" | "now">): boolean {
    const isQueued = next.status === "queued";
    const { changes } = this.#statements.end.run({
      status: next.status,
      due_at: isQueued ? next.dueAt : null,
      finished_at: isQueued ? null : now,
      forgiven: isQueued && !next.counts ? 1 : 0,
      now,
      sequence,
      owner,
    });
    if (changes === 0) return false;
    this.#addAttempt(sequence, attempt);
    return true;
  }

  /** Prolongs the leases of what an owner is working on. Returns the deliveries that are still his. */
  renew(sequences: readonly number[], { owner, until, now }: Lease): ReadonlySet<number> {
    const rows = this.#statements.renew.all(until, now, owner, JSON.stringify(sequences));
    return new Set(rows.map((row) => Number(row.sequence)));
  }

  /** Deliveries whose lease has ended: whoever worked on them is gone. */
  abandoned(now: number): Abandoned[] {
    return this.#statements.abandoned.all(now).map((row) => ({
      sequence: Number(row.sequence),
      endpoint: String(row.endpoint),
      id: String(row.id),
      countedAttempts: Number(row.attempts) - Number(row.forgiven),
      number: Number(row.attempts),
      startedAt: Number(row.started_at ?? row.set_at),
      lastSignAt: Number(row.set_at),
    }));
  }

  /** Takes an abandoned delivery back. Returns whether nobody else has done so meanwhile. */
  takeBack(found: Abandoned, { isDead, now }: { isDead: boolean; now: number }): boolean {
    const { changes } = this.#statements.takeBack.run(
      isDead ? "dead" : "queued",
      isDead ? null : now,
      isDead ? now : null,
      now,
      found.sequence,
      now,
    );
    if (changes === 0) return false;
    this.#addAttempt(found.sequence, {
      number: found.number,
      startedAt: new Date(found.startedAt),
      durationMs: found.lastSignAt - found.startedAt,
      outcome: "abandoned",
      error: abandonedError,
    });
    return true;
  }

  /** When the next delivery of each endpoint is due (ms since the epoch). */
  dueAt(): { endpoint: string; dueAt: number }[] {
    return this.#statements.due.all().map((row) => ({ endpoint: String(row.endpoint), dueAt: Number(row.due_at) }));
  }

  /** After the clock was set back, nothing may wait for the hour that it lost: what was set in the future is set anew. */
  correctClock(now: number): void {
    this.#statements.correctClock.run({ now });
  }

  /** Puts a delivery back into the queue; one that is running, once more after that. Returns whether it is there. */
  replay({ endpoint, id }: DeliveryKey, now: number): boolean {
    return this.#statements.replay.run({ now, endpoint, id }).changes > 0;
  }

  replayDead(endpoint: string, now: number): number {
    return Number(this.#statements.replayDead.run(now, now, endpoint).changes);
  }

  get({ endpoint, id }: DeliveryKey): StoredDelivery | undefined {
    const row = this.#statements.find.get(endpoint, id);
    return row && this.#toStored(row);
  }

  /** @throws `OPTION_INVALID`. */
  list(options: ListOptions): DeliveryPage {
    const { endpoint, status, cursor } = options;
    const limit = pageSize(options);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    if (!Number.isSafeInteger(before)) throw listInvalid();
    const sequences = this.#sequences({ endpoint, status, before, limit });
    const last = sequences.at(-1);
    const rows = sequences.map((sequence) => this.#statements.row.get(sequence)).filter((row) => row !== undefined);
    return {
      deliveries: rows.map((row) => this.#toStored(row)),
      ...(sequences.length === limit && last !== undefined && { next: String(last) }),
    };
  }

  /** The newest of each endpoint and status that is asked for: one index alone has each of these in order. */
  #sequences({ endpoint, status, before, limit }: ListOptions & { before: number; limit: number }): number[] {
    const { newest, newestOf, totals } = this.#statements;
    const rows =
      endpoint === undefined && status === undefined
        ? newest.all(before, limit)
        : totals
            .all()
            .filter((total) => total.endpoint === (endpoint ?? total.endpoint))
            .filter((total) => total.status === (status ?? total.status))
            .flatMap((total) => newestOf.all(String(total.endpoint), String(total.status), before, limit));
    const sequences = rows.map(({ sequence }) => Number(sequence));
    return sequences.sort((one, other) => other - one).slice(0, limit);
  }

  counts(): Record<string, DeliveryCounts> {
    // An endpoint may be named "__proto__".
    const counts: Record<string, Record<DeliveryStatus, number>> = Object.create(null);
    for (const row of this.#statements.totals.all()) {
      const endpoint = String(row.endpoint);
      counts[endpoint] ??= { queued: 0, running: 0, succeeded: 0, dead: 0 };
      const status = statuses.find((known) => known === row.status);
      if (status) counts[endpoint][status] = Number(row.deliveries);
    }
    return counts;
  }

  /**
   * Forgets some of what finished before `bodiesBefore`: its body and its attempts at once, its id only when that is
   * not needed any more to know a duplicate. Returns how many, and whether there is more of it: it is done in steps, so
   * that nobody else has to wait for all of it.
   */
  prune(
    endpoint: string,
    { bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number },
  ): { count: number; isDone: boolean } {
    const { dropBodies, dropAttempts, dropIds } = this.#statements;
    const emptied = dropBodies.all(endpoint, bodiesBefore, pruneStep).map(({ sequence }) => Number(sequence));
    dropAttempts.run(JSON.stringify(emptied));
    const { changes: forgotten } = dropIds.run(endpoint, Math.min(bodiesBefore, idsBefore), pruneStep);
    return { count: emptied.length, isDone: emptied.length < pruneStep && forgotten < pruneStep };
  }

  #addAttempt(sequence: number, { number, startedAt, durationMs, outcome, error }: TimedAttempt): void {
    const { code = null, message = null } = error ?? {};
    this.#statements.addAttempt.run(
      sequence,
      number,
      startedAt.getTime(),
      Math.max(0, Math.round(durationMs)),
      outcome,
      code,
      message,
    );
  }

  #toStored(row: Row): StoredDelivery {
    const status = statuses.find((known) => known === row.status) ?? "dead";
    return {
      id: String(row.id),
      endpoint: String(row.endpoint),
      status,
      receivedAt: new Date(Number(row.received_at)),
      ...(status === "queued" && { dueAt: new Date(Number(row.due_at)) }),
      ...(status === "running" && row.started_at !== null && { startedAt: new Date(Number(row.started_at)) }),
      ...(row.finished_at !== null && { finishedAt: new Date(Number(row.finished_at)) }),
      ...(row.body !== null && { body: String(row.body) }),
      attempts: this.#statements.attempts.all(Number(row.sequence)).map(toAttempt),
    };
  }
}

function toAttempt(row: Row): DeliveryAttempt {
  const outcomes = ["succeeded", "failed", "abandoned"] as const;
  return {
    number: Number(row.number),
    startedAt: new Date(Number(row.started_at)),
    durationMs: Number(row.duration_ms),
    outcome: outcomes.find((known) => known === row.outcome) ?? "failed",
    ...(row.code !== null && { error: { code: String(row.code), message: String(row.message) } }),
  };
}

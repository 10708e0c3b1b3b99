import type { DatabaseSync } from "node:sqlite";
import { WebhookError } from "../../errors.ts";
import type { Arrival, DeliveryCounts, DeliveryKey, DeliveryPage, ListOptions, Task } from "../inbox.ts";
import { inboxFull } from "../inbox-errors.ts";
import type { DeliveryAttempt, DeliveryStatus, StoredDelivery } from "../stored-delivery.ts";

/** A delivery that a worker has taken, until its lease ends. */
export interface Claimed extends Omit<Task, "isLast"> {
  sequence: number;
  /** Attempts that count: all but those that a shutdown cut short, and those before a replay. */
  countedAttempts: number;
}

/** How an attempt ended, and what becomes of the delivery. */
export interface Ending {
  attempt: DeliveryAttempt;
  next: { status: "succeeded" | "dead" } | { status: "queued"; dueAt: number; counts: boolean };
}

/** Who works on deliveries, and until when they are his: milliseconds since the epoch. */
export interface Lease {
  owner: string;
  now: number;
  until: number;
}

const statuses = ["queued", "running", "succeeded", "dead"] as const;
const defaultPage = 50;
const largestPage = 1_000;

type Row = Record<string, unknown>;

/** The statements of an inbox. Whatever writes belongs into a transaction. */
export class DeliveryTable {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /**
   * Adds an arrival, or begins with a dead one anew. Returns whether it was there already.
   *
   * @throws `INBOX_FULL` when the endpoint has `mostQueued` waiting.
   */
  add({ id, endpoint, body, receivedAt }: Arrival, { now, mostQueued }: { now: number; mostQueued: number }): boolean {
    const known = this.#statements.find.get(endpoint, id);
    if (known) {
      if (known.status !== "dead") return true;
      this.#statements.revive.run(body, now, now, Number(known.sequence));
      return false;
    }
    if (Number(this.#statements.queuedOf.get(endpoint)?.deliveries ?? 0) >= mostQueued) throw inboxFull(endpoint);
    this.#statements.add.run(endpoint, id, body, receivedAt.getTime(), now, now);
    return false;
  }

  /** Takes up to `most` deliveries that are due. */
  claim(endpoint: string, { most, lease }: { most: number; lease: Lease }): Claimed[] {
    const rows = this.#statements.claim.all(lease.owner, lease.until, lease.now, endpoint, lease.now, most);
    return rows.map((row) => ({
      sequence: Number(row.sequence),
      id: String(row.id),
      endpoint,
      body: String(row.body),
      receivedAt: new Date(Number(row.received_at)),
      attempt: Number(row.attempts),
      countedAttempts: Number(row.attempts) - Number(row.forgiven),
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

  /** Prolongs the leases of an owner. Returns the deliveries that are still his. */
  renew({ owner, until, now }: Lease): ReadonlySet<number> {
    return new Set(this.#statements.renew.all(until, now, owner).map((row) => Number(row.sequence)));
  }

  /** Deliveries whose lease has ended: whoever worked on them is gone. */
  abandoned(now: number): { sequence: number; endpoint: string; countedAttempts: number; number: number }[] {
    return this.#statements.abandoned.all(now).map((row) => ({
      sequence: Number(row.sequence),
      endpoint: String(row.endpoint),
      countedAttempts: Number(row.attempts) - Number(row.forgiven),
      number: Number(row.attempts),
    }));
  }

  /** Takes an abandoned delivery back. */
  takeBack(found: { sequence: number; number: number }, { isDead, now }: { isDead: boolean; now: number }): void {
    const { changes } = this.#statements.takeBack.run(
      isDead ? "dead" : "queued",
      isDead ? null : now,
      isDead ? now : null,
      now,
      found.sequence,
      now,
    );
    if (changes === 0) return;
    this.#addAttempt(found.sequence, {
      number: found.number,
      startedAt: new Date(now),
      durationMs: 0,
      outcome: "abandoned",
      error: { code: "ABANDONED", message: "The process that worked on it ended." },
    });
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
  list({ endpoint, status, limit = defaultPage, cursor }: ListOptions): DeliveryPage {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > largestPage || !Number.isSafeInteger(before)) {
      throw new WebhookError(
        `Give "limit" from 1 to ${largestPage}, and as "cursor" the "next" of the page before, to list deliveries.`,
        { code: "OPTION_INVALID" },
      );
    }
    const conditions = ["sequence < ?", "body IS NOT NULL"];
    const values: (string | number)[] = [before];
    if (endpoint !== undefined) {
      conditions.push("endpoint = ?");
      values.push(endpoint);
    }
    if (status !== undefined) {
      conditions.push("status = ?");
      values.push(status);
    }
    const rows = this.#database
      .prepare(`SELECT * FROM deliveries WHERE ${conditions.join(" AND ")} ORDER BY sequence DESC LIMIT ?`)
      .all(...values, limit);
    const last = rows.at(-1);
    return {
      deliveries: rows.map((row) => this.#toStored(row)),
      ...(rows.length === limit && last && { next: String(last.sequence) }),
    };
  }

  counts(): Record<string, DeliveryCounts> {
    const counts: Record<string, Record<DeliveryStatus, number>> = {};
    for (const row of this.#database.prepare("SELECT * FROM totals").all()) {
      const endpoint = String(row.endpoint);
      counts[endpoint] ??= { queued: 0, running: 0, succeeded: 0, dead: 0 };
      const status = statuses.find((known) => known === row.status);
      if (status) counts[endpoint][status] = Number(row.deliveries);
    }
    return counts;
  }

  /**
   * Forgets what finished before `bodiesBefore`: its body and its attempts at once, its id only when that is not needed
   * any more to know a duplicate. Returns how many.
   */
  prune(endpoint: string, { bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number }): number {
    this.#statements.dropAttempts.run(endpoint, bodiesBefore);
    const { changes: emptied } = this.#statements.dropBodies.run(endpoint, bodiesBefore);
    this.#statements.dropIds.run(endpoint, Math.min(bodiesBefore, idsBefore));
    return Number(emptied);
  }

  #addAttempt(sequence: number, { number, startedAt, durationMs, outcome, error }: DeliveryAttempt): void {
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

function prepareStatements(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    find: sql("SELECT * FROM deliveries WHERE endpoint = ? AND id = ?"),
    queuedOf: sql("SELECT deliveries FROM totals WHERE endpoint = ? AND status = 'queued'"),
    add: sql(
      "INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, set_at) VALUES (?, ?, 'queued', ?, ?, ?, ?)",
    ),
    revive: sql(
      "UPDATE deliveries SET status = 'queued', body = ?, due_at = ?, set_at = ?, finished_at = NULL, forgiven = attempts WHERE sequence = ?",
    ),
    claim: sql(
      `UPDATE deliveries SET status = 'running', owner = ?, due_at = ?, set_at = ?, attempts = attempts + 1
       WHERE sequence IN (SELECT sequence FROM deliveries WHERE status = 'queued' AND endpoint = ? AND due_at <= ?
         ORDER BY due_at, sequence LIMIT ?)
       RETURNING sequence, id, body, received_at, attempts, forgiven`,
    ),
    // What is to be replayed goes back into the queue however this attempt has ended.
    end: sql(
      `UPDATE deliveries SET
         status = iif(again, 'queued', :status), due_at = iif(again, :now, :due_at), set_at = :now,
         finished_at = iif(again, NULL, :finished_at), forgiven = iif(again, attempts, forgiven + :forgiven),
         again = 0, owner = NULL
       WHERE sequence = :sequence AND status = 'running' AND owner = :owner`,
    ),
    renew: sql(
      "UPDATE deliveries SET due_at = ?, set_at = ? WHERE status = 'running' AND owner = ? RETURNING sequence",
    ),
    abandoned: sql("SELECT * FROM deliveries WHERE status = 'running' AND due_at <= ?"),
    takeBack: sql(
      `UPDATE deliveries SET status = ?, due_at = ?, finished_at = ?, set_at = ?, owner = NULL
       WHERE sequence = ? AND status = 'running' AND due_at <= ?`,
    ),
    due: sql("SELECT endpoint, min(due_at) AS due_at FROM deliveries WHERE status = 'queued' GROUP BY endpoint"),
    correctClock: sql(
      "UPDATE deliveries SET due_at = due_at - set_at + :now, set_at = :now WHERE status IN ('queued', 'running') AND set_at > :now",
    ),
    replay: sql(
      `UPDATE deliveries SET
         again = iif(status = 'running', 1, 0), status = iif(status = 'running', status, 'queued'),
         due_at = iif(status = 'running', due_at, :now), set_at = iif(status = 'running', set_at, :now),
         forgiven = iif(status = 'running', forgiven, attempts), finished_at = NULL
       WHERE endpoint = :endpoint AND id = :id AND body IS NOT NULL`,
    ),
    replayDead: sql(
      `UPDATE deliveries SET status = 'queued', due_at = ?, set_at = ?, finished_at = NULL, forgiven = attempts
       WHERE status = 'dead' AND endpoint = ? AND body IS NOT NULL`,
    ),
    attempts: sql("SELECT * FROM attempts WHERE delivery = ? ORDER BY number"),
    addAttempt: sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)"),
    dropAttempts: sql(
      `DELETE FROM attempts WHERE delivery IN
         (SELECT sequence FROM deliveries WHERE endpoint = ? AND finished_at < ? AND body IS NOT NULL)`,
    ),
    dropBodies: sql("UPDATE deliveries SET body = NULL WHERE endpoint = ? AND finished_at < ? AND body IS NOT NULL"),
    dropIds: sql("DELETE FROM deliveries WHERE endpoint = ? AND finished_at < ?"),
  };
}

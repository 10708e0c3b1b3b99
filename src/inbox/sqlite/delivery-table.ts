import type { DatabaseSync } from "node:sqlite";
import {
  abandonedError,
  type ClaimedDelivery,
  type DeliveryAttempt,
  type DeliveryKey,
  type IncomingDelivery,
} from "../inbox.ts";
import { inboxFull } from "../inbox-errors.ts";
import type { Retention } from "../retention.ts";
import { maxUncountedCrashes, type RetryPolicy } from "../retry-policy.ts";
import { isDamage } from "./database.ts";
import { DeliveryPruner } from "./delivery-pruner.ts";
import { DeliveryReader } from "./delivery-reader.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** A claimed delivery as its row says, without the retry policy applied. */
export interface LeasedDelivery extends Omit<ClaimedDelivery, "isLastAttempt" | "retryDelayMs"> {
  /** The attempts so far, without those before a replay, interrupted by a shutdown, or crashed beside other deliveries. */
  countedAttempts: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** A delivery that a process has claimed. */
export interface RunningDelivery {
  sequence: number;
  id: string;
  owner: string;
}

type TimedAttempt = DeliveryAttempt & { startedAt: Date; durationMs: number };

/** The end of an attempt, and the next status of the delivery. */
export interface AttemptEnd {
  attempt: TimedAttempt;
  next: { status: "succeeded" | "dead" } | { status: "queued"; dueAt: number; counts: boolean };
}

/**
 * How the end of an attempt was stored. `late`: another process had taken over the delivery, and the success counts.
 * `superseded`: another process had taken over the delivery, and the end is ignored.
 */
export type RecordResult = "stored" | "late" | "superseded";

/** The process that claims or runs deliveries, and the time (ms since the epoch). */
export interface Claimant {
  owner: string;
  now: number;
}

/** A delivery that was recovered from a process that is gone. */
export interface RecoveredDelivery extends DeliveryKey {
  /** The number of the interrupted attempt. */
  attempt: number;
  /** Whether the crash used up an attempt. */
  isCounted: boolean;
  isDead: boolean;
}

/** The limits of a transaction that replays dead deliveries. */
const maxReplayRows = 200;
const maxReplayMs = 10;

/** Suspects that are read to find one on an intact page. */
const maxSuspects = 20;

/** The deliveries of an inbox. Call methods that write within a transaction. */
export class DeliveryTable {
  readonly reader: DeliveryReader;
  readonly pruner: DeliveryPruner;
  readonly #statements: Statements;
  /** Sequences of deliveries on damaged pages, which cannot be claimed. */
  readonly #damaged = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
    this.reader = new DeliveryReader(this.#statements);
    this.pruner = new DeliveryPruner(database, this.#statements);
  }

  /**
   * Adds a delivery, or queues it again if it is dead. Returns whether it was already stored.
   *
   * @throws `INBOX_FULL` when the endpoint has `maxQueued` queued deliveries.
   */
  add(
    { id, endpoint, body, receivedAt }: IncomingDelivery,
    { now, maxQueued }: { now: number; maxQueued: number },
  ): boolean {
    const values = { endpoint, id, body, received_at: receivedAt.getTime(), now, max_queued: maxQueued };
    if (this.#statements.add.run(values).changes > 0) return false;
    const known = this.#statements.find.get(endpoint, id);
    if (!known) throw inboxFull(endpoint);
    if (known.status !== "dead") return true;
    this.#statements.revive.run(body, now, now, Number(known.sequence));
    return false;
  }

  /**
   * Claims up to `limit` due deliveries. Skips those on damaged pages from then on.
   *
   * @param onDamage called for each skipped delivery.
   */
  claim(
    endpoint: string,
    { limit, claimant, onDamage }: { limit: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): LeasedDelivery[] {
    const due = this.#statements.due.all(endpoint, claimant.now, limit + this.#damaged.size);
    const claimed: LeasedDelivery[] = [];
    for (const { sequence } of due) {
      if (claimed.length === limit) break;
      if (this.#damaged.has(Number(sequence))) continue;
      const delivery = this.#claimOne(endpoint, { sequence: Number(sequence), claimant, onDamage });
      if (delivery) claimed.push(delivery);
    }
    return claimed;
  }

  /** The first suspect of an endpoint, and when it is due (ms since the epoch). */
  nextSuspect(endpoint: string): { sequence: number; dueAt: number } | undefined {
    return this.#statements.suspects
      .all(endpoint, maxSuspects)
      .map((row) => ({ sequence: Number(row.sequence), dueAt: Number(row.due_at) }))
      .find(({ sequence }) => !this.#damaged.has(sequence));
  }

  /** Claims the first suspect of an endpoint, if it is due. */
  claimSuspect(
    endpoint: string,
    { claimant, onDamage }: { claimant: Claimant; onDamage: (error: unknown) => void },
  ): LeasedDelivery | undefined {
    const suspect = this.nextSuspect(endpoint);
    if (suspect === undefined || suspect.dueAt > claimant.now) return undefined;
    return this.#claimOne(endpoint, { sequence: suspect.sequence, claimant, onDamage });
  }

  #claimOne(
    endpoint: string,
    { sequence, claimant, onDamage }: { sequence: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): LeasedDelivery | undefined {
    const { owner, now } = claimant;
    try {
      // Reads the row first: a write to a damaged page would fail the whole transaction.
      this.#statements.row.get(sequence);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damaged.add(sequence);
      onDamage(error);
      return undefined;
    }
    try {
      const row = this.#statements.claim.get(owner, now, now, sequence);
      return (
        row && {
          id: String(row.id),
          endpoint,
          body: String(row.body),
          receivedAt: new Date(Number(row.received_at)),
          attempt: Number(row.attempts),
          countedAttempts: Number(row.attempts) - Number(row.forgiven),
          startedAt: now,
        }
      );
    } catch (error) {
      if (isDamage(error)) this.#damaged.add(sequence);
      throw error;
    }
  }

  /**
   * Stores the end of an attempt. If another process has taken over the delivery, a success still counts unless the delivery
   * has already succeeded, and a failure is ignored. An end may be stored twice: a commit to a deleted file fails, although
   * its data is in the restored file.
   */
  recordEnd({ endpoint, id }: LeasedDelivery, { attempt, next }: AttemptEnd, { owner, now }: Claimant): RecordResult {
    const row = this.#statements.find.get(endpoint, id);
    const isOurs = row?.status === "running" && row.owner === owner && row.attempts === attempt.number;
    if (row === undefined) return "superseded";
    const sequence = Number(row.sequence);
    if (!isOurs && this.#hasAttempt(sequence, attempt)) return "stored";
    if (!isOurs && next.status !== "succeeded") return "superseded";
    this.#addAttempt(sequence, attempt);
    // The process that runs it now also replays it.
    if (!isOurs && (row.status === "succeeded" || row.again === 1)) return "superseded";
    const isQueued = next.status === "queued";
    this.#statements.end.run({
      status: next.status,
      due_at: isQueued ? next.dueAt : null,
      finished_at: isQueued ? null : now,
      forgiven: isQueued && !next.counts ? 1 : 0,
      now,
      sequence,
    });
    return isOurs ? "stored" : "late";
  }

  /**
   * Finds the deliveries of an endpoint that any process has claimed.
   *
   * @returns `unreadable`: sequences of those on damaged pages, whose IDs and owners are unknown.
   */
  running(
    endpoint: string,
    onDamage: (error: unknown) => void,
  ): { rows: RunningDelivery[]; unreadable: ReadonlySet<number> } {
    const { running, runningSequences, row } = this.#statements;
    const unreadable = new Set<number>();
    try {
      return { rows: running.all(endpoint).map(toRunningDelivery), unreadable };
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamage(error);
    }
    const rows = runningSequences.all(endpoint).flatMap(({ sequence }) => {
      try {
        const found = row.get(Number(sequence));
        return found ? [toRunningDelivery(found)] : [];
      } catch {
        unreadable.add(Number(sequence));
        return [];
      }
    });
    return { rows, unreadable };
  }

  /** The sequence of a delivery. Reads only an index, so it also works for damaged pages. */
  sequenceOf({ endpoint, id }: DeliveryKey): number | undefined {
    const sequence = this.#statements.sequenceOf.get(endpoint, id)?.sequence;
    return sequence === undefined ? undefined : Number(sequence);
  }

  /** Puts back a delivery that this owner has claimed and never ran. */
  release({ sequence }: RunningDelivery, { owner, now }: Claimant): void {
    this.#statements.release.run({ sequence, owner, now });
  }

  /** Stores a heartbeat of an owner. */
  beat({ owner, now }: Claimant): void {
    this.#statements.beat.run(owner, now);
  }

  /** The number of heartbeats of each owner. */
  beats(): ReadonlyMap<string, number> {
    return new Map(this.#statements.owners.all().map(({ owner, beat }) => [String(owner), Number(beat)]));
  }

  /**
   * Marks an owner as gone and stores how many deliveries it was running: the first process that notices counts them, before
   * any is recovered. Returns the number; `undefined` if the owner has sent a heartbeat since.
   */
  markOwnerGone(
    owner: string,
    { beat }: { beat: number | undefined },
  ): { running: number; lastBeatAt: number } | undefined {
    const { owner: find, markOwnerGone, countRunning } = this.#statements;
    const found = find.get(owner);
    if (found?.beat !== beat) return undefined;
    const lastBeatAt = Number(found?.beat_at ?? 0);
    if (typeof found?.running_at_death === "number") return { running: found.running_at_death, lastBeatAt };
    const running = Number(countRunning.get(owner)?.running);
    markOwnerGone.run(owner, running);
    return { running, lastBeatAt };
  }

  /** Removes an owner without running deliveries. */
  dropOwner(owner: string): void {
    this.#statements.dropOwner.run({ owner });
  }

  dropOwnersBefore(time: number): void {
    this.#statements.dropOldOwners.run(time);
  }

  /**
   * Recovers a delivery from an owner that is gone: it becomes a suspect, waits, and then runs alone. Returns `undefined` if
   * the owner no longer has it.
   */
  recover(
    { sequence, owner }: RunningDelivery,
    { isAlone, policy, now, lastBeatAt }: { isAlone: boolean; policy: RetryPolicy; now: number; lastBeatAt: number },
  ): RecoveredDelivery | undefined {
    const row = this.#statements.row.get(sequence);
    if (row?.status !== "running" || row.owner !== owner) return undefined;
    const uncounted = Number(row.uncounted_crashes);
    const isCounted = isAlone || uncounted >= maxUncountedCrashes;
    const attempt = Number(row.attempts);
    const forgiven = row.again === 1 ? attempt : Number(row.forgiven) + (isCounted ? 0 : 1);
    const isDead = isCounted && attempt - forgiven >= policy.attempts;
    // A delivery may crash more often than the policy has waits.
    const crash = Math.min(Number(row.crashes) + 1, Math.max(1, policy.attempts - 1));
    this.#statements.recover.run({
      status: isDead ? "dead" : "queued",
      due_at: isDead ? null : now + policy.waitAfter(crash),
      finished_at: isDead ? now : null,
      forgiven,
      uncounted_crashes: uncounted + (isCounted ? 0 : 1),
      now,
      sequence,
    });
    const startedAt = Number(row.started_at ?? row.set_at);
    this.#addAttempt(sequence, {
      number: attempt,
      startedAt: new Date(startedAt),
      durationMs: lastBeatAt - startedAt,
      outcome: "abandoned",
      error: abandonedError,
    });
    return { endpoint: String(row.endpoint), id: String(row.id), attempt, isCounted, isDead };
  }

  /** When the next delivery of an endpoint is due, without suspects (ms since the epoch). */
  nextDueAt(endpoint: string): number | undefined {
    const dueAt = this.#statements.nextDue.get(endpoint)?.due_at;
    return typeof dueAt === "number" ? dueAt : undefined;
  }

  /** Moves times in the future to now after the clock was set back, so that no delivery waits for the lost time. */
  correctClock(endpoint: string, now: number): void {
    for (const status of ["queued", "running"]) this.#statements.correctClock.run({ endpoint, status, now });
  }

  /** Queues a delivery again, or marks a running one to run again afterwards. Returns whether it is stored. */
  replay({ endpoint, id }: DeliveryKey, now: number): boolean {
    return this.#statements.replay.run({ now, endpoint, id }).changes > 0;
  }

  /** The sequence of the newest delivery. */
  lastSequence(): number {
    return Number(this.#statements.lastSequence.get()?.sequence ?? 0);
  }

  /**
   * Replays some dead deliveries of an endpoint, ordered by sequence. Returns their number, and the sequence to continue after;
   * `undefined` after the last.
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

  /** Stores the retention of an endpoint, for receivers without this endpoint. */
  setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): void {
    this.#statements.setRetention.run(endpoint, bodiesMs, idsMs);
  }

  #hasAttempt(sequence: number, { number, startedAt, durationMs, outcome, error }: TimedAttempt): boolean {
    const stored = this.#statements.attempt.get(sequence, number);
    return (
      stored?.started_at === startedAt.getTime() &&
      stored.duration_ms === storedDuration(durationMs) &&
      stored.outcome === outcome &&
      stored.code === (error?.code ?? null)
    );
  }

  #addAttempt(sequence: number, { number, startedAt, durationMs, outcome, error }: TimedAttempt): void {
    const { code = null, message = null } = error ?? {};
    this.#statements.addAttempt.run(
      sequence,
      number,
      startedAt.getTime(),
      storedDuration(durationMs),
      outcome,
      code,
      message,
    );
  }
}

function storedDuration(durationMs: number): number {
  return Math.max(0, Math.round(durationMs));
}

function toRunningDelivery(row: Record<string, unknown>): RunningDelivery {
  return { sequence: Number(row.sequence), id: String(row.id), owner: String(row.owner) };
}

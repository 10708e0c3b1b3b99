import type { DatabaseSync } from "node:sqlite";
import { maxUncountedCrashes } from "../crash-policy.ts";
import type { Arrival, DeliveryKey, Task } from "../inbox.ts";
import { inboxFull } from "../inbox-errors.ts";
import type { RetryPolicy } from "../retry-policy.ts";
import { abandonedError, type TimedAttempt } from "../stored-delivery.ts";
import { DeliveryReader } from "./delivery-reader.ts";
import { isDamage } from "./sqlite-error.ts";
import { prepareStatements, type Statements } from "./statements.ts";
import { type Retention, StepRemover } from "./step-remover.ts";

/** A delivery that a worker has taken, for as long as its owner shows that it is alive. */
export interface Claimed extends Omit<Task, "isLast" | "retryWaitMs"> {
  /** Attempts that count: all but those that a shutdown cut short, those before a replay, and crashes beside others. */
  countedAttempts: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** A delivery that some process has taken. */
export interface RunningRow {
  sequence: number;
  id: string;
  owner: string;
}

/** The deliveries of an endpoint that some process has taken. */
export interface RunningRows {
  rows: RunningRow[];
  /** Sequences of those on a damaged page: their ids and owners are unknown. */
  unreadable: ReadonlySet<number>;
}

/** How an attempt ended, and what becomes of the delivery. */
export interface Ending {
  attempt: TimedAttempt;
  next: { status: "succeeded" | "dead" } | { status: "queued"; dueAt: number; counts: boolean };
}

/**
 * What became of a reported ending. `late`: another process had taken the delivery over, and the success counts.
 * `superseded`: it had been taken over, and the ending is ignored.
 */
export type EndingResult = "stored" | "late" | "superseded";

/** Who takes deliveries, and when (ms since the epoch). */
export interface Claimant {
  owner: string;
  now: number;
}

/** A delivery that was taken back from a process that is gone. */
export interface TakenBack extends DeliveryKey {
  /** Number of the attempt that was cut short. */
  attempt: number;
  /** Whether the crash used up an attempt. */
  isCounted: boolean;
  isDead: boolean;
}

/** Dead deliveries that are replayed in one transaction at most, and how long that may take, in milliseconds. */
const maxReplayStep = 200;
const replayStepMs = 10;

/** Suspects that are read to find one that is not damaged. */
const suspectsRead = 20;

/** The deliveries of an inbox. Call what writes within a transaction. */
export class DeliveryTable {
  readonly reader: DeliveryReader;
  readonly remover: StepRemover;
  readonly #statements: Statements;
  /** Deliveries that cannot be claimed since they are on a damaged page, by sequence. */
  readonly #damaged = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
    this.reader = new DeliveryReader(this.#statements);
    this.remover = new StepRemover(database, this.#statements);
  }

  /**
   * Adds an arrival, or starts again with a dead one. Returns whether it was there already.
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

  /**
   * Takes up to `most` deliveries that are due. One on a damaged page is left out from then on.
   *
   * @param onDamage is called for each that is left out.
   */
  claim(
    endpoint: string,
    { most, claimant, onDamage }: { most: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): Claimed[] {
    const due = this.#statements.due.all(endpoint, claimant.now, most + this.#damaged.size);
    const claimed: Claimed[] = [];
    for (const { sequence } of due) {
      if (claimed.length === most) break;
      if (this.#damaged.has(Number(sequence))) continue;
      const taken = this.#claimOne(endpoint, { sequence: Number(sequence), claimant, onDamage });
      if (taken) claimed.push(taken);
    }
    return claimed;
  }

  /** When the first suspect of an endpoint is due (ms since the epoch). */
  nextSuspect(endpoint: string): { sequence: number; dueAt: number } | undefined {
    return this.#statements.suspects
      .all(endpoint, suspectsRead)
      .map((row) => ({ sequence: Number(row.sequence), dueAt: Number(row.due_at) }))
      .find(({ sequence }) => !this.#damaged.has(sequence));
  }

  /** Takes the first suspect of an endpoint, if one is due. */
  claimSuspect(
    endpoint: string,
    { claimant, onDamage }: { claimant: Claimant; onDamage: (error: unknown) => void },
  ): Claimed | undefined {
    const suspect = this.nextSuspect(endpoint);
    if (suspect === undefined || suspect.dueAt > claimant.now) return undefined;
    return this.#claimOne(endpoint, { sequence: suspect.sequence, claimant, onDamage });
  }

  #claimOne(
    endpoint: string,
    { sequence, claimant, onDamage }: { sequence: number; claimant: Claimant; onDamage: (error: unknown) => void },
  ): Claimed | undefined {
    const { owner, now } = claimant;
    try {
      // Read before: a write that meets a damaged page spoils the transaction.
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
   * Stores how an attempt ended. When another process has taken the delivery over meanwhile, a success counts all the
   * same unless the delivery has succeeded already; anything else is ignored. An ending may be stored twice: a commit to
   * a file that is gone is refused, although the ending is in the file that is restored.
   */
  end({ endpoint, id }: Claimed, { attempt, next }: Ending, { owner, now }: Claimant): EndingResult {
    const row = this.#statements.find.get(endpoint, id);
    const isOurs = row?.status === "running" && row.owner === owner && row.attempts === attempt.number;
    if (row === undefined) return "superseded";
    const sequence = Number(row.sequence);
    if (!isOurs && this.#hasAttempt(sequence, attempt)) return "stored";
    if (!isOurs && next.status !== "succeeded") return "superseded";
    this.#addAttempt(sequence, attempt);
    // What is to be replayed after the run of another process is left to that.
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

  /** Finds the deliveries of an endpoint that some process has taken. */
  running(endpoint: string, onDamage: (error: unknown) => void): RunningRows {
    const { running, runningSequences, row } = this.#statements;
    const unreadable = new Set<number>();
    try {
      return { rows: running.all(endpoint).map(toRunning), unreadable };
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamage(error);
    }
    const rows = runningSequences.all(endpoint).flatMap(({ sequence }) => {
      try {
        const found = row.get(Number(sequence));
        return found ? [toRunning(found)] : [];
      } catch {
        unreadable.add(Number(sequence));
        return [];
      }
    });
    return { rows, unreadable };
  }

  /** The sequence of a delivery, also of one on a damaged page: only an index is read. */
  sequenceOf({ endpoint, id }: DeliveryKey): number | undefined {
    const sequence = this.#statements.sequenceOf.get(endpoint, id)?.sequence;
    return sequence === undefined ? undefined : Number(sequence);
  }

  /** Puts a delivery back that this owner has taken and never ran. */
  release({ sequence }: RunningRow, { owner, now }: Claimant): void {
    this.#statements.release.run({ sequence, owner, now });
  }

  /** Shows others that an owner is alive. */
  beat({ owner, now }: Claimant): void {
    this.#statements.beat.run(owner, now);
  }

  /** How often each owner has shown that it is alive. */
  beats(): ReadonlyMap<string, number> {
    return new Map(this.#statements.owners.all().map(({ owner, beat }) => [String(owner), Number(beat)]));
  }

  /**
   * Records that an owner is gone, with the number of deliveries that it was running: the one that finds out first
   * counts them, before any is taken back. Returns the number; `undefined` when the owner has shown since that it is
   * alive.
   */
  noteDeath(
    owner: string,
    { beat }: { beat: number | undefined },
  ): { running: number; lastBeatAt: number } | undefined {
    const { owner: find, noteDeath, countRunning } = this.#statements;
    const found = find.get(owner);
    if (found?.beat !== beat) return undefined;
    const lastBeatAt = Number(found?.beat_at ?? 0);
    if (typeof found?.running_at_death === "number") return { running: found.running_at_death, lastBeatAt };
    const running = Number(countRunning.get(owner)?.running);
    noteDeath.run(owner, running);
    return { running, lastBeatAt };
  }

  /** Forgets an owner that runs nothing any more. */
  dropOwner(owner: string): void {
    this.#statements.dropOwner.run({ owner });
  }

  dropOwnersBefore(time: number): void {
    this.#statements.dropOldOwners.run(time);
  }

  /**
   * Takes a delivery back from an owner that is gone: it is a suspect, and waits before it runs alone. Returns
   * `undefined` when it is not with that owner any more.
   */
  takeBack(
    { sequence, owner }: RunningRow,
    { isAlone, policy, now, lastBeatAt }: { isAlone: boolean; policy: RetryPolicy; now: number; lastBeatAt: number },
  ): TakenBack | undefined {
    const row = this.#statements.row.get(sequence);
    if (row?.status !== "running" || row.owner !== owner) return undefined;
    const uncounted = Number(row.uncounted_crashes);
    const isCounted = isAlone || uncounted >= maxUncountedCrashes;
    const attempt = Number(row.attempts);
    const forgiven = row.again === 1 ? attempt : Number(row.forgiven) + (isCounted ? 0 : 1);
    const isDead = isCounted && attempt - forgiven >= policy.attempts;
    // The policy knows the waits between its attempts, and a delivery may crash more often.
    const crash = Math.min(Number(row.crashes) + 1, Math.max(1, policy.attempts - 1));
    this.#statements.takeBack.run({
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

  /** When the next delivery of an endpoint is due that is no suspect (ms since the epoch). */
  nextDueAt(endpoint: string): number | undefined {
    const dueAt = this.#statements.nextDue.get(endpoint)?.due_at;
    return typeof dueAt === "number" ? dueAt : undefined;
  }

  /** After the clock was set back, nothing may wait for the lost time: what was set in the future is set again. */
  correctClock(endpoint: string, now: number): void {
    for (const status of ["queued", "running"]) this.#statements.correctClock.run({ endpoint, status, now });
  }

  /** Puts a delivery back into the queue; one that is running, again after that. Returns whether it is there. */
  replay({ endpoint, id }: DeliveryKey, now: number): boolean {
    return this.#statements.replay.run({ now, endpoint, id }).changes > 0;
  }

  /** The sequence of the newest delivery. */
  lastSequence(): number {
    return Number(this.#statements.lastSequence.get()?.sequence ?? 0);
  }

  /**
   * Replays some of the dead deliveries of an endpoint, in the order of their sequences. Returns how many, and where to
   * go on; `undefined` after the last.
   */
  replayDeadStep(
    endpoint: string,
    { after, last, now }: { after: number; last: number; now: number },
  ): { count: number; next: number | undefined } {
    const until = performance.now() + replayStepMs;
    const found = this.#statements.dead.all(endpoint, after, last, maxReplayStep);
    let count = 0;
    for (const row of found) {
      const sequence = Number(row.sequence);
      count += Number(this.#statements.replayDead.run({ sequence, now }).changes);
      if (performance.now() >= until) return { count, next: sequence };
    }
    const lastFound = found.length === maxReplayStep ? found.at(-1) : undefined;
    return { count, next: lastFound && Number(lastFound.sequence) };
  }

  /** Stores for how long the finished deliveries of an endpoint are kept, for receivers that do not have it. */
  rememberEndpoint(endpoint: string, { bodiesMs, idsMs }: Retention): void {
    this.#statements.rememberEndpoint.run(endpoint, bodiesMs, idsMs);
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

function toRunning(row: Record<string, unknown>): RunningRow {
  return { sequence: Number(row.sequence), id: String(row.id), owner: String(row.owner) };
}

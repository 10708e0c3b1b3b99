import type { Logger } from "../../core/logger.ts";
import type { DeliveryKey } from "../inbox.ts";
import { abandonedError } from "../inbox.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable, RecoveredDelivery, RunningDelivery } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { QueueWorker } from "./queue-worker.ts";

/** The options of a {@link LeaseRecovery}. */
export interface LeaseRecoveryOptions {
  /** The ID of this process. */
  owner: string;
  /** By endpoint. */
  workers: ReadonlyMap<string, QueueWorker>;
  /** Belongs to the current file of the inbox. */
  table: () => DeliveryTable;
  commit: GroupCommit;
  damage: DamageTracker;
  leaseMs: number;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
}

interface WorkerDelivery extends RunningDelivery {
  worker: QueueWorker;
}

/** Recovers deliveries from processes that are gone. */
export class LeaseRecovery {
  readonly #options: LeaseRecoveryOptions;
  readonly #watch: OwnerWatch;

  constructor(options: LeaseRecoveryOptions) {
    this.#options = options;
    this.#watch = new OwnerWatch(options);
  }

  /** Checks the running deliveries of all processes. Call it regularly. */
  async poll(): Promise<void> {
    const { owner, workers } = this.#options;
    const running = [...workers.values()].flatMap((worker) => this.#findRunning(worker));
    const own = running.filter((found) => found.owner === owner);
    await this.#releaseUnknown(own.filter(({ id, worker }) => !worker.isRunning(id)));
    await this.#recoverFromGone(running.filter((found) => found.owner !== owner));
  }

  /** Finds the running deliveries of an endpoint, and aborts those whose lease this process has lost. */
  #findRunning(worker: QueueWorker): WorkerDelivery[] {
    const { owner, table, damage } = this.#options;
    const { endpoint } = worker.queue;
    const { rows, unreadable } = table().running(endpoint, (error) => damage.note(error, endpoint));
    const own = new Set(rows.filter((row) => row.owner === owner).map(({ id }) => id));
    worker.abortLost((id) => own.has(id) || this.#isUnreadable({ endpoint, id }, unreadable));
    return rows.map((row) => ({ ...row, worker }));
  }

  /** Whether a delivery is on a damaged page: no process can take over a delivery that it cannot read. */
  #isUnreadable(key: DeliveryKey, unreadable: ReadonlySet<number>): boolean {
    try {
      const sequence = this.#options.table().sequenceOf(key);
      return sequence !== undefined && unreadable.has(sequence);
    } catch (error) {
      if (!this.#options.damage.note(error, key.endpoint)) throw error;
      return true;
    }
  }

  /** A claim that failed since the file was deleted may be in the restored file: its deliveries never ran. */
  async #releaseUnknown(unknown: readonly WorkerDelivery[]): Promise<void> {
    if (unknown.length === 0) return;
    const { commit, table, owner, now } = this.#options;
    await commit.write(() => {
      for (const row of unknown) table().release(row, { owner, now: now() });
    });
  }

  async #recoverFromGone(running: readonly WorkerDelivery[]): Promise<void> {
    const beats = running.length === 0 ? new Map<string, number>() : this.#options.table().beats();
    const held = new Map(running.map(({ owner }): [string, number | undefined] => [owner, beats.get(owner)]));
    for (const gone of this.#watch.observe(held)) {
      try {
        await this.#recoverAll(
          running.filter(({ owner }) => owner === gone),
          { gone, beat: held.get(gone) },
        );
      } catch (error) {
        // If nothing can be written, other processes cannot send heartbeats either.
        this.#watch.reset();
        throw error;
      }
    }
  }

  async #recoverAll(
    rows: readonly WorkerDelivery[],
    { gone, beat }: { gone: string; beat: number | undefined },
  ): Promise<void> {
    const { commit, table } = this.#options;
    const death = await commit.write(() => table().markOwnerGone(gone, { beat }));
    if (!death) return;
    await Promise.all(rows.map((row) => this.#recoverOne(row, death)));
    await commit.write(() => table().dropOwner(gone));
  }

  async #recoverOne(
    row: WorkerDelivery,
    { running, lastBeatAt }: { running: number; lastBeatAt: number },
  ): Promise<void> {
    const { commit, table, now, damage } = this.#options;
    const { endpoint, policy } = row.worker.queue;
    try {
      const recovered = await commit.write(() =>
        table().recover(row, { isAlone: running === 1, policy, now: now(), lastBeatAt }),
      );
      if (recovered) this.#log(recovered);
    } catch (error) {
      if (!damage.note(error, endpoint)) throw error;
    }
  }

  #log({ endpoint, id: deliveryId, attempt, isCounted, isDead }: RecoveredDelivery): void {
    const { code, message } = abandonedError;
    const fields = { endpoint, deliveryId, attempt, code };
    const log = this.#options.log();
    if (isDead) log.error(fields, `${message} It has no attempts left and is dead. Replay it.`);
    else if (isCounted) log.warn(fields, `${message} It runs again, alone.`);
    else
      log.warn(
        fields,
        `${message} It runs again, alone. This attempt does not count, since other deliveries were running.`,
      );
  }
}

/** The last observed heartbeat of an owner. */
interface Observation {
  beat: number | undefined;
  unchangedMs: number;
}

/**
 * Detects owners that are gone: their number of heartbeats has not changed for the length of a lease, by the monotonic clock
 * of this process. It never compares the clocks of two processes.
 */
export class OwnerWatch {
  readonly #leaseMs: number;
  readonly #monotonicNow: () => number;
  readonly #observations = new Map<string, Observation>();
  #lastAt: number;

  constructor({ leaseMs, monotonicNow }: { leaseMs: number; monotonicNow: () => number }) {
    this.#leaseMs = leaseMs;
    this.#monotonicNow = monotonicNow;
    this.#lastAt = monotonicNow();
  }

  /** Observes the heartbeats of all owners with running deliveries; `undefined`: none yet. Returns the owners that are gone. */
  observe(beats: ReadonlyMap<string, number | undefined>): string[] {
    const now = this.#monotonicNow();
    // After the whole machine was suspended, the others need some time for a heartbeat.
    const elapsed = Math.min(now - this.#lastAt, this.#leaseMs / 3);
    this.#lastAt = now;
    for (const owner of this.#observations.keys()) if (!beats.has(owner)) this.#observations.delete(owner);
    return [...beats].flatMap(([owner, beat]) => {
      const seen = this.#observations.get(owner);
      const unchangedMs = seen?.beat === beat && seen !== undefined ? seen.unchangedMs + elapsed : 0;
      this.#observations.set(owner, { beat, unchangedMs });
      return unchangedMs >= this.#leaseMs ? [owner] : [];
    });
  }

  /** Starts again after a time in which no process could write a heartbeat. */
  reset(): void {
    this.#observations.clear();
  }
}

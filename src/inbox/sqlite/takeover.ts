import type { Logger } from "../../core/logger.ts";
import type { DeliveryKey } from "../inbox.ts";
import { abandonedError } from "../stored-delivery.ts";
import type { DamageLog } from "./damage-log.ts";
import type { DeliveryTable, RunningRow, TakenBack } from "./delivery-table.ts";
import type { GroupCommit } from "./group-commit.ts";
import { OwnerWatch } from "./owner-watch.ts";
import type { QueueWorker } from "./queue-worker.ts";

/** What a {@link Takeover} is made from. */
export interface TakeoverOptions {
  /** Names this process. */
  owner: string;
  /** By endpoint. */
  workers: ReadonlyMap<string, QueueWorker>;
  /** Belongs to the current file of the inbox. */
  table: () => DeliveryTable;
  commit: GroupCommit;
  damage: DamageLog;
  leaseMs: number;
  /** Milliseconds of a clock that is never set. */
  monotonicNow: () => number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
}

interface Found extends RunningRow {
  worker: QueueWorker;
}

/** Takes deliveries back from processes that are gone. */
export class Takeover {
  readonly #options: TakeoverOptions;
  readonly #watch: OwnerWatch;

  constructor(options: TakeoverOptions) {
    this.#options = options;
    this.#watch = new OwnerWatch(options);
  }

  /** Looks at what runs anywhere. Call it regularly. */
  async look(): Promise<void> {
    const { owner, workers } = this.#options;
    const running = [...workers.values()].flatMap((worker) => this.#lookAt(worker));
    const own = running.filter((found) => found.owner === owner);
    await this.#releaseUnknown(own.filter(({ id, worker }) => !worker.isRunning(id)));
    await this.#takeFromGone(running.filter((found) => found.owner !== owner));
  }

  /** Finds what runs of an endpoint anywhere, and aborts what this process has lost. */
  #lookAt(worker: QueueWorker): Found[] {
    const { owner, table, damage } = this.#options;
    const { endpoint } = worker.queue;
    const { rows, unreadable } = table().running(endpoint, (error) => damage.note(error, endpoint));
    const own = new Set(rows.filter((row) => row.owner === owner).map(({ id }) => id));
    worker.keepOnly((id) => own.has(id) || this.#isUnreadable({ endpoint, id }, unreadable));
    return rows.map((row) => ({ ...row, worker }));
  }

  /** Whether the owner of a delivery is unknown: no process can have taken over what it cannot read. */
  #isUnreadable(key: DeliveryKey, unreadable: ReadonlySet<number>): boolean {
    try {
      const sequence = this.#options.table().sequenceOf(key);
      return sequence !== undefined && unreadable.has(sequence);
    } catch (error) {
      if (!this.#options.damage.note(error, key.endpoint)) throw error;
      return true;
    }
  }

  /** What was taken, although the caller got an error since the file was gone, was never run. */
  async #releaseUnknown(unknown: readonly Found[]): Promise<void> {
    if (unknown.length === 0) return;
    const { commit, table, owner, now } = this.#options;
    await commit.write(() => {
      for (const row of unknown) table().release(row, { owner, now: now() });
    });
  }

  async #takeFromGone(running: readonly Found[]): Promise<void> {
    const beats = running.length === 0 ? new Map<string, number>() : this.#options.table().beats();
    const held = new Map(running.map(({ owner }): [string, number | undefined] => [owner, beats.get(owner)]));
    for (const gone of this.#watch.observe(held)) {
      try {
        await this.#takeAll(
          running.filter(({ owner }) => owner === gone),
          { gone, beat: held.get(gone) },
        );
      } catch (error) {
        // Where nothing can be written, no process can show that it is alive either.
        this.#watch.reset();
        throw error;
      }
    }
  }

  async #takeAll(rows: readonly Found[], { gone, beat }: { gone: string; beat: number | undefined }): Promise<void> {
    const { commit, table } = this.#options;
    const death = await commit.write(() => table().noteDeath(gone, { beat }));
    if (!death) return;
    await Promise.all(rows.map((row) => this.#takeOne(row, death)));
    await commit.write(() => table().dropOwner(gone));
  }

  async #takeOne(row: Found, { running, lastBeatAt }: { running: number; lastBeatAt: number }): Promise<void> {
    const { commit, table, now, damage } = this.#options;
    const { endpoint, policy } = row.worker.queue;
    try {
      const taken = await commit.write(() =>
        table().takeBack(row, { isAlone: running === 1, policy, now: now(), lastBeatAt }),
      );
      if (taken) this.#log(taken);
    } catch (error) {
      if (!damage.note(error, endpoint)) throw error;
    }
  }

  #log({ endpoint, id: deliveryId, attempt, isCounted, isDead }: TakenBack): void {
    const { code, message } = abandonedError;
    const fields = { endpoint, deliveryId, attempt, code };
    const log = this.#options.log();
    if (isDead) log.error(fields, `${message} Its attempts are used up: it is dead. Replay it.`);
    else if (isCounted) log.warn(fields, `${message} It runs again, alone.`);
    else log.warn(fields, `${message} It runs again, alone. Others ran beside it, so this attempt does not count.`);
  }
}

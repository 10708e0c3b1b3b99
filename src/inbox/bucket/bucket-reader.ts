import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { noInbox } from "../errors.ts";
import { maxSearchMs, readFilter } from "../filter.ts";
import type {
  Cursors,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  Inbox,
  InboxProblem,
  ListOptions,
  StoredDelivery,
} from "../inbox.ts";
import { DeliveryTable } from "../sqlite/delivery-table.ts";
import { LogReplay } from "./log-replay.ts";
import type { ObjectStore } from "./object-store.ts";
import { restoreFile } from "./snapshot-schedule.ts";
import { restoreSnapshot } from "./snapshots.ts";
import { createWorkingFolder, WorkingDatabase } from "./working-database.ts";

const refreshMs = 1_000;

export interface BucketReaderOptions {
  store: ObjectStore;
  log: Logger;
  /** Milliseconds of a monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
}

interface InboxCopy {
  replay: LogReplay;
  table: DeliveryTable;
  remove: () => void;
}

/** Reads an inbox in a bucket that another process can own. Never writes to the bucket. */
export class BucketReader implements Inbox {
  readonly #options: Required<BucketReaderOptions>;
  #copy: InboxCopy;
  #refreshedAt: number;
  #refreshing: Promise<void> | undefined;

  private constructor(options: Required<BucketReaderOptions>, copy: InboxCopy) {
    this.#options = options;
    this.#copy = copy;
    this.#refreshedAt = options.monotonicNow();
  }

  /** Copies an inbox from its bucket. @throws `INBOX_UNUSABLE` if the bucket contains no inbox, `ObjectStoreError`. */
  static async open(options: BucketReaderOptions): Promise<BucketReader> {
    const complete = { monotonicNow: () => performance.now(), ...options };
    return new BucketReader(complete, await copyInbox(complete));
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const filter = readFilter(options);
    const { reader } = await this.#refreshed();
    return filter ? reader.page(reader.find({ filter, options, maxMs: maxSearchMs })) : reader.list(options);
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return (await this.#refreshed()).reader.get(key);
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return (await this.#refreshed()).reader.counts();
  }

  readonly cursors: Cursors = {
    get: async (endpoint, key) => (await this.#refreshed()).cursors.get(endpoint, key),
    list: async (endpoint) => (await this.#refreshed()).cursors.list(endpoint),
    set: () => this.#reject(),
    claim: () => this.#reject(),
  };

  async pausedEndpoints(): Promise<readonly string[]> {
    return (await this.#refreshed()).pausedEndpoints();
  }

  async problems(): Promise<readonly InboxProblem[]> {
    return [];
  }

  readonly #throw = (): never => {
    const { name } = this.#options.store;
    throw new WebhookError(`The inbox ${name} was opened only for reading.`, { code: "INBOX_UNAVAILABLE" });
  };
  readonly #reject = async (): Promise<never> => this.#throw();
  readonly startWorker = this.#throw;
  readonly accept = this.#reject;
  readonly replay = this.#reject;
  readonly replayDead = this.#reject;
  readonly discard = this.#reject;
  readonly pause = this.#reject;
  readonly resume = this.#reject;
  readonly prune = this.#reject;

  async close(): Promise<{ interrupted: number }> {
    await this.#refreshing?.catch(() => {});
    this.#copy.remove();
    return { interrupted: 0 };
  }

  async #refreshed(): Promise<DeliveryTable> {
    if (this.#options.monotonicNow() - this.#refreshedAt >= refreshMs) {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = undefined;
      });
      await this.#refreshing;
    }
    return this.#copy.table;
  }

  async #refresh(): Promise<void> {
    if (!(await this.#copy.replay.catchUp())) {
      const outdated = this.#copy;
      this.#copy = await copyInbox(this.#options);
      outdated.remove();
    }
    this.#refreshedAt = this.#options.monotonicNow();
  }
}

async function copyInbox(options: BucketReaderOptions): Promise<InboxCopy> {
  const { store, log } = options;
  const folder = createWorkingFolder();
  let working: WorkingDatabase | undefined;
  const remove = () => {
    working?.close();
    folder[Symbol.dispose]();
  };
  try {
    const snapshot = await restoreSnapshot({ store, target: restoreFile(folder.file), log });
    working = new WorkingDatabase(folder.file, store.name);
    const replay = new LogReplay({ store, target: working, snapshot, log, isReadOnly: true });
    const isCurrent = await replay.catchUp();
    if (isCurrent && replay.next > 1) {
      working.prepareToRead();
      return { replay, table: new DeliveryTable(working.database), remove };
    }
    if (isCurrent) throw noInbox(`at ${store.name}`);
  } catch (error) {
    remove();
    throw error;
  }
  remove();
  return copyInbox(options);
}

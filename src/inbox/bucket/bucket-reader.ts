import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { readFilter } from "../delivery-filter.ts";
import type {
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
import { restoreSnapshot } from "./snapshots.ts";
import { createWorkingFolder, type WorkingFolder } from "./working-folder.ts";

/** The minimum time between two reads of new records, in milliseconds. */
const refreshMs = 1_000;

export interface BucketReaderOptions {
  store: ObjectStore;
  log: Logger;
  /** Milliseconds of a monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
}

/** A copy of the inbox, and the records that were applied to it. */
interface InboxCopy {
  folder: WorkingFolder;
  replay: LogReplay;
  table: DeliveryTable;
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
    const { reader, search } = await this.#refreshed();
    // An index would take longer than the searches of a short-lived reader.
    return filter ? search.list(filter, options, undefined) : reader.list(options);
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return (await this.#refreshed()).reader.get(key);
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return (await this.#refreshed()).reader.counts();
  }

  async pausedEndpoints(): Promise<readonly string[]> {
    return (await this.#refreshed()).pauses.list();
  }

  async problems(): Promise<readonly InboxProblem[]> {
    return [];
  }

  async accept(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  startWorker(): never {
    throw readOnly(this.#options.store);
  }

  async replay(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async replayDead(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async discard(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async pause(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async resume(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async prune(): Promise<never> {
    throw readOnly(this.#options.store);
  }

  async close(): Promise<{ interrupted: number }> {
    await this.#refreshing?.catch(() => {});
    removeCopy(this.#copy);
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
    const { replay } = this.#copy;
    await replay.catchUp();
    // The owner deletes records after two snapshots. A reader that has not read them starts again with a snapshot.
    if (replay.newGaps.length > 0) {
      const outdated = this.#copy;
      this.#copy = await copyInbox(this.#options);
      removeCopy(outdated);
    }
    this.#refreshedAt = this.#options.monotonicNow();
  }
}

async function copyInbox({ store, log }: BucketReaderOptions): Promise<InboxCopy> {
  const folder = createWorkingFolder();
  try {
    await restoreSnapshot({ store, file: folder.file, log });
    const replay = new LogReplay({ store, file: folder.file, log, isReadOnly: true });
    await replay.catchUp();
    if (replay.next === 1) {
      throw new WebhookError(
        `There is no inbox at ${store.name}. Set INBOX_URL to the inbox of the server. The server creates the inbox when it first starts.`,
        { code: "INBOX_UNUSABLE" },
      );
    }
    replay.prepareToRead();
    return { folder, replay, table: new DeliveryTable(replay.database) };
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

function removeCopy({ folder, replay }: InboxCopy): void {
  replay.database.close();
  folder[Symbol.dispose]();
}

function readOnly({ name }: ObjectStore): WebhookError {
  return new WebhookError(`The inbox ${name} was opened only for reading.`, { code: "INBOX_UNAVAILABLE" });
}

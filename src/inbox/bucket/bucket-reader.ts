import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { noInbox } from "../errors.ts";
import { maxSearchMs, readFilter } from "../filter.ts";
import type { Inbox } from "../inbox.ts";
import { DeliveryTable } from "../sqlite/delivery-table.ts";
import { LogReplay } from "./log-replay.ts";
import type { ObjectStore } from "./object-store.ts";
import { restoreFile } from "./snapshot-schedule.ts";
import { restoreSnapshot } from "./snapshots.ts";
import { createWorkingFolder, WorkingDatabase } from "./working-database.ts";

const refreshMs = 1_000;

interface BucketReaderOptions {
  store: ObjectStore;
  log: Logger;
  monotonicNow?: () => number;
}

interface InboxCopy {
  replay: LogReplay;
  table: DeliveryTable;
  remove: () => void;
}

/**
 * Reads an inbox in a bucket that another process can own. Never writes to the bucket.
 *
 * @throws `INBOX_UNUSABLE` if the bucket contains no inbox, `ObjectStoreError`.
 */
export async function openBucketReader(options: BucketReaderOptions): Promise<Inbox> {
  const { store, monotonicNow = () => performance.now() } = options;
  let copy = await copyInbox(options);
  let refreshedAt = monotonicNow();
  let refreshing: Promise<void> | undefined;

  async function refreshed(): Promise<DeliveryTable> {
    if (monotonicNow() - refreshedAt >= refreshMs) {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    }
    return copy.table;
  }

  async function refresh(): Promise<void> {
    if (!(await copy.replay.catchUp())) {
      const outdated = copy;
      copy = await copyInbox(options);
      outdated.remove();
    }
    refreshedAt = monotonicNow();
  }

  const refuse = (): never => {
    throw new WebhookError(`The inbox ${store.name} was opened only for reading.`, { code: "INBOX_UNAVAILABLE" });
  };
  const reject = async (): Promise<never> => refuse();
  return {
    async list(options = {}) {
      const filter = readFilter(options);
      const { reader } = await refreshed();
      return filter ? reader.page(reader.find({ filter, options, maxMs: maxSearchMs })) : reader.list(options);
    },
    get: async (key) => (await refreshed()).get(key),
    counts: async () => (await refreshed()).reader.counts(),
    pausedEndpoints: async () => (await refreshed()).pausedEndpoints(),
    cursors: {
      get: async (endpoint, key) => (await refreshed()).cursors.get(endpoint, key),
      list: async (endpoint) => (await refreshed()).cursors.list(endpoint),
      set: reject,
      claim: reject,
    },
    problems: async () => [],
    startWorker: refuse,
    accept: reject,
    replay: reject,
    replayDead: reject,
    discard: reject,
    pause: reject,
    resume: reject,
    prune: reject,
    async close() {
      await refreshing?.catch(() => {});
      copy.remove();
      return { interrupted: 0 };
    },
  };
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

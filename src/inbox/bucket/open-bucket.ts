import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Inbox } from "../inbox.ts";
import { SqliteInbox, type SqliteInboxOptions } from "../sqlite/sqlite-inbox.ts";
import { BucketInbox, type BucketInboxOptions, type Opening, type OwnedInbox } from "./bucket-inbox.ts";
import { openBucketReader } from "./bucket-reader.ts";
import { parseBucketUrl, type ReadVariable, readBucketCredentials } from "./bucket-url.ts";
import { waitWithTimer } from "./log.ts";
import { type LogPrefetch, LogReplay, prefetchLog } from "./log-replay.ts";
import { accessHint, checkObjectStore, type ObjectStore, ObjectStoreError } from "./object-store.ts";
import { describeProcess, type OwnerHeartbeat } from "./ownership.ts";
import { openS3ObjectStore } from "./s3.ts";
import { restoreFile, scheduleSnapshots } from "./snapshot-schedule.ts";
import { restoreSnapshot } from "./snapshots.ts";
import { checkOwner, takeOverLog } from "./take-over.ts";
import { addGaps, createChangeLog, createWorkingFolder, WorkingDatabase } from "./working-database.ts";

type Clock = Pick<BucketInboxOptions, "monotonicNow" | "wait">;

export interface OpenBucketInboxOptions
  extends Pick<SqliteInboxOptions, "pollMs" | "maxQueued">,
    Omit<BucketInboxOptions, keyof Clock>,
    Partial<Clock> {
  spaceId: string | undefined;
  takeOver: boolean;
  /** Checks the store before its first use. `isFree` resolves if no other process owns the inbox. */
  checkStore?: (isFree: Promise<unknown>) => Promise<void>;
  minSnapshotRecords?: number;
  heartbeatMs?: number;
  parentFolder?: string;
}

/** How long the last records may take when the inbox closes. */
const maxReleaseMs = 5_000;

/** Opens an inbox in a bucket, or rejects after the first failure. @throws `INBOX_IN_USE`, `INBOX_UNUSABLE`, `ObjectStoreError`. */
export async function openBucketInbox(options: OpenBucketInboxOptions): Promise<BucketInbox> {
  const inbox = startBucketInbox({ canRetry: () => false, ...options });
  await inbox.opened;
  return inbox;
}

export function startBucketInbox(options: OpenBucketInboxOptions): BucketInbox {
  let hasChecked = false;
  const checkStore = async (isFree: Promise<unknown>) => {
    if (!hasChecked) await options.checkStore?.(isFree);
    hasChecked = true;
  };
  const complete = { monotonicNow: () => performance.now(), wait: waitWithTimer, ...options, checkStore };
  return new BucketInbox(complete, (opening) => openOwnedInbox({ ...complete, ...opening }));
}

/** Builds the working file from the newest snapshot and the records since then, takes over the log, and starts the heartbeats. */
async function openOwnedInbox(
  options: OpenBucketInboxOptions & BucketInboxOptions & Opening & Required<Pick<OpenBucketInboxOptions, "checkStore">>,
): Promise<OwnedInbox> {
  const { store, spaceId, log, now, monotonicNow, parentFolder, isFirst, writerId, signal, onOwned, ...rest } = options;
  const owner = describeProcess(spaceId, now());
  const fenced = Promise.withResolvers<string>();
  const taking = {
    ...options,
    owner,
    rules: { isForced: isFirst && options.takeOver, mayReplace: isFirst },
    onTakenOver: (by: string) => {
      // The new owner runs these deliveries again.
      opened?.abortRuns();
      void heartbeat?.stop();
      fenced.resolve(by);
    },
  };
  const checking = checkOwner(taking).then((heartbeats) => ({ heartbeats, at: monotonicNow() }));
  const prepared = checking.then(() => createWorkingFolder(parentFolder));
  // After another process has taken over the inbox, this check is repeated for a long time.
  if (!isFirst) await prepared;
  // The error is thrown before the takeover.
  const storeChecked = options.checkStore(prepared);
  const target = prepared.then(({ file }) => restoreFile(file));
  let prefetch: LogPrefetch | undefined;
  const onChosen = (after: number) => {
    if (!signal.aborted) prefetch = prefetchLog(store, { after, allowed: target, signal });
  };
  const restoring = restoreSnapshot({ store, target, log, onChosen });
  // The error of the check is more important.
  for (const pending of [storeChecked, target, restoring]) pending.catch(() => {});
  const folder = await prepared;
  const { file } = folder;
  let working: WorkingDatabase | undefined;
  let opened: SqliteInbox | undefined;
  let heartbeat: OwnerHeartbeat | undefined;
  const remove = () => {
    working?.close();
    folder[Symbol.dispose]();
  };
  try {
    const snapshot = await restoring;
    signal.throwIfAborted();
    working = new WorkingDatabase(file, store.name);
    const replay = new LogReplay({ store, target: working, snapshot, log, prefetch });
    const taken = await takeOverLog({ ...taking, replay, storeChecked, recent: await checking });
    if (taken === undefined) {
      remove();
      log.warn({}, "The log of the inbox has changed while it was read. The inbox is restored again.");
      return openOwnedInbox(options);
    }
    onOwned();
    const { writer, gate, earlier } = taken;
    heartbeat = taken.heartbeat;
    working.finish();
    const { database } = working;
    const { newGaps } = replay;
    const snapshots = scheduleSnapshots({
      store,
      file,
      log,
      monotonicNow,
      records: replay.next - snapshot.number,
      snapshotBytes: snapshot.bytes,
      minRecords: options.minSnapshotRecords,
    });
    const changes = createChangeLog(database, writer, {
      fences: [...replay.fences, writer.next - 1],
      onRecord: (bytes) => snapshots.countRecord(bytes),
    });
    if (newGaps.length > 0) {
      log.error(
        { code: "INBOX_DAMAGED", gaps: newGaps },
        "Some records of the inbox are missing or unreadable, so deliveries can be missing. New deliveries are stored. To restore what is readable, run: npx hub-webhooks deliveries repair",
      );
      database.exec("BEGIN IMMEDIATE");
      changes.begin();
      addGaps(database, newGaps, now());
      await changes.store("gap");
      database.exec("COMMIT");
      changes.end("committed");
      // With a snapshot, the next start does not find the gaps again.
      snapshots.start();
    }
    const inbox = new SqliteInbox({ ...rest, log, now, file, monotonicNow, logged: { database, changes } });
    opened = inbox;
    heartbeat.start(earlier);
    void gate.watch();
    return {
      inbox,
      database,
      writer,
      gate,
      fenced: fenced.promise,
      close: async (graceMs) => {
        const stopped = snapshots.close();
        const stop = () => {
          gate.close();
          writer.close();
        };
        // If the bucket does not store the last results in time, they are lost, and their deliveries run again.
        const timer = setTimeout(stop, graceMs + maxReleaseMs);
        const result = await inbox.close(graceMs);
        clearTimeout(timer);
        stop();
        await taken.heartbeat.stop();
        await stopped;
        remove();
        return result;
      },
    };
  } catch (error) {
    await heartbeat?.stop();
    remove();
    throw error;
  }
}

/** How long commands wait for an unavailable bucket. */
const maxOpenMs = 120_000;
/** A server starts to listen after this time, although its inbox is not open yet. */
const maxStartMs = 10_000;

export interface OpenBucketOptions
  extends Pick<
    OpenBucketInboxOptions,
    "log" | "now" | "onFailure" | "maxWaitMs" | "minSnapshotRecords" | "pollMs" | "heartbeatMs"
  > {
  url: string;
  takeOver?: boolean;
  readVariable?: ReadVariable;
  signal?: AbortSignal;
  mustExist: boolean;
}

/**
 * Opens the inbox at an `hf://` or `s3://` URL, and takes it over. While the bucket is unavailable, retries for 2 minutes. With
 * `onFailure`, the inbox can be returned before it is open, and is opened in the background without a limit.
 *
 * @throws `OPTION_INVALID`, `INBOX_IN_USE`, `INBOX_UNUSABLE`, `AbortError`.
 */
export async function openBucket({
  url,
  readVariable = readEnvironment,
  takeOver = readVariable("INBOX_TAKE_OVER") === "1",
  mustExist,
  signal = new AbortController().signal,
  ...options
}: OpenBucketOptions): Promise<BucketInbox> {
  const store = await openStore(url, readVariable);
  const giveUpAt = performance.now() + maxOpenMs;
  const isTemporary = (error: unknown) =>
    error instanceof ObjectStoreError && !error.isRefused && performance.now() < giveUpAt;
  // Until then, a failure rejects the promise of this function instead.
  const returned = Promise.withResolvers<void>();
  const inbox = startBucketInbox({
    ...options,
    onFailure: (error) => void returned.promise.then(() => options.onFailure?.(error)),
    store,
    spaceId: readVariable("SPACE_ID"),
    takeOver,
    checkStore: async (isFree) => {
      if (mustExist) {
        await isFree;
        await (await openBucketReader({ store, log: options.log })).close(0);
      }
      await checkObjectStore(store);
    },
    ...(options.onFailure === undefined && { canRetry: isTemporary }),
  });
  const isOpen = options.onFailure === undefined ? inbox.opened : inbox.settled(maxStartMs);
  const stop = () => void inbox.close(0);
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    await isOpen;
    signal.throwIfAborted();
    returned.resolve();
    return inbox;
  } catch (error) {
    await inbox.close(0);
    signal.throwIfAborted();
    throw explain(error, store);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Opens an inbox for reading. Its owner is not affected. @throws `OPTION_INVALID`, `INBOX_UNUSABLE`. */
export async function openBucketForReading({
  url,
  log,
  readVariable = readEnvironment,
}: Pick<OpenBucketOptions, "url" | "log" | "readVariable">): Promise<Inbox> {
  const store = await openStore(url, readVariable);
  try {
    return await openBucketReader({ store, log });
  } catch (error) {
    throw explain(error, store);
  }
}

function openStore(url: string, readVariable: ReadVariable): Promise<ObjectStore> {
  const location = parseBucketUrl(url, readVariable);
  return openS3ObjectStore({ location, credentials: readBucketCredentials(location.name, readVariable) });
}

function explain(error: unknown, { name }: ObjectStore): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  const message = `The inbox ${name} cannot be opened: ${error.message} ${accessHint}`;
  return new WebhookError(message, { code: "INBOX_UNUSABLE", cause: error });
}

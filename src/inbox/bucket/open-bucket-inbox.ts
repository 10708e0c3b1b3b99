import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { schemaVersion } from "../sqlite/migrations.ts";
import { SqliteInbox } from "../sqlite/sqlite-inbox.ts";
import type { SqliteInboxOptions } from "../sqlite/sqlite-inbox-options.ts";
import { BucketChangeLog } from "./bucket-change-log.ts";
import { BucketInbox, type BucketInboxOptions } from "./bucket-inbox.ts";
import { addGaps, readOpenGaps } from "./gaps.ts";
import type { Owner } from "./log-record.ts";
import { LogReplay } from "./log-replay.ts";
import { LogWriter } from "./log-writer.ts";
import type { ObjectStore } from "./object-store.ts";
import { checkTakeover, describeProcess, type Heartbeat, OwnerHeartbeat, readHeartbeats } from "./ownership.ts";
import { repairGaps } from "./repair.ts";
import { SnapshotSchedule } from "./snapshot-schedule.ts";
import { restoreSnapshot } from "./snapshots.ts";
import { createWorkingFolder } from "./working-folder.ts";

export interface OpenBucketInboxOptions
  extends Pick<SqliteInboxOptions, "pollMs" | "maxQueued" | "monotonicNow">,
    Pick<BucketInboxOptions, "maxWaitMs" | "maxWaitingBytes"> {
  store: ObjectStore;
  /** The Space in which this process runs, such as `me/receiver`. */
  spaceId: string | undefined;
  /** Whether to take over the inbox although its owner still runs. */
  takeOver: boolean;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** See `SnapshotScheduleOptions.minRecords`. */
  minSnapshotRecords?: number;
  /** The folder in which the folder of the working file is created. Default: the folder for temporary files. */
  parentFolder?: string;
}

/**
 * Opens an inbox in a bucket: builds the working file from the newest snapshot and the records since then, takes over the log, and
 * starts to send heartbeats.
 *
 * @throws `INBOX_IN_USE` if another process owns the inbox, `INBOX_UNUSABLE` if a newer release has written the inbox, and
 *   `ObjectStoreError` if the bucket cannot be read or written.
 */
export async function openBucketInbox(options: OpenBucketInboxOptions): Promise<BucketInbox> {
  const { store, spaceId, log, now, monotonicNow = () => performance.now(), parentFolder } = options;
  const { minSnapshotRecords, ...rest } = options;
  const { file, [Symbol.dispose]: removeFile } = createWorkingFolder(parentFolder);
  let replay: LogReplay | undefined;
  let opened: SqliteInbox | undefined;
  let heartbeat: OwnerHeartbeat | undefined;
  try {
    const snapshot = await restoreSnapshot({ store, file, log });
    replay = new LogReplay({ store, file, log });
    const owner = describeProcess({ spaceId, now: now() });
    const taken = await takeOver({
      ...options,
      replay,
      owner,
      monotonicNow,
      // The new owner runs these deliveries again.
      onTakenOver: () => opened?.abortRuns(),
    });
    if (taken === undefined) {
      replay.database.close();
      removeFile();
      return openBucketInbox(options);
    }
    const { writer, earlier } = taken;
    heartbeat = taken.heartbeat;
    replay.finish();
    const { database, newGaps } = replay;
    const snapshots = new SnapshotSchedule({
      store,
      file,
      log,
      monotonicNow,
      records: replay.next - (snapshot?.number ?? 0),
      snapshotBytes: snapshot?.bytes ?? 0,
      ...(minSnapshotRecords !== undefined && { minRecords: minSnapshotRecords }),
    });
    const changes = new BucketChangeLog({
      database,
      writer,
      fences: [...replay.fences, writer.next - 1],
      onRecord: (bytes) => snapshots.countRecord(bytes),
    });
    if (newGaps.length > 0) {
      log.error(
        { code: "INBOX_DAMAGED", gaps: newGaps },
        "Some records of the inbox are missing or unreadable, so deliveries can be missing. New deliveries are stored. To restore what is readable, run: npx hub-webhooks deliveries repair",
      );
      database.exec("BEGIN IMMEDIATE");
      changes.begin(database);
      addGaps(database, newGaps, now());
      await changes.store("gap");
      database.exec("COMMIT");
      changes.end("committed");
      // With a snapshot, the next start does not find the gaps again.
      snapshots.start();
    }
    const inbox = new SqliteInbox({ ...rest, file, monotonicNow, logged: { database, changes } });
    opened = inbox;
    heartbeat.start(earlier);
    return new BucketInbox({
      ...rest,
      name: store.name,
      inbox,
      writer,
      heartbeat,
      snapshots,
      readOpenGaps: () => readOpenGaps(database),
      repair: () => repairGaps({ store, database, inbox, now }),
      removeFile,
    });
  } catch (error) {
    await heartbeat?.stop();
    replay?.database.close();
    removeFile();
    throw error;
  }
}

/**
 * Reads the log to its end and appends a record that fences the previous owner. Returns `undefined` if the working file is outdated.
 */
async function takeOver({
  store,
  replay,
  owner,
  log,
  monotonicNow,
  onTakenOver,
  takeOver: isForced,
}: OpenBucketInboxOptions & {
  replay: LogReplay;
  owner: Owner;
  monotonicNow: () => number;
  onTakenOver: () => void;
}): Promise<
  | {
      writer: LogWriter;
      heartbeat: OwnerHeartbeat;
      earlier: Heartbeat[];
    }
  | undefined
> {
  for (;;) {
    const earlier = await readHeartbeats(store);
    if (!isForced) checkTakeover(earlier, { name: store.name, self: owner });
    await replay.catchUp(Math.max(0, ...earlier.map(({ position }) => position)));
    const writer = new LogWriter({
      store,
      writerId: crypto.randomUUID(),
      next: replay.next,
      log,
      monotonicNow,
      onTakenOver,
    });
    const heartbeat = new OwnerHeartbeat({ store, writer, owner, log, monotonicNow });
    // The heartbeat precedes the record, so that another process that starts now finds an owner.
    await heartbeat.send();
    try {
      if (await writer.takeOver({ owner, schemaVersion })) return { writer, heartbeat, earlier };
      await heartbeat.stop();
      return undefined;
    } catch (error) {
      await heartbeat.stop();
      // Another process has appended a record in the meantime. It can be the new owner.
      if (!WebhookError.isInstance(error) || error.code !== "INBOX_TAKEN_OVER") throw error;
    }
  }
}

/** The thread beside an inbox, started by `inbox-thread.ts`. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { BlockedLoop } from "../blocked-loop.ts";
import type { InboxThreadData } from "./inbox-thread.ts";

/** How often the size of the log is read, in milliseconds. */
const checkpointMs = 250;
/**
 * From which size on the log is copied into the file: often enough that no commit of the event loop does it (at 40 MiB),
 * and no more often, since each copy writes the pages of the indexes again.
 */
const minLogBytes = 16 * 2 ** 20;
/** The same for a copy that is requested. */
const minRequestedBytes = 2 * 2 ** 20;

const { file, owner, beatMs, maxBlockedMs, loopBeat, shared }: InboxThreadData = workerData;

const url = pathToFileURL(file);
// Makes no file where there is none.
url.searchParams.set("mode", "rw");
const database = new DatabaseSync(url, { timeout: 2_000 });
// A beat need not outlive a power cut. The event loop syncs what has to.
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
const beat = database.prepare(`
  INSERT INTO owners (owner, beat, beat_at) VALUES (?, 1, ?)
  ON CONFLICT DO UPDATE SET beat = beat + 1, beat_at = excluded.beat_at, running_at_death = NULL
`);
const loop = new BlockedLoop(loopBeat);
let checkpointedAt = 0;

/** Tries something that is tried again soon: the file may be locked or the disk full, for the event loop as well. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The event loop logs it when it cannot write.
  }
}

function showAlive(): void {
  const isHung = loop.blockedMs() > maxBlockedMs;
  if (Atomics.load(shared, 0) > 0 && !isHung) attempt(() => beat.run(owner, Date.now()));
}

/** Left to a commit, this would block the event loop for as long as it takes to copy 40 MB. */
function checkpoint(minBytes: number): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!log || log.size < minBytes || log.mtimeMs === checkpointedAt) return;
  checkpointedAt = log.mtimeMs;
  attempt(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

showAlive();
Atomics.store(shared, 1, 1);
setInterval(showAlive, beatMs);
setInterval(() => checkpoint(minLogBytes), checkpointMs);
parentPort?.on("message", () => {
  checkpoint(minRequestedBytes);
  parentPort?.postMessage("copied");
});

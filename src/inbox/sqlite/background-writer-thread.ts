/** The thread of an inbox, started by `background-writer.ts`. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { LoopMonitor } from "../loop-monitor.ts";
import type { BackgroundWriterData } from "./background-writer.ts";

/** How often the size of the log is read, in milliseconds. */
const checkpointMs = 250;
/**
 * The size from which the log is copied into the file: smaller than 40 MiB, at which a commit of the event loop copies it, but
 * not by much, since each copy writes the pages of the indexes again.
 */
const minLogBytes = 16 * 2 ** 20;
/** The same for a requested copy. */
const minRequestedBytes = 2 * 2 ** 20;

const { file, owner, beatMs, maxBlockedMs, loopBeat, shared }: BackgroundWriterData = workerData;

const url = pathToFileURL(file);
// Does not create a missing file.
url.searchParams.set("mode", "rw");
const database = new DatabaseSync(url, { timeout: 2_000 });
// Heartbeats need not survive a power failure.
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
const beat = database.prepare(`
  INSERT INTO owners (owner, beat, beat_at) VALUES (?, 1, ?)
  ON CONFLICT DO UPDATE SET beat = beat + 1, beat_at = excluded.beat_at, running_at_death = NULL
`);
const loop = new LoopMonitor(loopBeat);
let checkpointedAt = 0;

/** Ignores errors: the file may be locked or the disk full, and the next interval tries again. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The event loop logs its own failed writes.
  }
}

function sendHeartbeat(): void {
  const isHung = loop.blockedMs() > maxBlockedMs;
  if (Atomics.load(shared, 0) > 0 && !isHung) attempt(() => beat.run(owner, Date.now()));
}

/** In a commit, copying 40 MB would block the event loop. */
function checkpoint(minBytes: number): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!log || log.size < minBytes || log.mtimeMs === checkpointedAt) return;
  checkpointedAt = log.mtimeMs;
  attempt(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

sendHeartbeat();
Atomics.store(shared, 1, 1);
setInterval(sendHeartbeat, beatMs);
setInterval(() => checkpoint(minLogBytes), checkpointMs);
parentPort?.on("message", () => {
  checkpoint(minRequestedBytes);
  parentPort?.postMessage("copied");
});

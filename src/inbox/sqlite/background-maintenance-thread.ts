/** The thread of a `BackgroundMaintenance`. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { LoopMonitor } from "../loop-monitor.ts";
import type { BackgroundMaintenanceData, MaintenanceAnswer, MaintenanceRequest } from "./background-maintenance.ts";
import { isFromNewerRelease } from "./database.ts";
import type { SearchRequest } from "./delivery-reader.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { heartbeatSql } from "./statements.ts";

/** The interval between checks of the size of the WAL. */
const sizeCheckMs = 250;
/**
 * The minimum size of a WAL that this thread checkpoints, in bytes. At 40 MiB, a commit on the event loop would
 * checkpoint the WAL. With a smaller minimum, the thread would write index pages more often.
 */
const minWalBytes = 16 * 2 ** 20;

const { file, isPrivate, processId, heartbeatMs, maxBlockedMs, loopCounter, shared }: BackgroundMaintenanceData =
  workerData;

const url = pathToFileURL(file);
// This mode does not create a missing file.
url.searchParams.set("mode", "rw");
const database = new DatabaseSync(url, { timeout: 2_000 });
// Commits are not synced, because heartbeats do not need to survive a power failure.
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
const heartbeat = database.prepare(heartbeatSql);
const loop = new LoopMonitor(loopCounter);
let checkpointedAt = 0;

/** Ignores errors, such as a locked file or a full disk, because the action is retried at the next interval. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // No log line is needed, because the event loop logs its own failed writes.
  }
}

function sendHeartbeat(): void {
  const isHung = loop.blockedMs() > maxBlockedMs;
  if (Atomics.load(shared, 0) === 0 || isHung) return;
  attempt(() => {
    database.exec("BEGIN IMMEDIATE");
    try {
      if (!isFromNewerRelease(database)) heartbeat.run(processId, Date.now());
    } finally {
      database.exec("COMMIT");
    }
  });
}

/**
 * Checkpoints the WAL if it has changed and has at least `minBytes` bytes. Without this thread, a commit on the event
 * loop would checkpoint a WAL of 40 MiB and block the event loop.
 */
function checkpoint(minBytes: number): void {
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!wal || wal.size < minBytes || wal.mtimeMs === checkpointedAt) return;
  checkpointedAt = wal.mtimeMs;
  attempt(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

if (!isPrivate) {
  sendHeartbeat();
  setInterval(sendHeartbeat, heartbeatMs);
  setInterval(() => checkpoint(minWalBytes), sizeCheckMs);
}
Atomics.store(shared, 1, 1);

let table: DeliveryTable | undefined;

function search(request: SearchRequest): MaintenanceAnswer {
  try {
    table ??= new DeliveryTable(database);
    return { found: table.search.find(request) };
  } catch {
    // The event loop repeats the search, and reports its error.
    return {};
  }
}

function answer(request: MaintenanceRequest): MaintenanceAnswer {
  if ("search" in request) return search(request.search);
  checkpoint(request.checkpointBytes);
  return {};
}

parentPort?.on("message", (request: MaintenanceRequest) => parentPort?.postMessage(answer(request)));

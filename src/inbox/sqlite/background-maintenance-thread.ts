/** The thread of a `BackgroundMaintenance`. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { LoopMonitor } from "../loop-monitor.ts";
import type { BackgroundMaintenanceData, MaintenanceAnswer, MaintenanceRequest } from "./background-maintenance.ts";
import { createReleaseCheck, readPragma } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { spaceOf } from "./file-system.ts";

const walCheckMs = 100;
/** The minimum size of the changes that are checkpointed. With a smaller minimum, index pages would be written more often. */
const minPendingBytes = 8 * 2 ** 20;
/**
 * At 40 MiB, a commit on the event loop checkpoints the rest of the WAL, after which the WAL starts again. Above this size, the rest is
 * kept small.
 */
const largeWalBytes = 32 * 2 ** 20;
const minPendingOfLargeBytes = 2 * 2 ** 20;
const largeWalCheckMs = 25;

const indexCheckMs = 250;
/** The pause after each group, while there are no other commits: these wait while a group is added. */
const indexPauseMs = 5;
/** Deliveries are not indexed if less disk space is free. */
const minFreeBytes = 64 * 2 ** 20;

const { file, isPrivate, processId, heartbeatMs, maxBlockedMs, loopCounter, shared }: BackgroundMaintenanceData =
  workerData;

const url = pathToFileURL(file);
// This mode does not create a missing file.
url.searchParams.set("mode", "rw");
const database = new DatabaseSync(url, { timeout: 2_000 });
// Commits are not synced, because heartbeats do not need to survive a power failure.
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
const table = new DeliveryTable(database);
const isFromNewerRelease = createReleaseCheck(database);
/** Before SQLite 3.51 (Node 22), which has no `NOOP`, this statement checkpoints the WAL. */
const walProgress = database.prepare("PRAGMA wal_checkpoint(NOOP)");
const pageBytes = readPragma(database, "page_size");
/** Changes with each commit of another connection. */
const dataVersion = database.prepare("PRAGMA data_version");
const loop = new LoopMonitor(loopCounter);

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
  attempt(() => write(() => table.leases.addHeartbeat({ processId, now: Date.now() })));
}

/** Runs an action in a transaction, unless a newer release has changed the tables. */
function write(action: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (!isFromNewerRelease()) action();
    database.exec("COMMIT");
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

/** Checkpoints the WAL if at least `minBytes` of it are not checkpointed. Returns whether the WAL is large. */
function checkpoint(minBytes: number): boolean {
  let isLarge = false;
  attempt(() => {
    // A checkpoint of every small change would sync the disk several times per delivery in Node 22.
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) < minBytes) return;
    const { log, checkpointed } = walProgress.get() ?? {};
    const walBytes = Number(log) * pageBytes;
    const pendingBytes = walBytes - Number(checkpointed) * pageBytes;
    isLarge = walBytes > largeWalBytes;
    const minPending = isLarge ? Math.min(minBytes, minPendingOfLargeBytes) : minBytes;
    if (pendingBytes > 0 && pendingBytes >= minPending) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  });
  return isLarge;
}

function checkWal(): void {
  const isLarge = checkpoint(minPendingBytes);
  setTimeout(checkWal, isLarge ? largeWalCheckMs : walCheckMs);
}

/** Indexes a group of deliveries. Returns whether there was a group. */
function indexGroup(): boolean {
  const { free = 0, total = 0 } = spaceOf(dirname(file)) ?? {};
  // Some file systems report a total size of 0.
  if ((total > 0 && free < minFreeBytes) || isFromNewerRelease()) return false;
  const group = table.index.readGroup();
  if (!group) return false;
  write(() => table.index.add(group));
  return true;
}

let lastDataVersion: unknown;

/** Indexes a group, and continues at once only while this thread is the only writer. */
function indexDeliveries(): void {
  let isAlone = false;
  let hasGroup = false;
  attempt(() => {
    hasGroup = indexGroup();
    const version = dataVersion.get()?.data_version;
    isAlone = version === lastDataVersion;
    lastDataVersion = version;
  });
  setTimeout(indexDeliveries, hasGroup && isAlone ? indexPauseMs : indexCheckMs);
}

if (!isPrivate) {
  sendHeartbeat();
  setInterval(sendHeartbeat, heartbeatMs);
  setTimeout(checkWal, walCheckMs);
  setTimeout(indexDeliveries, indexCheckMs);
}
Atomics.store(shared, 1, 1);

function answer(request: MaintenanceRequest): MaintenanceAnswer {
  if ("checkpointBytes" in request) {
    checkpoint(request.checkpointBytes);
    return {};
  }
  try {
    return { found: table.reader.find(request.search) };
  } catch {
    // The event loop repeats the search, and reports its error.
    return {};
  }
}

parentPort?.on("message", (request: MaintenanceRequest) => parentPort?.postMessage(answer(request)));

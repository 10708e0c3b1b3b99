/** The thread of a `BackgroundMaintenance`. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { LoopMonitor } from "../loop-monitor.ts";
import type { BackgroundMaintenanceData, MaintenanceAnswer, MaintenanceRequest } from "./background-maintenance.ts";
import { isFromNewerRelease } from "./database.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { spaceOf } from "./file-system.ts";
import { heartbeatSql } from "./statements.ts";

const sizeCheckMs = 250;
/**
 * The minimum size of a WAL that this thread checkpoints. At 40 MiB, a commit on the event loop would checkpoint the WAL. With
 * a smaller minimum, the thread would write index pages more often.
 */
const minWalBytes = 16 * 2 ** 20;

const indexCheckMs = 250;
/** The pause after each group. Other commits wait while a group is added, which takes about a quarter of this time. */
const indexPauseMs = 20;
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
  attempt(() => write(() => heartbeat.run(processId, Date.now())));
}

/** Runs an action in a transaction, unless a newer release has changed the tables. */
function write(action: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (!isFromNewerRelease(database)) action();
    database.exec("COMMIT");
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

/** Checkpoints the WAL if it has changed and has at least `minBytes` bytes. */
function checkpoint(minBytes: number): void {
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (!wal || wal.size < minBytes || wal.mtimeMs === checkpointedAt) return;
  checkpointedAt = wal.mtimeMs;
  attempt(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
}

let table: DeliveryTable | undefined;

function openTable(): DeliveryTable {
  table ??= new DeliveryTable(database);
  return table;
}

/** Indexes a group of deliveries. Returns whether there was a group. */
function indexGroup(): boolean {
  const { free = 0, total = 0 } = spaceOf(dirname(file)) ?? {};
  // Some file systems report a total size of 0.
  if ((total > 0 && free < minFreeBytes) || isFromNewerRelease(database)) return false;
  const { index } = openTable();
  const group = index.readGroup();
  if (!group) return false;
  write(() => index.add(group));
  return true;
}

function indexDeliveries(): void {
  let hasGroup = false;
  attempt(() => {
    hasGroup = indexGroup();
  });
  if (hasGroup) checkpoint(minWalBytes);
  setTimeout(indexDeliveries, hasGroup ? indexPauseMs : indexCheckMs);
}

if (!isPrivate) {
  sendHeartbeat();
  setInterval(sendHeartbeat, heartbeatMs);
  setInterval(() => checkpoint(minWalBytes), sizeCheckMs);
  setTimeout(indexDeliveries, indexCheckMs);
}
Atomics.store(shared, 1, 1);

function answer(request: MaintenanceRequest): MaintenanceAnswer {
  if ("checkpointBytes" in request) {
    checkpoint(request.checkpointBytes);
    return {};
  }
  try {
    return { found: openTable().reader.find(request.search) };
  } catch {
    // The event loop repeats the search, and reports its error.
    return {};
  }
}

parentPort?.on("message", (request: MaintenanceRequest) => parentPort?.postMessage(answer(request)));

/** Copies the database of an inbox for a snapshot. */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { CopiedDatabase, SnapshotThreadData } from "./snapshot-schedule.ts";

const { file, copy }: SnapshotThreadData = workerData;

// The file is created with mode 0600, so that other users cannot read payloads. SQLite treats an empty file as a new database.
closeSync(openSync(copy, "wx", 0o600));
const database = new DatabaseSync(file, { readOnly: true });
database.prepare("VACUUM INTO ?").run(copy);
database.close();
const copied = new DatabaseSync(copy, { readOnly: true });
const message: CopiedDatabase = {
  number: Number(copied.prepare("SELECT number FROM log_position").get()?.number),
  fences: copied
    .prepare("SELECT number FROM log_fences")
    .all()
    .map(({ number }) => Number(number)),
};
copied.close();
parentPort?.postMessage(message);

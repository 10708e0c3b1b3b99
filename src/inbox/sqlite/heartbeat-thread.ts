/**
 * The thread that shows other processes that this one is alive, also while a handler blocks its event loop. Started by
 * `heartbeat.ts`.
 */
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import type { HeartbeatThreadData } from "./heartbeat.ts";

const { url, owner, intervalMs, running }: HeartbeatThreadData = workerData;

// Never makes a file: the URL says so. A beat need not outlive a power cut.
const database = new DatabaseSync(new URL(url), { timeout: 2_000 });
database.exec("PRAGMA synchronous = NORMAL");
const beat = database.prepare(`
  INSERT INTO owners (owner, beat, beat_at) VALUES (?, 1, ?)
  ON CONFLICT DO UPDATE SET beat = beat + 1, beat_at = excluded.beat_at, running_at_death = NULL
`);

function show(): void {
  if (Atomics.load(running, 0) === 0) return;
  try {
    beat.run(owner, Date.now());
  } catch {
    // The file is locked or the disk full, for other processes as well: the next beat tries again.
  }
}

show();
setInterval(show, intervalMs);

import type { DatabaseSync } from "node:sqlite";
import { type Job, job } from "../../hub/contract/jobs.ts";

/** Older jobs are dropped beyond this many. */
const jobsKept = 1_000;

/** The jobs that webhooks of a local Hub have started. */
export class JobStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** All of them, newest first. */
  all(): Job[] {
    const rows = this.#database.prepare("SELECT record FROM jobs ORDER BY sequence DESC").all();
    return rows.map((row) => job.parse(JSON.parse(String(row.record))));
  }

  get(id: string): Job | undefined {
    const row = this.#database.prepare("SELECT record FROM jobs WHERE id = ?").get(id);
    return row && job.parse(JSON.parse(String(row.record)));
  }

  /** Adds it, or writes over the one of the same id. */
  put(added: Job): void {
    this.#database
      .prepare("INSERT INTO jobs (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record")
      .run(added.id, JSON.stringify(added));
    this.#database.prepare("DELETE FROM jobs WHERE sequence <= (SELECT max(sequence) FROM jobs) - ?").run(jobsKept);
  }

  clear(): void {
    this.#database.exec("DELETE FROM jobs");
  }
}

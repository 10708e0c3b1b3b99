import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { type Job, job } from "../../hub/jobs.ts";

/** The maximum number of jobs. Older jobs are deleted. */
const maxJobs = 1_000;

const secretValues = z.record(z.string(), z.string());

/** Stores the jobs that webhooks have started. */
export class JobStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Returns all jobs, newest first. */
  all(): Job[] {
    const rows = this.#database.prepare("SELECT record FROM jobs ORDER BY sequence DESC").all();
    return rows.map((row) => job.parse(JSON.parse(String(row.record))));
  }

  get(id: string): Job | undefined {
    const row = this.#database.prepare("SELECT record FROM jobs WHERE id = ?").get(id);
    return row && job.parse(JSON.parse(String(row.record)));
  }

  /** Returns the values of a job's secrets. The record of the job does not contain these values. */
  secretsOf(id: string): Record<string, string> {
    const row = this.#database.prepare("SELECT secrets FROM jobs WHERE id = ?").get(id);
    return row ? secretValues.parse(JSON.parse(String(row.secrets))) : {};
  }

  add(added: Job, secrets: Readonly<Record<string, string>>): void {
    this.#database
      .prepare("INSERT INTO jobs (id, record, secrets) VALUES (?, ?, ?)")
      .run(added.id, JSON.stringify(added), JSON.stringify(secrets));
    this.#database.prepare("DELETE FROM jobs WHERE sequence <= (SELECT max(sequence) FROM jobs) - ?").run(maxJobs);
  }

  /** Replaces a job. Has no effect if the job was deleted. */
  update(job: Job): void {
    this.#database.prepare("UPDATE jobs SET record = ? WHERE id = ?").run(JSON.stringify(job), job.id);
  }

  clear(): void {
    this.#database.exec("DELETE FROM jobs");
  }
}

import type { DatabaseSync } from "node:sqlite";
import * as z from "zod/mini";
import { jobRequest } from "../../hub/jobs/definition.ts";
import { jobStages } from "../../hub/jobs/schemas.ts";

/** The maximum number of jobs. Older jobs are deleted. */
const maxJobs = 1_000;
/** The maximum number of lines per job. Older lines are deleted. */
const maxLines = 10_000;

const secretValues = z.record(z.string(), z.string());

/** A job without the values of its secrets. */
const storedJob = z.object({
  id: z.string(),
  owner: z.string(),
  createdBy: z.string(),
  webhookId: z.optional(z.string()),
  /** Milliseconds since the epoch, as are the other times. */
  createdAt: z.number(),
  startedAt: z.optional(z.number()),
  finishedAt: z.optional(z.number()),
  /** The request. The variables of webhooks are added to the environment. */
  definition: z.omit(jobRequest, { secrets: true }),
  secretNames: z.array(z.string()),
  stage: z.enum(jobStages),
  message: z.nullable(z.string()),
  failureCount: z.optional(z.number()),
});

const storedLine = z.object({ timestamp: z.number(), data: z.string() });

/** A job without the values of its secrets. */
export type StoredJob = z.output<typeof storedJob>;

export type StoredLogLine = z.output<typeof storedLine>;

export class JobStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  all(): StoredJob[] {
    const rows = this.#database.prepare("SELECT record FROM jobs ORDER BY sequence DESC").all();
    return rows.map((row) => storedJob.parse(JSON.parse(String(row.record))));
  }

  get(id: string): StoredJob | undefined {
    const row = this.#database.prepare("SELECT record FROM jobs WHERE id = ?").get(id);
    return row && storedJob.parse(JSON.parse(String(row.record)));
  }

  secretsOf(id: string): Record<string, string> {
    const row = this.#database.prepare("SELECT secrets FROM jobs WHERE id = ?").get(id);
    return row ? secretValues.parse(JSON.parse(String(row.secrets))) : {};
  }

  add(added: StoredJob, secrets: Readonly<Record<string, string>>): void {
    const database = this.#database;
    database
      .prepare("INSERT INTO jobs (id, record, secrets) VALUES (?, ?, ?)")
      .run(added.id, JSON.stringify(added), JSON.stringify(secrets));
    const isOld = "sequence <= (SELECT max(sequence) FROM jobs) - ?";
    database.prepare(`DELETE FROM job_logs WHERE job_id IN (SELECT id FROM jobs WHERE ${isOld})`).run(maxJobs);
    database.prepare(`DELETE FROM jobs WHERE ${isOld}`).run(maxJobs);
  }

  /** Replaces a job. Has no effect if the job was deleted. */
  update(job: StoredJob): void {
    this.#database.prepare("UPDATE jobs SET record = ? WHERE id = ?").run(JSON.stringify(job), job.id);
  }

  /** Adds lines to the output of a job, and deletes its oldest lines. Has no effect if the job was deleted. */
  addLines(jobId: string, lines: readonly StoredLogLine[]): void {
    const database = this.#database;
    if (!database.prepare("SELECT 1 FROM jobs WHERE id = ?").get(jobId)) return;
    let number = this.lineCount(jobId);
    const insert = database.prepare("INSERT INTO job_logs (job_id, number, record) VALUES (?, ?, ?)");
    database.exec("BEGIN");
    try {
      for (const line of lines) {
        number += 1;
        insert.run(jobId, number, JSON.stringify(line));
      }
      database.prepare("DELETE FROM job_logs WHERE job_id = ? AND number <= ?").run(jobId, number - maxLines);
      database.exec("COMMIT");
    } catch (error) {
      // SQLite itself rolls back if the disk is full.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Returns the number of lines that a job has printed, including deleted lines. */
  lineCount(jobId: string): number {
    const row = this.#database.prepare("SELECT max(number) AS count FROM job_logs WHERE job_id = ?").get(jobId);
    return Number(row?.count ?? 0);
  }

  /** Returns up to `limit` lines of a job after the line with the number `after`. The first line has the number 1. */
  lines(jobId: string, { after, limit }: { after: number; limit: number }): (StoredLogLine & { number: number })[] {
    return this.#database
      .prepare("SELECT number, record FROM job_logs WHERE job_id = ? AND number > ? ORDER BY number LIMIT ?")
      .all(jobId, after, limit)
      .map(({ number, record }) => ({ ...storedLine.parse(JSON.parse(String(record))), number: Number(number) }));
  }

  clear(): void {
    this.#database.exec("DELETE FROM jobs; DELETE FROM job_logs");
  }
}

import type { PostgresPool } from "./postgres-pool.ts";
import type { DiscardedJobs } from "./queue-server.ts";

/** Changes the state of jobs with statements, because BullMQ has no method for it. */
export function postgresDiscardedJobs(pool: PostgresPool): DiscardedJobs {
  return {
    async add({ name }, jobId, now) {
      // A worker that claims the job locks its row, so only one of both succeeds.
      const { rows } = await pool.query(
        `UPDATE job SET state = 'waiting-children', finished_at_ms = $3, delay_ms = 0, process_at_ms = NULL
         WHERE queue = $1 AND id = $2 AND state IN ('waiting', 'delayed', 'failed') RETURNING id`,
        [name, jobId, Math.round(now)],
      );
      return rows.length > 0;
    },
    async markFailed({ name }, jobId) {
      await pool.query("UPDATE job SET state = 'failed' WHERE queue = $1 AND id = $2 AND state = 'waiting-children'", [
        name,
        jobId,
      ]);
    },
    async list({ name }, from, until) {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM job WHERE queue = $1 AND state = 'waiting-children'
         ORDER BY finished_at_ms DESC, seq DESC OFFSET $2 LIMIT $3`,
        [name, from, until - from + 1],
      );
      return rows.map(({ id }) => id);
    },
  };
}

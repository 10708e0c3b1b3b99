import type { Client } from "pg";
import { maxOwnActions, ownActionRetentionMs } from "../own-actions.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import type { QueueServer } from "./queue-server.ts";

/** The ID of the lock that prevents two processes from creating the table at the same time, which PostgreSQL rejects. */
const lockId = 0x68776f61;

/** Creates the table of own actions, unless it exists. */
export async function createOwnActionTable(client: Client, schema: string): Promise<void> {
  // Without this check, a role that must not create tables could not start a server.
  const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    `${schema}.own_action`,
  ]);
  if (rows[0]?.found) return;
  // Statements of one query run in one transaction, so the lock is released afterward.
  await client.query(`
    SELECT pg_advisory_xact_lock(${lockId});
    CREATE TABLE IF NOT EXISTS ${schema}.own_action (
      sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      key text NOT NULL UNIQUE,
      made_at timestamptz NOT NULL
    );
  `);
}

/** The maximum number of keys that one write removes. Each write adds fewer keys, so the table does not grow. */
const maxRows = 200;

/** Stores the keys of own actions in a table. */
export function postgresOwnActions(pool: PostgresPool): QueueServer["ownActions"] {
  return {
    async add(keys, now) {
      await pool.query(
        `WITH removed AS (
           DELETE FROM own_action WHERE sequence IN (
             SELECT sequence FROM (SELECT sequence, made_at FROM own_action ORDER BY sequence LIMIT $3) AS oldest
             WHERE sequence <= (SELECT max(sequence) FROM own_action) - $4::bigint OR made_at < $5
           )
         )
         INSERT INTO own_action (key, made_at) SELECT key, $2 FROM unnest($1::text[]) AS keys(key)
         ON CONFLICT DO NOTHING`,
        [keys, new Date(now), maxRows, maxOwnActions, new Date(now - ownActionRetentionMs)],
      );
    },
    async find(keys) {
      const { rows } = await pool.query<{ key: string }>("SELECT key FROM own_action WHERE key = ANY($1::text[])", [
        keys,
      ]);
      return new Set(rows.map(({ key }) => key));
    },
  };
}

import type { BackendFactory, IQueueBackend, PgPool, PostgresConnectionOptions } from "bullmq";
import type { Client } from "pg";
import { WebhookError } from "../../core/errors.ts";
import { withDeadline } from "../../core/time.ts";
import { loadPackages } from "../errors.ts";
import { type Cursors, maxClaimMs, maxOwnActions, type OwnActions, ownActionRetentionMs } from "../inbox.ts";
import {
  ConnectionsExhaustedError,
  connectionHint,
  isExhaustion,
  isTimeout,
  maxConnections,
  minConnections,
  sharePool,
} from "./postgres-pool.ts";
import {
  type DeliveryQueue,
  type DeliveryWorker,
  inboxMissing,
  maxSkewMs,
  type QueueServer,
  type QueueServerOptions,
  postgresSchema as schema,
  serverSlow,
  serverUnusable,
} from "./queue-server.ts";

const connectMs = 5_000;
/** The timeout of a query. Without a timeout, a server that does not respond would block a connection forever. */
const queryMs = 10_000;

/** The jobs of these lists of a queue. The rows of completed jobs contain whether their deliveries were ignored. */
const conditions = {
  ignored: `queue = $1 AND state = 'completed' AND return_value = '"ignored"'`,
  "waiting-children": "queue = $1 AND state = 'waiting-children'",
};

type PostgresPackages = Awaited<ReturnType<typeof loadPostgres>>;

function loadPostgres() {
  return loadPackages(["bullmq", "pg"], async (bullmq, pg) => ({
    bullmq: (await import(bullmq)) as typeof import("bullmq"),
    pg: (await import(pg)) as typeof import("pg"),
  }));
}

/**
 * Connects to PostgreSQL and checks its settings. Creates or migrates the tables, unless the inbox must exist. All
 * queues and workers share one connection pool, and one of its connections listens for new deliveries.
 *
 * @param options.url `postgres://` or `postgresql://`.
 * @throws `INBOX_UNUSABLE` if a package is not installed, or PostgreSQL cannot be reached or used.
 */
export async function connectPostgres(
  { url, mustExist, startMs, now, onError }: QueueServerOptions,
  loading = loadPostgres(),
): Promise<QueueServer> {
  const packages = await loading;
  const { bullmq, pg } = packages;
  const pool = sharePool(
    new pg.Pool({
      ...clientOptions(url),
      options: `-c search_path=${schema}`,
      max: maxConnections,
      min: minConnections,
      idleTimeoutMillis: 60_000,
    }),
    onError,
  );
  class InboxConnection extends bullmq.PostgresConnection {
    override readonly schema = schema;
  }
  const connection = new InboxConnection(pool).setMaxListeners(0);
  connection.on("error", onError);
  const close = async () => {
    await connection.close();
    await pool.end();
  };
  const start = async () => {
    const found = await prepare(url, mustExist, packages);
    await connection.waitUntilReady();
    // A command that only reads an existing inbox does not need these two connections.
    if (!mustExist) await Promise.all([connection.getListenClient(), pool.query("SELECT 1")]);
    return found;
  };
  let warnings: string[];
  try {
    warnings = await withDeadline(start(), startMs, serverSlow);
  } catch (cause) {
    close().catch(() => {});
    if (WebhookError.isInstance(cause)) throw cause;
    if (isExhaustion(cause)) throw serverUnusable({ url, cause: new ConnectionsExhaustedError(cause) });
    // If no connection is free, PostgreSQL or a pooler can make a client wait until the timeout.
    throw serverUnusable({ url, cause, ...(isTimeout(cause) && { hint: connectionHint }) });
  }
  const backends = new bullmq.PostgresQueueBackend(connection, "endpoints", { connection: pool }, false);
  // By default, `close` closes the connection of a backend, and only a backend that owns its connection listens again
  // after a reconnect. These backends share a connection, so BullMQ treats it as their own, but `close` is replaced.
  const createBackend: BackendFactory<IQueueBackend, PostgresConnectionOptions> = (name, options) =>
    Object.assign(new bullmq.PostgresQueueBackend(connection, name, options), { close: async () => {} });
  return {
    errors: bullmq,
    openQueue: (name): DeliveryQueue => {
      const queue: DeliveryQueue = new bullmq.Queue(name, { connection: pool }, () => backends.forQueue(name));
      queue.on("error", onError);
      return queue;
    },
    openWorker: (name, process, options): DeliveryWorker =>
      new bullmq.Worker(name, process, { ...options, connection: pool }, createBackend),
    async checkStorage() {
      const { rows } = await pool.query<{ now: string; isReadOnly: boolean; isEmpty: boolean }>(
        `SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now, current_setting('transaction_read_only')::bool AS "isReadOnly",
           to_regclass('storage') IS NULL AS "isEmpty"`,
      );
      const [row] = rows;
      if (!row || row.isReadOnly) throw new Error("PostgreSQL is a standby or read-only and rejects writes");
      const time = Number(row.now);
      if (mustExist) return { time };
      // The database is another one than at the start.
      if (row.isEmpty) await prepare(url, mustExist, packages);
      const counted = await pool.query<{ identity: string; checks: string }>(
        `INSERT INTO storage VALUES (1, $1, 1) ON CONFLICT (id) DO UPDATE SET checks = storage.checks + 1 RETURNING identity, checks`,
        [crypto.randomUUID()],
      );
      const [state] = counted.rows;
      return { time, history: { identity: state?.identity ?? "", checks: Number(state?.checks) } };
    },
    async correctTimes({ name }, leaseMs) {
      const time = now();
      await pool.query(
        `UPDATE job SET process_at_ms = $2::bigint + delay_ms
         WHERE queue = $1 AND state = 'delayed' AND process_at_ms - delay_ms > $2::bigint + $3`,
        [name, time, maxSkewMs],
      );
      await pool.query(
        `UPDATE job SET locked_until_ms = $2::bigint + $3
         WHERE queue = $1 AND state = 'active' AND locked_until_ms > $2::bigint + $3 + $4`,
        [name, time, leaseMs, maxSkewMs],
      );
    },
    async replayDead({ name }, jobIds) {
      // One statement replays all jobs, because each commit waits for the disk. The log entry has the format of `replayEntry`.
      const { rows } = await pool.query<{ count: string }>(
        `WITH replayed AS (
           SELECT id FROM unnest($2::text[]) AS ids(id) WHERE reprocess_job($1, id, 'failed', false, false, false) = 1
         ), logged AS (
           INSERT INTO job_log (queue, job_id, idx, row)
           SELECT $1, id, COALESCE((SELECT max(idx) + 1 FROM job_log WHERE queue = $1 AND job_id = id), 0),
             json_build_object('replayedAfter', attempts_started)
           FROM replayed JOIN job USING (id) WHERE queue = $1
         )
         SELECT count(*) FROM replayed`,
        [name, jobIds],
      );
      return Number(rows[0]?.count ?? 0);
    },
    // BullMQ has no method to discard jobs, so statements change their state.
    async discard({ name }, jobId) {
      // A worker that claims the job locks its row, so only one of both succeeds.
      const { rows } = await pool.query(
        `UPDATE job SET state = 'waiting-children', finished_at_ms = $3, delay_ms = 0, process_at_ms = NULL
         WHERE queue = $1 AND id = $2 AND state IN ('waiting', 'delayed', 'failed') RETURNING id`,
        [name, jobId, Math.round(now())],
      );
      return rows.length > 0;
    },
    async failDiscarded({ name }, jobId) {
      await pool.query(`UPDATE job SET state = 'failed' WHERE ${conditions["waiting-children"]} AND id = $2`, [
        name,
        jobId,
      ]);
    },
    async emptyFinished({ name }, jobId, data) {
      const { rows } = await pool.query(
        `WITH emptied AS (
           UPDATE job SET data = $3 WHERE queue = $1 AND id = $2 AND state IN ('completed', 'waiting-children') RETURNING id
         ), cleared AS (
           DELETE FROM job_log WHERE queue = $1 AND job_id IN (SELECT id FROM emptied)
         )
         SELECT id FROM emptied`,
        [name, jobId, JSON.stringify(data)],
      );
      return rows.length > 0;
    },
    async countIgnored({ name }) {
      const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM job WHERE ${conditions.ignored}`, [
        name,
      ]);
      return Number(rows[0]?.count ?? 0);
    },
    async forgetIgnored() {},
    async listJobs({ name }, list, from, until) {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM job WHERE ${conditions[list]} ORDER BY finished_at_ms DESC, seq DESC OFFSET $2 LIMIT $3`,
        [name, from, until - from + 1],
      );
      return rows.map(({ id }) => id);
    },
    ownActions: postgresOwnActions(pool, now),
    cursors: postgresCursors(pool, now),
    warnings,
    close,
  };
}

export async function openPostgresLeases(
  url: string,
  onError: (error: Error) => void,
  loading = loadPostgres(),
): Promise<IQueueBackend> {
  const { bullmq } = await loading;
  const backend = bullmq.createPostgresBackend("leases", { connection: { ...clientOptions(url), schema, max: 1 } });
  backend.on("error", onError);
  return backend;
}

function clientOptions(url: string) {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** Creates or migrates the tables, unless the inbox must exist. Returns warnings about settings that can lose deliveries. */
async function prepare(url: string, mustExist: boolean, { bullmq, pg }: PostgresPackages): Promise<string[]> {
  const client = new pg.Client(clientOptions(url));
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ fsync: string; commit: string; hasInbox: boolean }>(
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
         to_regnamespace($1) IS NOT NULL AS "hasInbox"`,
      [schema],
    );
    const { fsync, commit, hasInbox } = rows[0] ?? { fsync: "on", commit: "on", hasInbox: true };
    if (mustExist && !hasInbox) throw inboxMissing(url);
    if (!mustExist) {
      await bullmq.runMigrations(client, schema);
      await createOwnTables(client);
    }
    const setting = fsync === "off" ? "fsync" : commit === "off" ? "synchronous_commit" : undefined;
    if (setting === undefined) return [];
    return [
      `Accepted deliveries can be lost in a power failure: PostgreSQL does not sync each write to disk. Set "${setting} = on".`,
    ];
  } finally {
    await client.end().catch(() => {});
  }
}

/** The ID of the lock that prevents two processes from creating the tables at the same time, which PostgreSQL rejects. */
const lockId = 0x68776f61;

/** Creates the tables that are not BullMQ's, unless they exist. */
async function createOwnTables(client: Client): Promise<void> {
  // Without this check, a role that must not create tables could not start a server.
  const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    // The newest of them.
    `${schema}.cursor`,
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
    CREATE TABLE IF NOT EXISTS ${schema}.cursor (
      endpoint text NOT NULL,
      key text NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (endpoint, key)
    );
    CREATE TABLE IF NOT EXISTS ${schema}.cursor_claim (
      key text PRIMARY KEY,
      holder text NOT NULL,
      ends_at timestamptz NOT NULL
    );
    CREATE TABLE IF NOT EXISTS ${schema}.storage (
      id integer PRIMARY KEY,
      identity text NOT NULL,
      checks bigint NOT NULL
    );
  `);
}

/** The maximum number of keys that one write removes. Each write adds fewer keys, so the table does not grow. */
const maxRows = 200;

function postgresOwnActions(pool: PgPool, now: () => number): OwnActions {
  return {
    async add(keys) {
      const time = now();
      await pool.query(
        `WITH removed AS (
           DELETE FROM own_action WHERE sequence IN (
             SELECT sequence FROM (SELECT sequence, made_at FROM own_action ORDER BY sequence LIMIT $3) AS oldest
             WHERE sequence <= (SELECT max(sequence) FROM own_action) - $4::bigint OR made_at < $5
           )
         )
         INSERT INTO own_action (key, made_at) SELECT key, $2 FROM unnest($1::text[]) AS keys(key)
         ON CONFLICT DO NOTHING`,
        [keys, new Date(time), maxRows, maxOwnActions, new Date(time - ownActionRetentionMs)],
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

function postgresCursors(pool: PgPool, now: () => number): Cursors {
  return {
    async get(endpoint, key) {
      const { rows } = await pool.query<{ value: string }>(
        "SELECT value FROM cursor WHERE endpoint = $1 AND key = $2",
        [endpoint, key],
      );
      return rows[0]?.value;
    },
    async list(endpoint) {
      const { rows } = await pool.query<{ key: string; value: string }>(
        "SELECT key, value FROM cursor WHERE endpoint = $1",
        [endpoint],
      );
      return new Map(rows.map(({ key, value }) => [key, value]));
    },
    async set(endpoint, texts) {
      await pool.query(
        `INSERT INTO cursor SELECT $1, key, value FROM unnest($2::text[], $3::text[]) AS texts(key, value)
         ON CONFLICT (endpoint, key) DO UPDATE SET value = excluded.value`,
        [endpoint, [...texts.keys()], [...texts.values()]],
      );
    },
    async claim({ key, holder, forMs }) {
      const time = now();
      const { rows } = await pool.query(
        `INSERT INTO cursor_claim VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
           WHERE cursor_claim.holder = excluded.holder OR cursor_claim.ends_at <= $4 OR cursor_claim.ends_at > $5
         RETURNING holder`,
        [key, holder, new Date(time + forMs), new Date(time), new Date(time + maxClaimMs)],
      );
      return rows.length > 0;
    },
  };
}

import type { BackendFactory, IQueueBackend, PostgresConnection, PostgresConnectionOptions } from "bullmq";
import type { Client } from "pg";
import { withDeadline } from "../../core/deadline.ts";
import { WebhookError } from "../../core/errors.ts";
import { postgresSchema as schema } from "./names.ts";
import type { Bullmq, Pg } from "./optional-packages.ts";
import { postgresDiscardedJobs } from "./postgres-discarded-jobs.ts";
import { createOwnActionTable, postgresOwnActions } from "./postgres-own-actions.ts";
import {
  ConnectionsExhaustedError,
  connectionHint,
  isExhaustion,
  isTimeout,
  maxConnections,
  minConnections,
  PostgresPool,
} from "./postgres-pool.ts";
import {
  createLeaseServer,
  type DeliveryQueue,
  type DeliveryWorker,
  type LeaseServer,
  type QueueServer,
  type QueueServerOptions,
} from "./queue-server.ts";
import { inboxMissing, serverSlow, serverUnusable } from "./server-errors.ts";

const connectMs = 5_000;
/** The timeout of a query, in milliseconds. Without a timeout, a server that does not respond would block a connection forever. */
const queryMs = 10_000;

interface Packages {
  packages: { bullmq: Bullmq; pg: Pg };
}

/**
 * Connects to PostgreSQL and checks its settings. Creates or migrates the tables, unless the inbox must exist. All
 * queues and workers share one connection pool, and one of its connections listens for new deliveries.
 *
 * @param options.url `postgres://` or `postgresql://`.
 * @throws `INBOX_UNUSABLE` if PostgreSQL cannot be reached or used.
 */
export async function connectPostgres({
  url,
  mustExist,
  startMs,
  onError,
  packages: { bullmq, pg },
}: QueueServerOptions & Packages): Promise<QueueServer> {
  const pool = new PostgresPool(
    new pg.Pool({
      ...clientOptions(url),
      options: `-c search_path=${schema}`,
      max: maxConnections,
      min: minConnections,
      idleTimeoutMillis: 60_000,
    }),
    onError,
  );
  const connection = connectionTo(pool, bullmq);
  connection.on("error", onError);
  const close = async () => {
    await connection.close();
    await pool.end();
  };
  const start = async () => {
    const settings = await prepare({ url, mustExist, packages: { bullmq, pg } });
    await connection.waitUntilReady();
    // A command that only reads an existing inbox does not need these two connections.
    if (!mustExist) await Promise.all([connection.getListenClient(), pool.query("SELECT 1")]);
    return settings;
  };
  let warnings: string[];
  try {
    warnings = warningsOf(await withDeadline(start(), startMs, serverSlow));
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
    openQueue: (name): DeliveryQueue => {
      const queue: DeliveryQueue = new bullmq.Queue(name, { connection: pool }, () => backends.forQueue(name));
      queue.on("error", onError);
      return queue;
    },
    openWorker: (name, process, options): DeliveryWorker =>
      new bullmq.Worker(name, process, { ...options, connection: pool }, createBackend),
    async checkStorage() {
      const { rows } = await pool.query<{ now: string; isReadOnly: boolean }>(
        `SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now, current_setting('transaction_read_only')::bool AS "isReadOnly"`,
      );
      const [row] = rows;
      if (!row || row.isReadOnly) throw new Error("PostgreSQL is a standby or read-only and rejects writes");
      return Number(row.now);
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
    discarded: postgresDiscardedJobs(pool),
    ownActions: postgresOwnActions(pool),
    warnings,
    close,
  };
}

/** Opens a connection to PostgreSQL that renews leases. */
export async function openPostgresLeases({
  url,
  onError,
  packages: { bullmq },
}: { url: string; onError: (error: Error) => void } & Packages): Promise<LeaseServer> {
  const backend = bullmq.createPostgresBackend("leases", { connection: { ...clientOptions(url), schema, max: 1 } });
  backend.on("error", onError);
  return createLeaseServer(backend, () => backend.close());
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

function connectionTo(pool: PostgresPool, { PostgresConnection }: Bullmq): PostgresConnection {
  class InboxConnection extends PostgresConnection {
    override readonly schema = schema;
  }
  return new InboxConnection(pool).setMaxListeners(0);
}

interface Settings {
  fsync: string;
  commit: string;
  hasInbox: boolean;
}

/** Reads the settings of the server. Creates or migrates the tables, unless the inbox must exist. */
async function prepare({
  url,
  mustExist,
  packages: { bullmq, pg },
}: { url: string; mustExist: boolean } & Packages): Promise<Settings> {
  const client = new pg.Client(clientOptions(url));
  client.on("error", () => {});
  try {
    await client.connect();
    const settings = await readSettings(client);
    if (mustExist && !settings.hasInbox) throw inboxMissing(url);
    if (!mustExist) {
      await bullmq.runMigrations(client, schema);
      await createOwnActionTable(client, schema);
    }
    return settings;
  } finally {
    await client.end().catch(() => {});
  }
}

async function readSettings(client: Client): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
       to_regnamespace($1) IS NOT NULL AS "hasInbox"`,
    [schema],
  );
  return rows[0] ?? { fsync: "on", commit: "on", hasInbox: true };
}

function warningsOf({ fsync, commit }: Settings): string[] {
  const setting = fsync === "off" ? "fsync" : commit === "off" ? "synchronous_commit" : undefined;
  if (setting === undefined) return [];
  return [
    `Accepted deliveries can be lost in a power failure: PostgreSQL does not sync each write to disk. Set "${setting} = on".`,
  ];
}

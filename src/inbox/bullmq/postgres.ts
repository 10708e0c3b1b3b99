import { WebhookError } from "../../errors.ts";
import type { Bullmq, Pg } from "./packages.ts";
import type { DeliveryQueue, DeliveryWorker, QueueServer, QueueServerOptions } from "./queue-server.ts";
import { inboxMissing, serverUnusable } from "./server-unusable.ts";

/** So that our tables are told from those of others in the same database. */
const schema = "hub_webhooks";
const connectMs = 5_000;

/**
 * Reaches a PostgreSQL, makes the tables where there are none, and reads how safe it is.
 *
 * @param url `postgres://` or `postgresql://`.
 * @throws `INBOX_UNUSABLE`.
 */
export async function connectPostgres({
  url,
  mustExist,
  onError,
  packages: { bullmq, pg },
}: QueueServerOptions & { packages: { bullmq: Bullmq; pg: Pg } }): Promise<QueueServer> {
  const { createPostgresBackend, Queue, Worker } = bullmq;
  const connection = {
    connectionString: url,
    schema,
    connectionTimeoutMillis: connectMs,
    // A server that went without a word must not keep a connection for ever.
    query_timeout: 10_000,
    keepAlive: true,
  };
  let warnings: string[];
  const queues = createPostgresBackend("endpoints", { connection: { ...connection, migrate: !mustExist, max: 10 } });
  queues.on("error", onError);
  try {
    const { hasInbox, ...settings } = await look(url, pg);
    if (mustExist && !hasInbox) throw inboxMissing(url);
    warnings = warningsOf(settings);
    await queues.waitUntilReady();
  } catch (cause) {
    await queues.close().catch(() => {});
    throw WebhookError.isInstance(cause) ? cause : serverUnusable({ url, cause });
  }
  return {
    openQueue: (name): DeliveryQueue => {
      const queue: DeliveryQueue = new Queue(name, { connection }, () => queues.forQueue(name));
      queue.on("error", onError);
      return queue;
    },
    openWorker: (name, process, options): DeliveryWorker =>
      new Worker(name, process, { ...options, connection: { ...connection, max: 2 } }, createPostgresBackend),
    warnings,
    close: () => queues.close(),
  };
}

interface Look {
  fsync: string;
  commit: string;
  hasInbox: boolean;
}

/** Reads how the server is set, and whether it has our tables. */
async function look(url: string, { Client }: Pg): Promise<Look> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectMs, query_timeout: connectMs });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Look>(
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
         to_regnamespace($1) IS NOT NULL AS "hasInbox"`,
      [schema],
    );
    return rows[0] ?? { fsync: "on", commit: "on", hasInbox: true };
  } finally {
    await client.end().catch(() => {});
  }
}

function warningsOf({ fsync, commit }: Omit<Look, "hasInbox">): string[] {
  const setting = fsync === "off" ? "fsync" : commit === "off" ? "synchronous_commit" : undefined;
  if (setting === undefined) return [];
  return [
    `What was acknowledged can be lost at a power cut: this PostgreSQL does not sync each write. Set "${setting} = on".`,
  ];
}

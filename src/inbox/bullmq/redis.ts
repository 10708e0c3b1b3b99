import type { QueueOptions } from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/option-error.ts";
import type { Bullmq, Ioredis } from "./optional-packages.ts";
import {
  type DeliveryQueue,
  type DeliveryWorker,
  endpointsQueueName,
  inboxMissing,
  type LeaseServer,
  leaseServerOn,
  type QueueServer,
  type QueueServerOptions,
  serverSlow,
  serverUnusable,
  withDeadline,
} from "./queue-server.ts";
import type { DeliveryJob } from "./stored-job.ts";
import { retryFinished } from "./stored-job.ts";

/** So that our keys are told from those of others in the same database. */
const prefix = "hub-webhooks";
const connectMs = 5_000;

/** The pause before a connection is made again to a server that takes no writes, in milliseconds. */
const readOnlyPauseMs = 1_000;

interface Packages {
  packages: { bullmq: Bullmq; ioredis: Ioredis };
}

/**
 * Reaches a Redis, and reads how safe it is.
 *
 * @param options.url `redis://` or, with TLS, `rediss://`.
 * @throws `OPTION_INVALID` for a path that is no number, `INBOX_UNUSABLE`.
 */
export async function connectRedis({
  url,
  mustExist,
  startMs,
  onError,
  packages: { bullmq, ioredis },
}: QueueServerOptions & Packages): Promise<QueueServer> {
  const database = new URL(url).pathname.slice(1);
  if (!/^\d*$/.test(database)) throw databaseInvalid();
  // Whoever accepts a delivery must hear at once that the server is gone: nothing is kept for when it is back.
  const commands = new ioredis.Redis(url, {
    ...connectionOptions({ onReadOnly: "fail", onError }),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: 10_000,
  });
  // Whoever works waits until it is back. BullMQ blocks for 10 seconds at most, so what is silent for longer is dead.
  const working = new ioredis.Redis(url, {
    ...connectionOptions({ onReadOnly: "resend", onError }),
    maxRetriesPerRequest: null,
    socketTimeout: 30_000,
  });
  const connections = [commands, working];
  // BullMQ makes one for each worker to wait on, and would let it try for ever when the server is gone.
  const duplicate = working.duplicate.bind(working);
  working.duplicate = (options) => {
    const made = duplicate(options);
    connections.push(made);
    return made;
  };
  const start = async () => {
    await Promise.all([firstConnection(commands), firstConnection(working)]);
    for (const connection of connections) connection.on("error", onError);
    if (mustExist && (await commands.exists(`${prefix}:${endpointsQueueName}:meta`)) === 0) throw inboxMissing(url);
    return readWarnings(commands);
  };
  let warnings: string[];
  try {
    warnings = await withDeadline(start(), startMs, serverSlow);
  } catch (cause) {
    for (const connection of connections) connection.disconnect();
    throw WebhookError.isInstance(cause) ? cause : serverUnusable({ url, cause });
  }
  return {
    openQueue: (name): DeliveryQueue => {
      const queue: DeliveryQueue = new bullmq.Queue(name, { connection: commands, prefix });
      queue.on("error", onError);
      return queue;
    },
    openWorker: (name, process, options): DeliveryWorker =>
      new bullmq.Worker(name, process, { ...options, connection: working, prefix }),
    async probe() {
      // A server that has become a replica, or has no memory or disk left, still answers what only reads.
      await commands.set(`${prefix}:probe`, "", "PX", 1);
      const [seconds, microseconds] = await commands.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    },
    async replayDead(queue, jobIds) {
      const replayed = await Promise.all(
        jobIds.map(async (id) => {
          // One field rather than the whole job: bodies take up to megabytes each.
          const attemptsStarted = await commands.hget(queue.toKey(id), "ats");
          if (attemptsStarted === null) return false;
          const job: DeliveryJob = new bullmq.Job(queue, "delivery", { id }, {}, id);
          job.attemptsStarted = Number(attemptsStarted);
          return retryFinished(job, "failed");
        }),
      );
      return replayed.filter(Boolean).length;
    },
    warnings,
    async close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** Connects for nothing but to renew leases. */
export async function openRedisLeases({
  url,
  onError,
  packages: { bullmq, ioredis },
}: { url: string; onError: (error: Error) => void } & Packages): Promise<LeaseServer> {
  const connection = new ioredis.Redis(url, connectionOptions({ onReadOnly: "fail", onError }));
  connection.on("error", onError);
  const options: QueueOptions = { connection, prefix };
  const backend = bullmq.createRedisBackend("leases", options);
  backend.on("error", onError);
  return leaseServerOn(backend, async () => connection.disconnect());
}

/** What all connections share, and those that are made from them. */
function connectionOptions({
  onReadOnly,
  onError,
}: {
  /** What becomes of a command that the server refuses because it takes no writes. */
  onReadOnly: "fail" | "resend";
  onError: (error: Error) => void;
}): RedisOptions {
  let readOnlyAt = Number.NEGATIVE_INFINITY;
  return {
    lazyConnect: true,
    connectTimeout: connectMs,
    keepAlive: 10_000,
    // The server has become a replica. By now another one may be at its address, or it may become a primary again.
    reconnectOnError: ({ message }) => {
      if (!message.includes("READONLY")) return false;
      readOnlyAt = performance.now();
      onError(new Error("This Redis takes no writes: it has become a replica. Point INBOX_URL to the primary."));
      return onReadOnly === "resend" ? 2 : 1;
    },
    // ioredis starts to count again with each connection that it gets.
    retryStrategy: (times) =>
      performance.now() - readOnlyAt < 2 * readOnlyPauseMs ? readOnlyPauseMs : Math.min(times * 50, 2_000),
  };
}

function databaseInvalid(): WebhookError {
  return optionError("The path of a redis:// URL is the number of a database, as in redis://host:6379/0.");
}

/** A server that is not there at the start is an error; afterwards it is waited for. */
function firstConnection(connection: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.connect().then(() => {
      resolve();
      connection.off("error", reject);
    }, reject);
  });
}

const notSafe = "What was acknowledged can be lost";

async function readWarnings(connection: Redis): Promise<string[]> {
  const settings = new Map<string, string>();
  try {
    for (const name of ["appendonly", "appendfsync", "save", "maxmemory-policy"]) {
      const [, value = ""] = (await connection.config("GET", name)) as string[];
      settings.set(name, value);
    }
  } catch {
    return [
      `${notSafe}, unless this Redis has "appendonly yes", "appendfsync always" and "maxmemory-policy noeviction": it does not let its settings be read.`,
    ];
  }
  const warnings: string[] = [];
  if (settings.get("appendonly") !== "yes") {
    const snapshots = settings.get("save") ? "this Redis keeps snapshots only" : "this Redis keeps nothing on its disk";
    warnings.push(`${notSafe}: ${snapshots}. Set "appendonly yes" and "appendfsync always".`);
  } else if (settings.get("appendfsync") !== "always") {
    warnings.push(`${notSafe} at a power cut: this Redis does not sync each write. Set "appendfsync always".`);
  }
  const policy = settings.get("maxmemory-policy");
  if (policy !== "noeviction") {
    warnings.push(`${notSafe}: this Redis may evict it (${policy}). Set "maxmemory-policy noeviction".`);
  }
  return warnings;
}

import type { QueueOptions } from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import { withDeadline } from "../../core/deadline.ts";
import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/option-error.ts";
import { maxOwnActions, ownActionRetentionMs } from "../own-actions.ts";
import { redisPrefix as prefix } from "./names.ts";
import type { Bullmq, Ioredis } from "./optional-packages.ts";
import {
  createLeaseServer,
  type DeliveryQueue,
  type DeliveryWorker,
  endpointsQueueName,
  type LeaseServer,
  type QueueServer,
  type QueueServerOptions,
} from "./queue-server.ts";
import { redisDiscardedJobs } from "./redis-discarded-jobs.ts";
import { inboxMissing, serverSlow, serverUnusable } from "./server-errors.ts";
import { type DeliveryJob, retryFinished } from "./stored-job.ts";

const connectMs = 5_000;

/** The pause before reconnecting to a server that rejects writes, in milliseconds. */
const readOnlyPauseMs = 1_000;

interface Packages {
  packages: { bullmq: Bullmq; ioredis: Ioredis };
}

/**
 * Connects to Redis and checks its settings.
 *
 * @param options.url `redis://` or, with TLS, `rediss://`.
 * @throws `OPTION_INVALID` if the URL path is not a database number, `INBOX_UNUSABLE` if Redis cannot be reached or used.
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
  // This connection stores and reads deliveries. Its commands fail immediately while Redis is unavailable, so that the server can
  // answer deliveries with 503.
  const commands = new ioredis.Redis(url, {
    ...connectionOptions({ onReadOnly: "fail", onError }),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: 10_000,
  });
  // Workers use this connection. Its commands wait until Redis is available again. BullMQ commands block for up to 10 s, so the
  // timeout is 30 s.
  const working = new ioredis.Redis(url, {
    ...connectionOptions({ onReadOnly: "resend", onError }),
    maxRetriesPerRequest: null,
    socketTimeout: 30_000,
  });
  const connections = [commands, working];
  // BullMQ duplicates the connection for each worker, but does not stop the duplicates from reconnecting, so `close` disconnects
  // them.
  const duplicate = working.duplicate.bind(working);
  working.duplicate = (options) => {
    const connection = duplicate(options);
    connections.push(connection);
    return connection;
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
    async checkStorage() {
      // The check writes a key, because a replica or a server without free memory or disk space still answers reads.
      await commands.set(`${prefix}:storage-check`, "", "PX", 1);
      const [seconds, microseconds] = await commands.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    },
    async replayDead(queue, jobIds) {
      const replayed = await Promise.all(
        jobIds.map(async (id) => {
          // Only one field is read, because the job can contain a large body.
          const attemptsStarted = await commands.hget(queue.toKey(id), "ats");
          if (attemptsStarted === null) return false;
          const job: DeliveryJob = new bullmq.Job(queue, "delivery", { id }, {}, id);
          job.attemptsStarted = Number(attemptsStarted);
          return retryFinished(job, "failed");
        }),
      );
      return replayed.filter(Boolean).length;
    },
    discarded: redisDiscardedJobs(commands),
    ownActions: redisOwnActions(commands),
    warnings,
    async close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** Stores keys in a sorted set, whose scores are the times of the actions. */
function redisOwnActions(commands: Redis): QueueServer["ownActions"] {
  const set = `${prefix}:own-actions`;
  return {
    async add(keys, now) {
      const results = await commands
        .multi()
        .zadd(set, ...keys.flatMap((key) => [now, key]))
        .zremrangebyscore(set, "-inf", now - ownActionRetentionMs)
        .zremrangebyrank(set, 0, -maxOwnActions - 1)
        .exec();
      for (const [error] of results ?? []) if (error) throw error;
    },
    async find(keys) {
      const scores = await commands.zmscore(set, ...keys);
      return new Set(keys.filter((_, index) => scores[index] != null));
    },
  };
}

/** Opens a connection to Redis that renews leases. */
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
  return createLeaseServer(backend, async () => connection.disconnect());
}

/** Returns the options for a connection and its duplicates. */
function connectionOptions({
  onReadOnly,
  onError,
}: {
  /** Whether a command fails or is sent again after Redis rejected the command because Redis is read-only. */
  onReadOnly: "fail" | "resend";
  onError: (error: Error) => void;
}): RedisOptions {
  let readOnlyAt = Number.NEGATIVE_INFINITY;
  return {
    lazyConnect: true,
    connectTimeout: connectMs,
    keepAlive: 10_000,
    // A failover can make this server a replica. The connection is opened again, because the host name may now point to the new
    // primary.
    reconnectOnError: ({ message }) => {
      if (!message.includes("READONLY")) return false;
      readOnlyAt = performance.now();
      onError(
        new Error("The Redis server at INBOX_URL is a replica and rejects writes. Set INBOX_URL to the primary."),
      );
      return onReadOnly === "resend" ? 2 : 1;
    },
    // Each successful connection resets `times`, even a connection to a replica, so the pause depends on `readOnlyAt`.
    retryStrategy: (times) =>
      performance.now() - readOnlyAt < 2 * readOnlyPauseMs ? readOnlyPauseMs : Math.min(times * 50, 2_000),
  };
}

function databaseInvalid(): WebhookError {
  return optionError("The path of a redis:// URL must be a database number, as in redis://host:6379/0.");
}

/** Connects once, and rejects if Redis is unavailable. Otherwise, ioredis would keep reconnecting. */
function firstConnection(connection: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.connect().then(resolve, reject);
  });
}

const mayLose = "Accepted deliveries can be lost";

/** Checks Redis settings. Returns a warning for each setting that can cause the loss of accepted deliveries. */
async function readWarnings(connection: Redis): Promise<string[]> {
  const settings = new Map<string, string>();
  try {
    for (const name of ["appendonly", "appendfsync", "save", "maxmemory-policy"]) {
      const [, value = ""] = (await connection.config("GET", name)) as string[];
      settings.set(name, value);
    }
  } catch {
    return [
      `${mayLose}: the settings of Redis cannot be read. Make sure that Redis uses "appendonly yes", "appendfsync always", and "maxmemory-policy noeviction".`,
    ];
  }
  const warnings: string[] = [];
  if (settings.get("appendonly") !== "yes") {
    const snapshots = settings.get("save") ? "Redis only saves snapshots" : "Redis does not save data to disk";
    warnings.push(`${mayLose}: ${snapshots}. Set "appendonly yes" and "appendfsync always".`);
  } else if (settings.get("appendfsync") !== "always") {
    warnings.push(`${mayLose} in a power failure: Redis does not sync each write to disk. Set "appendfsync always".`);
  }
  const policy = settings.get("maxmemory-policy");
  if (policy !== "noeviction") {
    warnings.push(`${mayLose}: Redis may evict keys (maxmemory-policy ${policy}). Set "maxmemory-policy noeviction".`);
  }
  return warnings;
}

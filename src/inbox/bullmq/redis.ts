import type { IQueueBackend, QueueOptions } from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/options.ts";
import { withDeadline } from "../../core/time.ts";
import { loadPackages } from "../errors.ts";
import { type Cursors, maxOwnActions, type OwnActions, ownActionRetentionMs } from "../inbox.ts";
import {
  type DeliveryQueue,
  type DeliveryWorker,
  endpointsQueueName,
  inboxMissing,
  maxSkewMs,
  redisPrefix as prefix,
  type QueueServer,
  type QueueServerOptions,
  serverSlow,
  serverUnusable,
} from "./queue-server.ts";
import { type DeliveryJob, type JobResult, retryFinished } from "./stored-job.ts";

/*
 * BullMQ keeps the jobs of ignored deliveries in its list of completed jobs, with `ignored` as their result. A sorted set of each queue
 * contains the IDs of these jobs, so that they can be counted and listed.
 */

const ignoredSet = "ignored";

/**
 * Keys: the sorted set and the jobs. Arguments: the IDs of the jobs. Skips jobs that a worker has claimed since they were queued again,
 * because the worker updates the set.
 */
const forgetIgnoredScript = `
  for index, id in ipairs(ARGV) do
    if redis.call("HEXISTS", KEYS[index + 1], "processedOn") == 0 then redis.call("ZREM", KEYS[1], id) end
  end
`;

/**
 * Makes a processor update the sorted set of its queue before BullMQ completes the job. If the process crashes in between, the next
 * claim of the job finds the outcome in its history, and ends in the same way.
 */
function trackIgnored(
  queueName: string,
  { working, process }: { working: Redis; process: (job: DeliveryJob) => Promise<JobResult> },
): (job: DeliveryJob) => Promise<JobResult> {
  const set = `${prefix}:${queueName}:${ignoredSet}`;
  return async (job) => {
    const { id = "", attemptsStarted } = job;
    if (attemptsStarted > 1) await working.zrem(set, id);
    const result = await process(job);
    if (result === "ignored") await working.zadd(set, Date.now(), id);
    return result;
  };
}

const connectMs = 5_000;

const readOnlyPauseMs = 1_000;

function loadRedis() {
  return loadPackages(["bullmq", "ioredis"], async (bullmq, ioredis) => ({
    bullmq: (await import(bullmq)) as typeof import("bullmq"),
    ioredis: (await import(ioredis)) as typeof import("ioredis"),
  }));
}

/**
 * Connects to Redis and checks its settings.
 *
 * @param options.url `redis://` or, with TLS, `rediss://`.
 * @throws `OPTION_INVALID` if the URL path is not a database number, `INBOX_UNUSABLE` if a package is not installed, or Redis cannot be
 *   reached or used.
 */
export async function connectRedis(options: QueueServerOptions): Promise<QueueServer> {
  const { url, mustExist, startMs, now, onError } = options;
  const { bullmq, ioredis } = await loadRedis();
  const database = new URL(url).pathname.slice(1);
  if (!/^\d*$/.test(database)) {
    throw optionError("The path of a redis:// URL must be a database number, as in redis://host:6379/0.");
  }
  // This connection stores and reads deliveries. Its commands fail immediately while Redis is unavailable, so that the server can
  // answer deliveries with 503.
  const commands = new ioredis.Redis(url, {
    ...connectionOptions("fail", onError),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: 10_000,
  });
  // Workers use this connection. Its commands wait until Redis is available again. BullMQ commands block for up to 10 s, so the
  // timeout is 30 s.
  const working = new ioredis.Redis(url, {
    ...connectionOptions("resend", onError),
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
    errors: bullmq,
    openQueue: (name): DeliveryQueue => {
      const queue: DeliveryQueue = new bullmq.Queue(name, { connection: commands, prefix });
      queue.on("error", onError);
      return queue;
    },
    openWorker: (name, process, options): DeliveryWorker =>
      new bullmq.Worker(name, trackIgnored(name, { working, process }), { ...options, connection: working, prefix }),
    async checkStorage() {
      // The check writes a key, because a replica or a server without free memory or disk space still answers reads.
      const key = `${prefix}:storage`;
      const [, checks, identity, [seconds, microseconds]] = await Promise.all([
        commands.hsetnx(key, "identity", crypto.randomUUID()),
        commands.hincrby(key, "checks", 1),
        commands.hget(key, "identity"),
        commands.time(),
      ]);
      const time = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
      return { time, history: { identity: identity ?? "", checks } };
    },
    correctTimes: (queue, leaseMs) => correctTimes(commands, queue, { now: now(), leaseMs }),
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
    async discard(queue, jobId) {
      const keys = ["wait", "delayed", "failed", discardedList, jobId].map((name) => queue.toKey(name));
      return Number(await commands.eval(discardScript, keys.length, ...keys, jobId, now())) === 1;
    },
    async failDiscarded(queue, jobId) {
      const keys = [discardedList, "failed"].map((name) => queue.toKey(name));
      await commands.eval(failDiscardedScript, keys.length, ...keys, jobId);
    },
    async emptyFinished(queue, jobId, data) {
      const keys = [jobId, `${jobId}:logs`].map((name) => queue.toKey(name));
      return (await commands.eval(emptyFinishedScript, keys.length, ...keys, JSON.stringify(data))) === 1;
    },
    countIgnored: (queue) => commands.zcard(queue.toKey(ignoredSet)),
    async forgetIgnored(queue, jobIds) {
      const keys = [ignoredSet, ...jobIds].map((name) => queue.toKey(name));
      await commands.eval(forgetIgnoredScript, keys.length, ...keys, ...jobIds);
    },
    listJobs: (queue, list, from, until) => commands.zrevrange(queue.toKey(list), from, until),
    ownActions: redisOwnActions(commands, now),
    cursors: redisCursors(commands),
    warnings,
    async close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** BullMQ multiplies the due times of delayed jobs by this number to keep their order. */
const scoreFactor = 4_096;
const delayedBatch = 500;

async function correctTimes(
  commands: Redis,
  queue: DeliveryQueue,
  { now, leaseMs }: { now: number; leaseMs: number },
): Promise<void> {
  // Redis stores when a key expires by its own clock. After the clock was set back, the lease of a process that is gone
  // would last longer, and so would the pause before BullMQ looks for such leases.
  const leases = (await commands.lrange(queue.toKey("active"), 0, -1)).map((id) => queue.toKey(`${id}:lock`));
  for (const key of [queue.toKey("stalled-check"), ...leases]) {
    if ((await commands.pttl(key)) > leaseMs) await commands.pexpire(key, leaseMs);
  }
  const delayed = queue.toKey("delayed");
  const later = await commands.zrangebyscore(delayed, now * scoreFactor, "+inf", "WITHSCORES");
  for (let from = 0; from < later.length; from += 2 * delayedBatch) {
    const batch = later.slice(from, from + 2 * delayedBatch);
    const jobs = batch.flatMap((id, index) =>
      index % 2 === 0 ? [{ id, dueAt: Number(batch[index + 1]) / scoreFactor }] : [],
    );
    const delays = await Promise.all(jobs.map(({ id }) => commands.hget(queue.toKey(id), "delay")));
    const wrong = jobs.flatMap(({ id, dueAt }, index) => {
      const delay = Number(delays[index]);
      return dueAt - delay > now + maxSkewMs ? [(now + delay) * scoreFactor, id] : [];
    });
    if (wrong.length === 0) continue;
    await commands.zadd(delayed, "XX", ...wrong);
    // The marker wakes a worker that waits for the wrong time.
    await commands.zadd(queue.toKey("marker"), 0, "0");
  }
}

/** Stores keys in a sorted set, whose scores are the times of the actions. */
function redisOwnActions(commands: Redis, now: () => number): OwnActions {
  const set = `${prefix}:own-actions`;
  return {
    async add(keys) {
      const time = now();
      const results = await commands
        .multi()
        .zadd(set, ...keys.flatMap((key) => [time, key]))
        .zremrangebyscore(set, "-inf", time - ownActionRetentionMs)
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

/** Takes, renews, or returns a claim in one step, so that two processes never have it at the same time. */
const claimScript = `
  local holder = redis.call("GET", KEYS[1])
  if holder and holder ~= ARGV[1] then return 0 end
  if ARGV[2] == "0" then redis.call("DEL", KEYS[1]) else redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) end
  return 1
`;

/** Stores the cursors of an endpoint in a hash, and each claim in a key that expires. */
function redisCursors(commands: Redis): Cursors {
  const hashOf = (endpoint: string) => `${prefix}:cursors:${endpoint}`;
  return {
    get: async (endpoint, key) => (await commands.hget(hashOf(endpoint), key)) ?? undefined,
    list: async (endpoint) => new Map(Object.entries(await commands.hgetall(hashOf(endpoint)))),
    set: async (endpoint, texts) => void (await commands.hset(hashOf(endpoint), texts)),
    async claim({ key, holder, forMs }) {
      return (await commands.eval(claimScript, 1, `${prefix}:cursor-claim:${key}`, holder, forMs)) === 1;
    },
  };
}

export async function openRedisLeases(url: string, onError: (error: Error) => void): Promise<IQueueBackend> {
  const { bullmq, ioredis } = await loadRedis();
  const connection = new ioredis.Redis(url, connectionOptions("fail", onError));
  connection.on("error", onError);
  const options: QueueOptions = { connection, prefix };
  const backend = bullmq.createRedisBackend("leases", options);
  backend.on("error", onError);
  return Object.assign(backend, { close: async () => connection.disconnect() });
}

/**
 * Returns the options for a connection and its duplicates. `onReadOnly`: whether a command fails or is sent again after Redis rejected
 * it because Redis is read-only.
 */
function connectionOptions(onReadOnly: "fail" | "resend", onError: (error: Error) => void): RedisOptions {
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

/** Connects once, and rejects if Redis is unavailable. Otherwise, ioredis would keep reconnecting. */
function firstConnection(connection: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.connect().then(resolve, reject);
  });
}

const mayLose = "Accepted deliveries can be lost";

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

/* BullMQ has no method that moves a job between these lists, so scripts do it. */

const discardedList = "waiting-children";

/** Keys: the lists of waiting, delayed, failed, and discarded jobs, and the job. Arguments: the job's ID and the time. */
const discardScript = `
  local removed = redis.call("LREM", KEYS[1], 1, ARGV[1])
  if removed == 0 then removed = redis.call("ZREM", KEYS[2], ARGV[1]) end
  if removed == 0 then removed = redis.call("ZREM", KEYS[3], ARGV[1]) end
  if removed == 0 then return 0 end
  redis.call("ZADD", KEYS[4], ARGV[2], ARGV[1])
  redis.call("HSET", KEYS[5], "finishedOn", ARGV[2], "delay", 0)
  return 1
`;

/** Keys: the lists of discarded and failed jobs. Arguments: the job's ID. */
const failDiscardedScript = `
  local time = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if time then
    redis.call("ZREM", KEYS[1], ARGV[1])
    redis.call("ZADD", KEYS[2], time, ARGV[1])
  end
`;

/** Keys: the job and its log. Arguments: the new data. */
const emptyFinishedScript = `
  if redis.call("HEXISTS", KEYS[1], "finishedOn") == 0 then return 0 end
  redis.call("HSET", KEYS[1], "data", ARGV[1])
  redis.call("DEL", KEYS[2])
  return 1
`;

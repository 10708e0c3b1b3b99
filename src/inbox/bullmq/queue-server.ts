import type { IQueueBackend, Queue, WorkerOptions } from "bullmq";
import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { loadPackages } from "../errors.ts";
import type { HeldLease } from "./lease-renewer.ts";
import type { DeliveryJob, JobData, JobResult } from "./stored-job.ts";

/** The prefix of all Redis keys of the inbox. */
export const redisPrefix = "hub-webhooks";

/** The PostgreSQL schema that contains all tables of the inbox. */
export const postgresSchema = "hub_webhooks";

/** The maximum tolerated difference between two clocks. */
export const maxSkewMs = 5_000;

/** The name of the queue of `StoredEndpoints`. No endpoint can have this name. */
export const endpointsQueueName = "#endpoints";

/** A BullMQ queue that contains the deliveries of one endpoint. */
export type DeliveryQueue = Queue<JobData, JobResult, string, JobData, JobResult, string, IQueueBackend, unknown>;

/** The options of a BullMQ worker, without its connection. */
type DeliveryWorkerOptions = Omit<WorkerOptions, "connection" | "prefix">;

/** The part of a BullMQ worker that the inbox uses. */
export interface DeliveryWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "completed", listener: (job: DeliveryJob) => void): unknown;
  on(event: "failed", listener: (job: DeliveryJob | undefined) => void): unknown;
  getBackend(): Pick<IQueueBackend, "getJobLogs" | "extendLocks" | "getState">;
  isRunning(): boolean;
  close(): Promise<void>;
}

/** The discarded jobs of a queue. */
export interface DiscardedJobs {
  /**
   * Discards a job that is waiting, delayed, or failed. `now` is in milliseconds since the epoch. Returns `false` if the job is in
   * another state.
   */
  add(queue: DeliveryQueue, jobId: string, now: number): Promise<boolean>;
  /** Marks a discarded job as failed. Has no effect if the job is in another state. */
  markFailed(queue: DeliveryQueue, jobId: string): Promise<void>;
  /** Returns the IDs in a range of the discarded jobs, newest first. `until` is included. */
  list(queue: DeliveryQueue, from: number, until: number): Promise<string[]>;
}

/** The completed jobs of a queue whose deliveries were ignored. */
export interface IgnoredJobs {
  count(queue: DeliveryQueue): Promise<number>;
  /** Returns the IDs in a range of the jobs, newest first. `until` is included. */
  list(queue: DeliveryQueue, from: number, until: number): Promise<string[]>;
  /** Called after jobs were removed or queued again. */
  forget(queue: DeliveryQueue, jobIds: readonly string[]): Promise<void>;
}

/** The state of the inbox server, which changes with each storage check of each process. */
export interface StorageHistory {
  /** A random ID, which the first check on an empty server sets. */
  identity: string;
  /** The number of checks so far. */
  checks: number;
}

/** A connection to the Redis or PostgreSQL server that stores the queues. */
export interface QueueServer {
  openQueue(name: string): DeliveryQueue;
  openWorker(
    name: string,
    process: (job: DeliveryJob, token?: string) => Promise<JobResult>,
    options: DeliveryWorkerOptions,
  ): DeliveryWorker;
  /**
   * Checks that the server can store deliveries. Returns the server's time, in milliseconds since the epoch, and the state of the
   * server unless the inbox was opened with `mustExist`. Calls must not overlap.
   *
   * @throws if the server cannot store deliveries.
   */
  checkStorage(): Promise<{ time: number; history?: StorageHistory }>;
  /**
   * Corrects the times of a queue after a clock was set back. The wait of a delayed job that was set in the future starts
   * again, and a lease that is not renewed ends after `leaseMs` milliseconds. `now` is in milliseconds since the epoch.
   */
  correctTimes(queue: DeliveryQueue, options: { now: number; leaseMs: number }): Promise<void>;
  /** Queues dead jobs again and records the replays in their logs. Returns the number of jobs that were still dead. */
  replayDead(queue: DeliveryQueue, jobIds: readonly string[]): Promise<number>;
  /** Moves jobs to and from the list of discarded jobs, which BullMQ calls `waiting-children` and uses for no other jobs of the inbox. */
  readonly discarded: DiscardedJobs;
  readonly ignored: IgnoredJobs;
  /** The changes on the Hub that servers of this inbox made: see `OwnActions`. */
  readonly ownActions: {
    /** Adds keys, and removes old keys. `now` is in milliseconds since the epoch. */
    add(keys: readonly string[], now: number): Promise<void>;
    find(keys: readonly string[]): Promise<ReadonlySet<string>>;
  };
  /** Warnings about server settings that can cause the loss of accepted deliveries. Each warning contains the setting to change. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** A connection that only renews leases. */
export interface LeaseServer {
  /** Renews leases. Ignores leases that are no longer held. */
  extendLocks(endpoint: string, leases: readonly HeldLease[], leaseMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface QueueServerOptions {
  url: string;
  /** Whether to fail if the inbox does not exist, instead of creating it. */
  mustExist: boolean;
  /** The timeout for connecting to the server and preparing it. */
  startMs: number;
  /** Called with each connection or queue error. */
  onError: (error: Error) => void;
}

/** Creates a {@link LeaseServer} from a BullMQ backend. */
export function createLeaseServer(backend: IQueueBackend, close: () => Promise<void>): LeaseServer {
  return {
    async extendLocks(endpoint, leases, leaseMs) {
      const [ids, tokens] = [leases.map(({ jobId }) => jobId), leases.map(({ token }) => token)];
      await backend.forQueue(endpoint).extendLocks(ids, tokens, leaseMs);
    },
    close,
  };
}

/**
 * Opens a queue. If its first connection fails, closes the queue, because it would stay unusable.
 *
 * @param onFailed called if the first connection fails. The caller must then open the queue again.
 */
export function openQueue(server: QueueServer, name: string, onFailed: () => void): DeliveryQueue {
  const queue = server.openQueue(name);
  queue.waitUntilReady().catch(() => {
    onFailed();
    queue.close().catch(() => {});
  });
  return queue;
}

export type Bullmq = typeof import("bullmq");
export type Ioredis = typeof import("ioredis");
export type Pg = typeof import("pg");

/**
 * Loads BullMQ and the Redis client.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export function loadRedisPackages(): Promise<{ bullmq: Bullmq; ioredis: Ioredis }> {
  return loadPackages(["bullmq", "ioredis"], async (bullmq, ioredis) => ({
    bullmq: await import(bullmq),
    ioredis: await import(ioredis),
  }));
}

/**
 * Loads BullMQ and the PostgreSQL client.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export function loadPostgresPackages(): Promise<{ bullmq: Bullmq; pg: Pg }> {
  return loadPackages(["bullmq", "pg"], async (bullmq, pg) => ({ bullmq: await import(bullmq), pg: await import(pg) }));
}

/** Returns the error for an inbox that does not exist and must not be created. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return new WebhookError(
    `There is no inbox at ${protocol}//${host}${pathname}. Set INBOX_URL to the inbox of the server. The server creates the inbox when it first starts.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/**
 * Returns the error for an inbox server that cannot be reached or used. The message does not contain the password of the URL.
 *
 * @param options.hint an additional remedy.
 */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "Check INBOX_URL, and check that the inbox server is running and reachable from this machine.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}). ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

/** Returns the error for an inbox server that was not ready in time. */
export function serverSlow(): Error {
  return Object.assign(new Error("the inbox server did not respond in time"), { code: "ETIMEDOUT" });
}

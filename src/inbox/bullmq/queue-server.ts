import type { IQueueBackend, Processor, Queue, WorkerOptions } from "bullmq";
import type { HeldLease } from "./lease-renewer.ts";
import type { DeliveryJob, JobData } from "./stored-job.ts";

/** The name of the queue of `StoredEndpoints`. No endpoint can have this name. */
export const endpointsQueueName = "#endpoints";

/** A BullMQ queue that contains the deliveries of one endpoint. */
export type DeliveryQueue = Queue<JobData, undefined, string, JobData, undefined, string, IQueueBackend, unknown>;

/** The options of a BullMQ worker, without its connection. */
export type DeliveryWorkerOptions = Omit<WorkerOptions, "connection" | "prefix">;

/** The part of a BullMQ worker that the inbox uses. */
export interface DeliveryWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "lockRenewalFailed", listener: (jobIds: string[]) => void): unknown;
  on(event: "completed", listener: (job: DeliveryJob) => void): unknown;
  on(event: "failed", listener: (job: DeliveryJob | undefined) => void): unknown;
  getBackend(): Pick<IQueueBackend, "getJobLogs">;
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

/** A connection to the Redis or PostgreSQL server that stores the queues. */
export interface QueueServer {
  openQueue(name: string): DeliveryQueue;
  openWorker(
    name: string,
    process: Processor<JobData, undefined, string>,
    options: DeliveryWorkerOptions,
  ): DeliveryWorker;
  /**
   * Checks that the server can store deliveries. Returns the server's time, in milliseconds since the epoch.
   *
   * @throws if the server cannot store deliveries.
   */
  checkStorage(): Promise<number>;
  /** Queues dead jobs again and records the replays in their logs. Returns the number of jobs that were still dead. */
  replayDead(queue: DeliveryQueue, jobIds: readonly string[]): Promise<number>;
  /** Moves jobs to and from the list of discarded jobs, which BullMQ calls `waiting-children` and uses for no other jobs of the inbox. */
  readonly discarded: DiscardedJobs;
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
  /** The timeout for connecting to the server and preparing it, in milliseconds. */
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

import type { IQueueBackend, Processor, Queue, WorkerOptions } from "bullmq";
import type { HeldLease } from "./lease-renewer.ts";
import type { JobData } from "./stored-job.ts";

/** The queue with one job per endpoint, which no worker processes. No endpoint can have this name. */
export const endpointsQueueName = "#endpoints";

/** The BullMQ queue with the deliveries of one endpoint. */
export type DeliveryQueue = Queue<JobData, undefined, string, JobData, undefined, string, IQueueBackend, unknown>;

/** The options of a worker, except for its connection. */
export type DeliveryWorkerOptions = Omit<WorkerOptions, "connection" | "prefix">;

/** The part of a BullMQ worker that the inbox uses. */
export interface DeliveryWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "lockRenewalFailed", listener: (jobIds: string[]) => void): unknown;
  getBackend(): Pick<IQueueBackend, "getJobLogs">;
  isRunning(): boolean;
  close(): Promise<void>;
}

/** A connected Redis or PostgreSQL, which stores the queues. */
export interface QueueServer {
  openQueue(name: string): DeliveryQueue;
  openWorker(
    name: string,
    process: Processor<JobData, undefined, string>,
    options: DeliveryWorkerOptions,
  ): DeliveryWorker;
  /**
   * Checks that the server can store deliveries. Returns its clock, in milliseconds since the epoch.
   *
   * @throws if the server cannot store deliveries now.
   */
  checkStorage(): Promise<number>;
  /** Queues dead jobs again, and records the replay in their logs. Returns how many of them were still dead. */
  replayDead(queue: DeliveryQueue, jobIds: readonly string[]): Promise<number>;
  /** Settings of the server that may lose acknowledged deliveries, with the setting to change. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** A connection that only renews leases. */
export interface LeaseServer {
  /** Renews leases. Ignores those that are no longer held. */
  extendLocks(endpoint: string, leases: readonly HeldLease[], leaseMs: number): Promise<void>;
  close(): Promise<void>;
}

/** How to connect to a server. */
export interface QueueServerOptions {
  url: string;
  /** Whether to fail if there is no inbox yet, instead of creating it. */
  mustExist: boolean;
  /** The maximum time to connect and to prepare the server, in milliseconds. */
  startMs: number;
  /** Called each time the connection fails. */
  onError: (error: Error) => void;
}

/** Creates a {@link LeaseServer} from a backend of BullMQ. */
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
 * Opens a queue. If its first connection fails, the queue stays unusable.
 *
 * @param onFailed called then, so that the caller opens another queue.
 */
export function openQueue(server: QueueServer, name: string, onFailed: () => void): DeliveryQueue {
  const queue = server.openQueue(name);
  queue.waitUntilReady().catch(() => {
    onFailed();
    queue.close().catch(() => {});
  });
  return queue;
}

import type { IQueueBackend, Processor, Queue, WorkerOptions } from "bullmq";
import type { HeldLease } from "./lease-renewer.ts";
import type { JobData } from "./stored-job.ts";

/** The queue that holds the name of each endpoint as a job that nobody works on. No endpoint can be called that. */
export const registryName = "#endpoints";

/** Where the deliveries of one endpoint are, and what BullMQ does with them. */
export type DeliveryQueue = Queue<JobData, undefined, string, JobData, undefined, string, IQueueBackend, unknown>;

/** What a worker needs beside its connection. */
export type DeliveryWorkerOptions = Omit<WorkerOptions, "connection" | "prefix">;

/** What works on the deliveries of one endpoint: as much of a worker of BullMQ as is needed here. */
export interface DeliveryWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "lockRenewalFailed", listener: (jobIds: string[]) => void): unknown;
  getBackend(): Pick<IQueueBackend, "getJobLogs">;
  isRunning(): boolean;
  close(): Promise<void>;
}

/** The server that keeps the queues: Redis or PostgreSQL, reached and checked. */
export interface QueueServer {
  openQueue(name: string): DeliveryQueue;
  openWorker(
    name: string,
    process: Processor<JobData, undefined, string>,
    options: DeliveryWorkerOptions,
  ): DeliveryWorker;
  /**
   * Writes what an arrival would need, and reads the server's clock, in milliseconds since the epoch.
   *
   * @throws when the server could not take a delivery now.
   */
  probe(): Promise<number>;
  /** Moves these dead jobs back into the queue, and notes the replay in their logs. Returns how many were still dead. */
  replayDead(queue: DeliveryQueue, jobIds: readonly string[]): Promise<number>;
  /** What in its settings may lose what was acknowledged, with the setting to change. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** A connection for nothing but to renew leases. */
export interface LeaseServer {
  /** Renews what is still held; what is not is left alone. */
  extendLocks(endpoint: string, leases: readonly HeldLease[], leaseMs: number): Promise<void>;
  close(): Promise<void>;
}

/** How to reach a server. */
export interface QueueServerOptions {
  url: string;
  /** Whether to fail where there is no inbox yet, in place of making one. */
  mustExist: boolean;
  /** How long the server may take until it can be used, in milliseconds. */
  startMs: number;
  /** Called when the connection fails, and again each time it fails anew. */
  onError: (error: Error) => void;
}

/** Renews leases by way of a backend of BullMQ. */
export function leaseServerOn(backend: IQueueBackend, close: () => Promise<void>): LeaseServer {
  return {
    async extendLocks(endpoint, leases, leaseMs) {
      const [ids, tokens] = [leases.map(({ jobId }) => jobId), leases.map(({ token }) => token)];
      await backend.forQueue(endpoint).extendLocks(ids, tokens, leaseMs);
    },
    close,
  };
}

/** Opens a queue. One that cannot reach the server at first fails forever, so it is let go, and the next caller gets another. */
export function openQueue(server: QueueServer, name: string, letGo: () => void): DeliveryQueue {
  const queue = server.openQueue(name);
  queue.waitUntilReady().catch(() => {
    letGo();
    queue.close().catch(() => {});
  });
  return queue;
}

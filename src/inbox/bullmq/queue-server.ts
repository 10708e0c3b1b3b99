import type { IQueueBackend, Processor, Queue, WorkerOptions } from "bullmq";
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
  /** What in its settings may lose what was acknowledged, with the setting to change. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** How to reach a server. */
export interface QueueServerOptions {
  url: string;
  /** Whether to fail where there is no inbox yet, in place of making one. */
  mustExist: boolean;
  /** Told when the connection fails, and again each time it fails anew. */
  onError: (error: Error) => void;
}

import type { IQueueBackend, Processor, Queue, WorkerOptions } from "bullmq";
import { describeError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { HeldLease } from "./lease-renewer.ts";
import type { JobData } from "./stored-job.ts";

/** The queue that holds the name of each endpoint as a job that nobody works on. No endpoint can be called that. */
export const endpointsQueueName = "#endpoints";

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
export function openQueue(server: QueueServer, name: string, onFailed: () => void): DeliveryQueue {
  const queue = server.openQueue(name);
  queue.waitUntilReady().catch(() => {
    onFailed();
    queue.close().catch(() => {});
  });
  return queue;
}

/**
 * Waits for a promise, but no longer than `ms`. What the promise throws after that is ignored.
 *
 * @throws `late()` when the time is over.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(late()), ms);
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A server that has no inbox yet, told to whoever only wants to look into one. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return new WebhookError(
    `There is no inbox at ${protocol}//${host}${pathname}: name the server's own by its URL (INBOX_URL). A server makes it at its first start.`,
    { code: "INBOX_UNUSABLE" },
  );
}

/**
 * A server that cannot be reached, or not be used; the URL's password is not shown.
 *
 * @param options.hint what else to check.
 */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "check INBOX_URL, and that the server runs and can be reached from here.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}): ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

/** A server that took too long to be ready. */
export function serverSlow(): Error {
  return Object.assign(new Error("it does not answer in time"), { code: "ETIMEDOUT" });
}

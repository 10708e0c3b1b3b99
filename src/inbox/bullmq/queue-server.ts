import type { IQueueBackend, Queue, WorkerOptions } from "bullmq";
import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { noInbox } from "../errors.ts";
import type { Cursors, OwnActions } from "../inbox.ts";
import { defaultRetention, type Retention } from "../retry.ts";
import { type DeliveryJob, type JobData, type JobResult, jobIdOf } from "./stored-job.ts";

export const redisPrefix = "hub-webhooks";

export const postgresSchema = "hub_webhooks";

export const maxSkewMs = 5_000;

/** The name of the queue of `StoredEndpoints`. No endpoint can have this name. */
export const endpointsQueueName = "#endpoints";

/** A BullMQ queue that contains the deliveries of one endpoint. */
export type DeliveryQueue = Queue<JobData, JobResult, string, JobData, JobResult, string, IQueueBackend, unknown>;

/** The part of a BullMQ worker that the inbox uses. */
export interface DeliveryWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "completed", listener: (job: DeliveryJob) => void): unknown;
  on(event: "failed", listener: (job: DeliveryJob | undefined) => void): unknown;
  getBackend(): Pick<IQueueBackend, "getJobLogs" | "extendLocks" | "getState">;
  isRunning(): boolean;
  close(): Promise<void>;
}

/** The state of the inbox server, which changes with each storage check of each process. */
export interface StorageHistory {
  /** A random ID, which the first check on an empty server sets. */
  identity: string;
  checks: number;
}

/** A connection to the Redis or PostgreSQL server that stores the queues. */
export interface QueueServer {
  /** The errors that a job processor throws to report that a job was queued again, was delayed, or must be marked as failed. */
  readonly errors: Pick<typeof import("bullmq"), "WaitingError" | "DelayedError" | "UnrecoverableError">;
  openQueue(name: string): DeliveryQueue;
  openWorker(
    name: string,
    process: (job: DeliveryJob) => Promise<JobResult>,
    options: Omit<WorkerOptions, "connection" | "prefix">,
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
   * again, and a lease that is not renewed ends after `leaseMs` milliseconds.
   */
  correctTimes(queue: DeliveryQueue, leaseMs: number): Promise<void>;
  /** Queues dead jobs again and records the replays in their logs. Returns the number of jobs that were still dead. */
  replayDead(queue: DeliveryQueue, jobIds: readonly string[]): Promise<number>;
  /**
   * Discards a job that is waiting, delayed, or failed: moves it to the list `waiting-children`, which BullMQ uses for no other jobs of
   * the inbox. Returns `false` if the job is in another state.
   */
  discard(queue: DeliveryQueue, jobId: string): Promise<boolean>;
  /** Marks a discarded job as failed. Has no effect if the job is in another state. */
  failDiscarded(queue: DeliveryQueue, jobId: string): Promise<void>;
  /** Replaces the data of a job, and removes its log. Returns `false` without a change if the job was queued again. */
  emptyFinished(queue: DeliveryQueue, jobId: string, data: JobData): Promise<boolean>;
  countIgnored(queue: DeliveryQueue): Promise<number>;
  /** Called after completed jobs were removed or queued again. */
  forgetIgnored(queue: DeliveryQueue, jobIds: readonly string[]): Promise<void>;
  /** Returns the IDs in a range of the ignored or discarded jobs, newest first. `until` is included. */
  listJobs(queue: DeliveryQueue, list: "ignored" | "waiting-children", from: number, until: number): Promise<string[]>;
  readonly ownActions: OwnActions;
  readonly cursors: Cursors;
  /** Warnings about server settings that can cause the loss of accepted deliveries. Each warning contains the setting to change. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export interface QueueServerOptions {
  url: string;
  mustExist: boolean;
  startMs: number;
  now: () => number;
  onError: (error: Error) => void;
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

/** Returns the error for a URL without an inbox, without the password of the URL. */
export function inboxMissing(url: string): WebhookError {
  const { protocol, host, pathname } = new URL(url);
  return noInbox(`at ${protocol}//${host}${pathname}`);
}

/** Returns the error for a server that cannot be used, without the password of the URL. `hint`: an additional remedy. */
export function serverUnusable({ url, cause, hint }: { url: string; cause: unknown; hint?: string }): WebhookError {
  const { protocol, host } = new URL(url);
  const { message, name } = describeError(cause);
  const advice = "Check INBOX_URL, and check that the inbox server is running and reachable from this machine.";
  return new WebhookError(
    `The inbox at ${protocol}//${host} cannot be opened (${message || name}). ${[advice, hint].join(" ").trimEnd()}`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

export function serverSlow(): Error {
  return Object.assign(new Error("the inbox server did not respond in time"), { code: "ETIMEDOUT" });
}

/** Stores the names and retention periods of all endpoints in the inbox. Each endpoint is a job that no worker processes. */
export class StoredEndpoints {
  readonly #server: QueueServer;
  readonly #added = new Map<string, Promise<unknown>>();
  #queue: DeliveryQueue | undefined;

  constructor(server: QueueServer) {
    this.#server = server;
    // Opening the queue here makes the first delivery faster.
    this.#open();
  }

  /** Stores the name of an endpoint, so that all processes that use this inbox can find the endpoint. */
  add(endpoint: string): Promise<unknown> {
    let added = this.#added.get(endpoint);
    if (!added) {
      const data = { id: endpoint, body: "" };
      added = this.#open().add("endpoint", data, { jobId: jobIdOf(endpoint) });
      added.catch(() => this.#added.delete(endpoint));
      this.#added.set(endpoint, added);
    }
    return added;
  }

  /** Stores the retention of an endpoint for processes that do not serve the endpoint. */
  async setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): Promise<void> {
    await this.add(endpoint);
    const job = await this.#open().getJob(jobIdOf(endpoint));
    if (!job || (job.data.retentionMs === bodiesMs && job.data.idsKeptMs === idsMs)) return;
    await job.updateData({ ...job.data, retentionMs: bodiesMs, idsKeptMs: idsMs });
  }

  async has(endpoint: string): Promise<boolean> {
    return (await this.#open().getJobState(jobIdOf(endpoint))) !== "unknown";
  }

  /** Returns the retention of all endpoints by name, sorted by name. */
  async read(): Promise<ReadonlyMap<string, Retention>> {
    const jobs = await this.#open().getJobs(["wait"]);
    const endpoints = new Map(
      jobs.map(({ data: { id, retentionMs, idsKeptMs } }) => {
        const { bodiesMs, idsMs } = defaultRetention;
        return [id, { bodiesMs: retentionMs ?? bodiesMs, idsMs: idsKeptMs ?? idsMs }];
      }),
    );
    // If the data of the inbox server was deleted, the endpoints of this process are added again.
    for (const name of [...this.#added.keys()].filter((one) => !endpoints.has(one))) {
      this.#added.delete(name);
      await this.add(name);
      endpoints.set(name, defaultRetention);
    }
    return new Map([...endpoints].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  #open(): DeliveryQueue {
    this.#queue ??= openQueue(this.#server, endpointsQueueName, () => {
      this.#queue = undefined;
    });
    return this.#queue;
  }
}

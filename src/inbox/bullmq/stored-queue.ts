import { setTimeout } from "node:timers/promises";
import { WebhookError } from "../../core/errors.ts";
import { shareRun } from "../../core/time.ts";
import { deliveryRunning, deliveryUnknown, inboxFull } from "../errors.ts";
import {
  type DeliveryCounts,
  type DeliveryStatus,
  deliveryStatuses,
  type IncomingDelivery,
  type StoredDelivery,
} from "../inbox.ts";
import type { DeliveryQueue, QueueServer } from "./queue-server.ts";
import {
  bodyOf,
  type DeliveryJob,
  hasEnded,
  type JobHistory,
  jobIdOf,
  makeDue,
  readHistory,
  replayEntry,
  retryFinished,
  toJobData,
  toStoredDelivery,
} from "./stored-job.ts";

/** The BullMQ lists of each status. The list of completed jobs also contains the ignored ones, which have a list of their own too. */
const listsOf = {
  queued: ["wait", "delayed"],
  running: ["active"],
  succeeded: ["completed"],
  ignored: ["ignored"],
  dead: ["failed"],
  // The inbox uses no parent jobs, so it can keep discarded jobs in this list.
  cancelled: ["waiting-children"],
} as const;

type ListName = (typeof listsOf)[DeliveryStatus][number];

const bullmqLists = Object.values(listsOf)
  .flat()
  .filter((name) => name !== "ignored");

/** Returns the lists of a status, or all lists, in a stable order. */
export function listNames(status?: DeliveryStatus): readonly ListName[] {
  return status ? listsOf[status] : bullmqLists;
}

const statusOfState: Readonly<Record<string, DeliveryStatus>> = {
  waiting: "queued",
  delayed: "queued",
  prioritized: "queued",
  active: "running",
  completed: "succeeded",
  failed: "dead",
  "waiting-children": "cancelled",
};

/** Disables BullMQ's limit on attempts. The endpoint's retry policy limits attempts instead. */
const unlimitedAttempts = 1_000_000;
const maxReads = 5;
/** The number of deliveries per step. Steps are small, so that incoming deliveries do not have to wait. */
const removeBatch = 200;
const emptyBatch = 20;
const listBatch = 500;
const replayBatch = 100;
const maxDiscarded = 100_000;

export type StoredQueueServer = Pick<
  QueueServer,
  "replayDead" | "discard" | "failDiscarded" | "emptyFinished" | "countIgnored" | "forgetIgnored" | "listJobs"
>;

/** Stores and reads the deliveries of one endpoint, which are the jobs of one BullMQ queue. */
export class StoredQueue {
  readonly endpoint: string;
  readonly queue: DeliveryQueue;
  readonly #server: StoredQueueServer;
  readonly #backlog = new Backlog(async () => (await this.counts()).queued);
  readonly #accepting = new Map<string, Promise<unknown>>();

  constructor(endpoint: string, queue: DeliveryQueue, server: StoredQueueServer) {
    this.endpoint = endpoint;
    this.queue = queue;
    this.#server = server;
  }

  /**
   * Adds a delivery, or queues it again if it is dead. Returns whether the delivery was already stored and not dead.
   *
   * @throws `INBOX_FULL` if the endpoint has too many queued deliveries.
   */
  async add(delivery: IncomingDelivery, maxQueued: number): Promise<boolean> {
    const jobId = jobIdOf(delivery.id);
    // Calls with the same ID run one after the other, because BullMQ does not report whether it added a job or ignored a duplicate.
    const earlier = this.#accepting.get(jobId);
    const adding = (earlier?.catch(() => {}) ?? Promise.resolve()).then(() => this.#add(delivery, jobId, maxQueued));
    this.#accepting.set(jobId, adding);
    try {
      return await adding;
    } finally {
      if (this.#accepting.get(jobId) === adding) this.#accepting.delete(jobId);
    }
  }

  async #add(delivery: IncomingDelivery, jobId: string, maxQueued: number): Promise<boolean> {
    // `getJobState` would be slow here, because Redis would search the list of all queued jobs.
    const known = await this.queue.getJob(jobId);
    if (known) {
      const isDead = known.finishedOn !== undefined && (await known.isFailed());
      return isDead ? this.#revive(delivery, jobId, maxQueued) : true;
    }
    if (await this.#backlog.isFull(maxQueued)) throw inboxFull(this.endpoint);
    this.#backlog.added();
    await this.queue.add("delivery", toJobData(delivery), {
      jobId,
      timestamp: delivery.receivedAt.getTime(),
      attempts: unlimitedAttempts,
      backoff: { type: "custom" },
      // Stack traces are not needed, because the history contains the errors.
      stackTraceLimit: 0,
    });
    return false;
  }

  /** Queues a dead delivery again with the new body. Returns whether the delivery was no longer dead. */
  async #revive(delivery: IncomingDelivery, jobId: string, maxQueued: number): Promise<boolean> {
    const job = await this.queue.getJob(jobId);
    // Another process may have pruned the delivery after `#add` read it.
    if (!job) return this.#add(delivery, jobId, maxQueued);
    await job.updateData(toJobData(delivery));
    const isQueued = await retryFinished(job, "failed");
    return isQueued === undefined ? this.#add(delivery, jobId, maxQueued) : !isQueued;
  }

  async get(id: string): Promise<StoredDelivery | undefined> {
    const jobId = jobIdOf(id);
    let state = await this.queue.getJobState(jobId);
    for (let attempt = 1; ; attempt += 1) {
      const status = statusOfState[state];
      const job = status && (await this.queue.getJob(jobId));
      const stored = job && (await this.#toStored(job, status, true));
      const after = await this.queue.getJobState(jobId);
      // The job and its history are consistent only if the state did not change during the read.
      if (after === state || attempt === maxReads) return stored;
      state = after;
    }
  }

  async read(
    list: ListName,
    { from, limit, withDetails }: { from: number; limit: number; withDetails: boolean },
  ): Promise<StoredDelivery[]> {
    const until = from + limit - 1;
    let jobs: DeliveryJob[];
    if (list === "waiting-children" || list === "ignored") {
      const ids = await this.#server.listJobs(this.queue, list, from, until);
      const found = await Promise.all(ids.map((id) => this.queue.getJob(id)));
      jobs = found.filter((job) => job !== undefined);
    } else jobs = await this.queue.getJobs([list], from, until, false);
    const status = deliveryStatuses.find((name) => listsOf[name].some((one) => one === list)) ?? "queued";
    return Promise.all(jobs.map((job) => this.#toStored(job, status, withDetails)));
  }

  /** Runs a delivery again. @throws `DELIVERY_UNKNOWN` if the delivery or its body is not stored. */
  async replay(id: string): Promise<void> {
    const unknown = () => deliveryUnknown({ id, endpoint: this.endpoint });
    const job = await this.queue.getJob(jobIdOf(id));
    if (!job || bodyOf(job.data) === undefined) throw unknown();
    const state = await job.getState();
    if (state === "unknown") throw unknown();
    if (state === "completed" || state === "failed" || state === "waiting-children") {
      // A prune can have removed the body in the meantime. If it has removed the job too, the retry finds this.
      if (state !== "failed") await job.updateData(job.data).catch(() => {});
      if (state === "waiting-children") await this.#server.failDiscarded(this.queue, jobIdOf(id));
      if ((await retryFinished(job, state === "completed" ? state : "failed")) === undefined) throw unknown();
      if (state === "completed") await this.#server.forgetIgnored(this.queue, [jobIdOf(id)]);
    } else if (state === "active") await this.#replayRunning(job);
    else {
      if (job.attemptsStarted > 0) await job.log(replayEntry(job));
      if (state === "delayed") await makeDue(job, state);
    }
  }

  /** Discards a queued or dead delivery. Has no effect if it has finished. @throws `DELIVERY_UNKNOWN`, `DELIVERY_RUNNING` */
  async discard(id: string): Promise<void> {
    const key = { id, endpoint: this.endpoint };
    for (let attempt = 1; ; attempt += 1) {
      if (await this.#server.discard(this.queue, jobIdOf(id))) return;
      const status = statusOfState[await this.queue.getJobState(jobIdOf(id))];
      if (status === undefined) throw deliveryUnknown(key, "discarded");
      if (status === "succeeded" || status === "cancelled") return;
      // In the other states, the delivery was queued again in the meantime.
      if (status === "running" || attempt === maxReads) throw deliveryRunning(key);
    }
  }

  /**
   * Replays a running delivery. The process that runs the delivery finds the replay in the history when the attempt ends. If the
   * result of the attempt was already recorded, this method waits until BullMQ has finished the job, and then queues the job again.
   */
  async #replayRunning(job: DeliveryJob): Promise<void> {
    await job.log(replayEntry(job));
    const ended = hasEnded(await this.#history(job), job.attemptsStarted);
    for (let attempt = 0; ended && attempt < 100; attempt += 1) {
      const state = await job.getState();
      if (state === "failed" || state === "completed") {
        await retryFinished(job, state);
        await this.#server.forgetIgnored(this.queue, [String(job.id)]);
      }
      if (state !== "active") return;
      await setTimeout(20);
    }
  }

  async replayDead(): Promise<number> {
    // All IDs are read first, so that deliveries that fail again are not replayed a second time.
    const ids = await this.queue.getRanges(["failed"], 0, -1);
    let count = 0;
    for (let from = 0; from < ids.length; from += replayBatch) {
      count += await this.#server.replayDead(this.queue, ids.slice(from, from + replayBatch));
    }
    return count;
  }

  /** Whether at least one delivery is due and not running, and the endpoint is not paused. */
  async hasWaiting(): Promise<boolean> {
    return !(await this.queue.isPaused()) && (await this.queue.getRanges(["wait"], 0, 0)).length > 0;
  }

  async counts(): Promise<DeliveryCounts> {
    const [counts, ignored] = await Promise.all([
      this.queue.getJobCounts(...bullmqLists),
      this.#server.countIgnored(this.queue),
    ]);
    // PostgreSQL counts no waiting jobs while a queue is paused.
    const paused = counts.wait ? 0 : ((await this.queue.getCountsPerPriority([0]))["0"] ?? 0);
    const sum = (names: readonly ListName[]) => names.reduce((total, name) => total + (counts[name] ?? 0), 0);
    return {
      queued: sum(listsOf.queued) + paused,
      running: sum(listsOf.running),
      // A delivery can complete between the two counts.
      succeeded: Math.max(0, sum(listsOf.succeeded) - ignored),
      ignored,
      dead: sum(listsOf.dead),
      cancelled: sum(listsOf.cancelled),
    };
  }

  /**
   * Removes deliveries that finished before `bodiesBefore`. Keeps the IDs of succeeded, ignored, and discarded deliveries that finished
   * after `idsBefore`, to detect duplicates. Returns the number of removed deliveries.
   */
  async prune({ bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number }): Promise<number> {
    const dead = await this.#remove("failed", bodiesBefore);
    const gone = await this.#remove("completed", Math.min(bodiesBefore, idsBefore));
    const discarded = await this.#pruneDiscarded({ bodiesBefore, idsBefore });
    return dead + gone + discarded + (idsBefore < bodiesBefore ? await this.#emptyCompleted(bodiesBefore) : 0);
  }

  async #pruneDiscarded({ bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number }): Promise<number> {
    const ids = await this.#server.listJobs(this.queue, "waiting-children", 0, maxDiscarded - 1);
    let count = 0;
    for (let from = 0; from < ids.length; from += emptyBatch) {
      const step = ids.slice(from, from + emptyBatch).map(async (id) => {
        const job = await this.queue.getJob(id);
        const finishedOn = job?.finishedOn ?? Number.POSITIVE_INFINITY;
        if (finishedOn < Math.min(bodiesBefore, idsBefore)) return (await this.queue.remove(id)) > 0;
        return finishedOn < bodiesBefore && (await this.#empty(id)).isEmptied;
      });
      count += (await Promise.all(step)).filter(Boolean).length;
    }
    return count;
  }

  async #remove(list: "failed" | "completed", before: number): Promise<number> {
    for (let count = 0; ; ) {
      const removed = await this.queue.clean(Math.max(0, Date.now() - before), removeBatch, list);
      if (removed.length > 0) await this.#server.forgetIgnored(this.queue, removed);
      count += removed.length;
      if (removed.length < removeBatch) return count;
    }
  }

  /**
   * Removes the bodies of succeeded and ignored deliveries that finished before `bodiesBefore`, newest first. Stops at deliveries without
   * bodies, because older deliveries have no bodies either.
   *
   * PostgreSQL returns deliveries that finished in the same millisecond in an order that changes with each update. Each page
   * therefore starts again with all deliveries that finished in the same millisecond as the last delivery of the previous
   * page.
   */
  async #emptyCompleted(bodiesBefore: number): Promise<number> {
    let count = 0;
    let from = await this.#firstFinishedBefore(bodiesBefore);
    for (let size = listBatch; ; ) {
      const ids = await this.queue.getRanges(["completed"], from, from + size - 1, false);
      const times: (number | undefined)[] = [];
      for (let start = 0; start < ids.length; start += emptyBatch) {
        const step = await Promise.all(ids.slice(start, start + emptyBatch).map((id) => this.#empty(id)));
        const emptied = step.filter(({ isEmptied }) => isEmptied).length;
        count += emptied;
        times.push(...step.map(({ finishedOn }) => finishedOn));
        const isSameTime = times.every((time) => time === times[0]);
        if (emptied === 0 && !isSameTime) return count;
      }
      if (ids.length < size) return count;
      const firstOfLastTime = times.indexOf(times.at(-1));
      from += firstOfLastTime;
      size = firstOfLastTime > 0 ? listBatch : 2 * size;
    }
  }

  /** Removes the body and the history of a finished delivery, unless the body was already removed or the delivery was replayed. */
  async #empty(id: string): Promise<{ isEmptied: boolean; finishedOn: number | undefined }> {
    const job = await this.queue.getJob(id);
    const hasBody = job !== undefined && bodyOf(job.data) !== undefined;
    const isEmptied = hasBody && (await this.#server.emptyFinished(this.queue, id, { id: job.data.id }));
    return { isEmptied, finishedOn: job?.finishedOn };
  }

  /** Returns the position of the newest delivery that completed before a time. Uses a binary search. */
  async #firstFinishedBefore(time: number): Promise<number> {
    let low = 0;
    let high = await this.queue.getCompletedCount();
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [job] = await this.queue.getJobs(["completed"], middle, middle, false);
      if (job?.finishedOn !== undefined && job.finishedOn >= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #toStored(job: DeliveryJob, status: DeliveryStatus, withDetails: boolean): Promise<StoredDelivery> {
    const history = await this.#history(job);
    return toStoredDelivery(job, { endpoint: this.endpoint, status, history, withDetails });
  }

  async #history({ id }: DeliveryJob): Promise<JobHistory> {
    if (id === undefined) throw new WebhookError("BullMQ returned a job without an ID.", { code: "INTERNAL" });
    return readHistory((await this.queue.getJobLogs(id)).logs);
  }
}

/** How long a count is reused while the queue is not full. */
const freshMs = 1_000;
/** The pause after a count, as a multiple of the count's duration. The pause limits the load on the server. */
const pauseFactor = 4;

/** Estimates the number of queued deliveries, because PostgreSQL counts jobs by reading every job in the queue. */
export class Backlog {
  readonly #count: () => Promise<number>;
  #counted = 0;
  #addedSince = 0;
  /** When the last count ended and when the next count may start, by `performance.now()`. */
  #countedAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Counts the queued deliveries, after the pause that follows the last count. Concurrent callers share one count. */
  readonly #refresh = shareRun(() => this.#read());

  /** @param count counts the queued deliveries on the server. */
  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  added(): void {
    this.#addedSince += 1;
  }

  /** Whether at least `limit` deliveries are queued. Ignores those that other processes added since the last count. */
  async isFull(limit: number): Promise<boolean> {
    const isOld = performance.now() - this.#countedAt >= freshMs && performance.now() >= this.#nextAt;
    // The estimate can be too high, because it includes deliveries that were claimed since the last count.
    if (isOld || this.#estimate >= limit) await this.#refresh();
    return this.#estimate >= limit;
  }

  get #estimate(): number {
    return this.#counted + this.#addedSince;
  }

  async #read(): Promise<void> {
    const pause = this.#nextAt - performance.now();
    if (pause > 0) await setTimeout(pause);
    const startedAt = performance.now();
    this.#addedSince = 0;
    this.#counted = await this.#count();
    this.#countedAt = performance.now();
    this.#nextAt = this.#countedAt + (this.#countedAt - startedAt) * pauseFactor;
  }
}

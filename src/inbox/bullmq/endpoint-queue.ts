import { setTimeout } from "node:timers/promises";
import { WebhookError } from "../../core/errors.ts";
import type { DeliveryCounts, DeliveryStatus, IncomingDelivery, StoredDelivery } from "../inbox.ts";
import { deliveryUnknown, inboxFull } from "../inbox-errors.ts";
import { Backlog } from "./backlog.ts";
import { hasEnded, type JobHistory, readHistory, replayedRow } from "./job-history.ts";
import type { DeliveryQueue, QueueServer } from "./queue-server.ts";
import { bodyOf, type DeliveryJob, jobIdOf, retryFinished, toJobData, toStoredDelivery } from "./stored-job.ts";

/** Where BullMQ keeps the deliveries of a status. */
const listsOf = {
  queued: ["wait", "delayed"],
  running: ["active"],
  succeeded: ["completed"],
  dead: ["failed"],
} as const;

type ListName = (typeof listsOf)[DeliveryStatus][number];

/** The lists of a status, or all of them, in an order that stays the same. */
export function listNames(status?: DeliveryStatus): readonly ListName[] {
  return status ? listsOf[status] : Object.values(listsOf).flat();
}

const statusOfState: Readonly<Record<string, DeliveryStatus>> = {
  waiting: "queued",
  delayed: "queued",
  prioritized: "queued",
  active: "running",
  completed: "succeeded",
  failed: "dead",
};

/** The policy of the worker decides how often a delivery is tried, not what was set when it came. */
const unlimitedAttempts = 1_000_000;
const maxReads = 5;
/** In small steps, so that arrivals need not wait for them. */
const removeBatch = 200;
const emptyBatch = 20;
const listBatch = 500;
const replayBatch = 100;

/** The deliveries of one endpoint: a queue of BullMQ. */
export class EndpointQueue {
  readonly endpoint: string;
  readonly #queue: DeliveryQueue;
  readonly #server: Pick<QueueServer, "replayDead">;
  readonly #backlog = new Backlog(() => this.#queue.getJobCountByTypes(...listsOf.queued));
  readonly #accepting = new Map<string, Promise<unknown>>();

  constructor({
    endpoint,
    queue,
    server,
  }: {
    endpoint: string;
    queue: DeliveryQueue;
    server: Pick<QueueServer, "replayDead">;
  }) {
    this.endpoint = endpoint;
    this.#queue = queue;
    this.#server = server;
  }

  /**
   * Adds a delivery, or runs a dead one again. Returns whether it was already stored.
   *
   * @throws `INBOX_FULL`.
   */
  async add(delivery: IncomingDelivery, { maxQueued }: { maxQueued: number }): Promise<boolean> {
    const jobId = jobIdOf(delivery.id);
    // BullMQ does not say whether a job was there before: of those that come at the same time, one has to be the first.
    const earlier = this.#accepting.get(jobId);
    const adding = (earlier?.catch(() => {}) ?? Promise.resolve()).then(() =>
      this.#add(delivery, { jobId, maxQueued }),
    );
    this.#accepting.set(jobId, adding);
    try {
      return await adding;
    } finally {
      if (this.#accepting.get(jobId) === adding) this.#accepting.delete(jobId);
    }
  }

  async #add(delivery: IncomingDelivery, { jobId, maxQueued }: { jobId: string; maxQueued: number }): Promise<boolean> {
    // Not by its state: to find that, Redis looks through all that wait.
    const known = await this.#queue.getJob(jobId);
    if (known && !(await this.#isDead(known))) return true;
    if (known) return this.#revive(delivery, { jobId, maxQueued });
    if (await this.#backlog.isFull(maxQueued)) throw inboxFull(this.endpoint);
    this.#backlog.added();
    await this.#queue.add("delivery", toJobData(delivery), {
      jobId,
      timestamp: delivery.receivedAt.getTime(),
      attempts: unlimitedAttempts,
      backoff: { type: "custom" },
      // The log of the job tells what went wrong, in full.
      stackTraceLimit: 0,
    });
    return false;
  }

  async #isDead(job: DeliveryJob): Promise<boolean> {
    return job.finishedOn !== undefined && (await job.isFailed());
  }

  /** Returns whether it was not dead any more. */
  async #revive(delivery: IncomingDelivery, options: { jobId: string; maxQueued: number }): Promise<boolean> {
    const job = await this.#queue.getJob(options.jobId);
    // Its retention was over at this moment: what is acknowledged has to be kept.
    if (!job) return this.#add(delivery, options);
    await job.updateData(toJobData(delivery));
    return !(await retryFinished(job, "failed"));
  }

  async get(id: string): Promise<StoredDelivery | undefined> {
    const jobId = jobIdOf(id);
    let state = await this.#queue.getJobState(jobId);
    for (let attempt = 1; ; attempt += 1) {
      const status = statusOfState[state];
      const job = status && (await this.#queue.getJob(jobId));
      const stored = job && (await this.#toStored(job, status));
      const after = await this.#queue.getJobState(jobId);
      // What was read in several steps is of one moment only if nothing has happened in between.
      if (after === state || attempt === maxReads) return stored;
      state = after;
    }
  }

  /** Reads a part of a list, newest first. */
  async read(list: ListName, { from, limit }: { from: number; limit: number }): Promise<StoredDelivery[]> {
    const jobs = await this.#queue.getJobs([list], from, from + limit - 1, false);
    const status = (Object.keys(listsOf) as DeliveryStatus[]).find((name) => listsOf[name].some((one) => one === list));
    return Promise.all(jobs.map((job) => this.#toStored(job, status ?? "queued")));
  }

  /** Runs a delivery again. @throws `DELIVERY_UNKNOWN`. */
  async replay(id: string): Promise<void> {
    const job = await this.#queue.getJob(jobIdOf(id));
    if (!job || bodyOf(job.data) === undefined) throw deliveryUnknown({ id, endpoint: this.endpoint });
    const state = await job.getState();
    if (state === "failed" || state === "completed") await retryFinished(job, state);
    else if (state === "active") await this.#replayRunning(job);
    else {
      if (job.attemptsStarted > 0) await job.log(replayedRow(job));
      if (state === "delayed") await this.#promote(job);
    }
  }

  async #promote(job: DeliveryJob): Promise<void> {
    try {
      await job.promote();
    } catch (error) {
      // It became due meanwhile.
      if ((await job.getState()) === "delayed") throw error;
    }
  }

  /** Whoever works on it sees the row when he writes his own; if he has done so already, he is about to finish. */
  async #replayRunning(job: DeliveryJob): Promise<void> {
    await job.log(replayedRow(job));
    const ended = hasEnded(await this.#history(job), job.attemptsStarted);
    for (let attempt = 0; ended && attempt < 100; attempt += 1) {
      const state = await job.getState();
      if (state === "failed" || state === "completed") await job.retry(state);
      if (state !== "active") return;
      await setTimeout(20);
    }
  }

  /** Returns how many there were. */
  async replayDead(): Promise<number> {
    // All of them before the first is run: what fails anew meanwhile is dead again, and stays so.
    const ids = await this.#queue.getRanges(["failed"], 0, -1);
    let count = 0;
    for (let from = 0; from < ids.length; from += replayBatch) {
      count += await this.#server.replayDead(this.#queue, ids.slice(from, from + replayBatch));
    }
    return count;
  }

  /** Whether a delivery waits that is due. */
  async hasWaiting(): Promise<boolean> {
    return (await this.#queue.getRanges(["wait"], 0, 0)).length > 0;
  }

  async counts(): Promise<DeliveryCounts> {
    const counts = await this.#queue.getJobCounts(...listNames());
    const sum = (names: readonly ListName[]) => names.reduce((total, name) => total + (counts[name] ?? 0), 0);
    return {
      queued: sum(listsOf.queued),
      running: sum(listsOf.running),
      succeeded: sum(listsOf.succeeded),
      dead: sum(listsOf.dead),
    };
  }

  /** Forgets what finished before `bodiesBefore`, but for the ids that are needed to know a duplicate. Returns how many. */
  async prune({ bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number }): Promise<number> {
    const dead = await this.#remove("failed", bodiesBefore);
    const gone = await this.#remove("completed", Math.min(bodiesBefore, idsBefore));
    return dead + gone + (idsBefore < bodiesBefore ? await this.#emptySucceeded(bodiesBefore) : 0);
  }

  async #remove(list: "failed" | "completed", before: number): Promise<number> {
    for (let count = 0; ; ) {
      const removed = await this.#queue.clean(Math.max(0, Date.now() - before), removeBatch, list);
      count += removed.length;
      if (removed.length < removeBatch) return count;
    }
  }

  /**
   * From the newest that is past its time to the first that was emptied before. PostgreSQL returns deliveries that ended
   * in the same millisecond in any order, and in another one after each update, so a page starts again with all that
   * ended when the last of the page before did.
   */
  async #emptySucceeded(bodiesBefore: number): Promise<number> {
    let count = 0;
    let from = await this.#firstFinishedBefore(bodiesBefore);
    for (let size = listBatch; ; ) {
      const ids = await this.#queue.getRanges(["completed"], from, from + size - 1, false);
      const times: (number | undefined)[] = [];
      for (let start = 0; start < ids.length; start += emptyBatch) {
        const step = await Promise.all(ids.slice(start, start + emptyBatch).map((id) => this.#empty(id)));
        const emptied = step.filter(({ isEmptied }) => isEmptied).length;
        count += emptied;
        times.push(...step.map(({ finishedOn }) => finishedOn));
        const isOneTime = times.every((time) => time === times[0]);
        if (emptied === 0 && !isOneTime) return count;
      }
      if (ids.length < size) return count;
      const together = times.indexOf(times.at(-1));
      from += together;
      size = together > 0 ? listBatch : 2 * size;
    }
  }

  /** Forgets the body of a delivery that has succeeded, if it is still there. */
  async #empty(id: string): Promise<{ isEmptied: boolean; finishedOn: number | undefined }> {
    const job = await this.#queue.getJob(id);
    const isEmptied = job !== undefined && bodyOf(job.data) !== undefined;
    if (isEmptied) {
      await job.updateData({ id: job.data.id });
      await job.clearLogs();
    }
    return { isEmptied, finishedOn: job?.finishedOn };
  }

  /** The place of the newest delivery that succeeded before a time, in a list that is sorted by that. */
  async #firstFinishedBefore(time: number): Promise<number> {
    let low = 0;
    let high = await this.#queue.getCompletedCount();
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [job] = await this.#queue.getJobs(["completed"], middle, middle, false);
      if (job?.finishedOn !== undefined && job.finishedOn >= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #toStored(job: DeliveryJob, status: DeliveryStatus): Promise<StoredDelivery> {
    return toStoredDelivery({ job, endpoint: this.endpoint, status, history: await this.#history(job) });
  }

  async #history({ id }: DeliveryJob): Promise<JobHistory> {
    if (id === undefined) throw new WebhookError("A job without an id is none of ours.", { code: "INTERNAL" });
    return readHistory((await this.#queue.getJobLogs(id)).logs);
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

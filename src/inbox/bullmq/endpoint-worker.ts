import { setTimeout as wait } from "node:timers/promises";
import { toError } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import type { Outcome } from "../../payload/delivery.ts";
import { countsAsAttempt } from "../crash-policy.ts";
import type { ClaimedDelivery, DeliveryAttempt, QueueOptions } from "../inbox.ts";
import { abandonedError, closingError } from "../inbox-errors.ts";
import { type Retention, retentionOf } from "../retention.ts";
import { nextAttemptAt } from "../retry-policy.ts";
import { type HandlerRun, HandlerRuns } from "./handler-runs.ts";
import {
  attemptRow,
  attemptsIn,
  countedAttempts,
  crashedStarts,
  crashesIn,
  hasSucceeded,
  isSuspect,
  type JobHistory,
  readHistory,
  replayedRow,
  skippedRow,
  turnRow,
  wasReplayed,
} from "./job-history.ts";
import type { LeaseRenewer } from "./lease-renewer.ts";
import type { Bullmq } from "./optional-packages.ts";
import type { DeliveryWorker, QueueServer } from "./queue-server.ts";
import type { RunGate, RunPermit } from "./run-gate.ts";
import type { WorkProgress } from "./stall-detector.ts";
import { bodyOf, type DeliveryJob, jobDataSchema } from "./stored-job.ts";

/** The errors that a processor throws to leave a job in place, to delay it, or to mark it as dead. */
export type BullmqErrors = Pick<Bullmq, "WaitingError" | "DelayedError" | "UnrecoverableError">;

export interface EndpointWorkerOptions {
  queue: QueueOptions;
  server: QueueServer;
  bullmqErrors: BullmqErrors;
  /** Shared by all endpoints of the process. */
  gate: RunGate;
  leases: LeaseRenewer;
  leaseMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
  onError: (error: Error) => void;
}

/** The pause before a failed connection is tried again, in milliseconds: the default of BullMQ is 15 seconds. */
const retryMs = 3_000;

/** The pause between tries to record the end of a run, and the maximum time for all of them, in milliseconds. */
const recordRetryMs = 500;
const recordTimeoutMs = 60_000;

/** The history of the job limits crashes and attempts, not BullMQ. */
const unlimitedAttempts = 1_000_000;

/** Fails a job, and carries the time of the next attempt to the backoff strategy. */
class RetryError extends Error {
  readonly dueAt: Date;

  constructor(code: string, dueAt: Date) {
    super(code);
    this.dueAt = dueAt;
  }
}

/** The history at the first start of a job. */
const firstStart = { history: [], hasCrashed: false };

/** Runs the deliveries of one endpoint with a worker of BullMQ. */
export class EndpointWorker {
  readonly #options: EndpointWorkerOptions;
  readonly #worker: DeliveryWorker;
  readonly #runs: HandlerRuns;
  readonly #closing = new AbortController();
  /** The number of deliveries that this worker has claimed so far. */
  #claimed = 0;
  /** The number of claimed deliveries that are not finished. */
  #active = 0;

  constructor(options: EndpointWorkerOptions) {
    this.#options = options;
    const { queue, server, leaseMs, now, onError } = options;
    this.#runs = new HandlerRuns({ queue, now });
    this.#worker = server.openWorker(queue.endpoint, (job, token = "") => this.#process(job, token), {
      concurrency: queue.concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: unlimitedAttempts,
      runRetryDelay: retryMs,
      settings: {
        backoffStrategy: (_attempts, _type, error) =>
          error instanceof RetryError ? Math.max(0, error.dueAt.getTime() - now()) : 0,
      },
    });
    this.#worker.on("error", (error) => {
      // The lost lease is logged when the run ends.
      if (!error.message.startsWith("could not renew lock for job")) onError(error);
    });
    this.#worker.on("lockRenewalFailed", (jobIds) => this.#runs.abortLost(jobIds));
  }

  /** The retention of the endpoint. */
  get retention(): Retention {
    return retentionOf(this.#options.queue);
  }

  get progress(): WorkProgress {
    const { concurrency } = this.#options.queue;
    return { isRunning: this.#worker.isRunning(), hasCapacity: this.#active < concurrency, claimed: this.#claimed };
  }

  /** Stops claiming, aborts the handlers, and puts back the deliveries that are not done after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    const closed = this.#worker.close();
    this.#runs.abortAll();
    const timer = setTimeout(() => this.#runs.giveUp(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  async #process(job: DeliveryJob, token: string): Promise<undefined> {
    const { queue, leases } = this.#options;
    this.#claimed += 1;
    this.#active += 1;
    const release = leases.hold({ endpoint: queue.endpoint, jobId: job.id ?? "", token });
    try {
      return await this.#runAttempt(job, token);
    } finally {
      release();
      this.#active -= 1;
    }
  }

  /** Runs one attempt. Returns if the delivery has succeeded; otherwise, throws the error that BullMQ expects. */
  async #runAttempt(job: DeliveryJob, token: string): Promise<undefined> {
    const { queue, bullmqErrors, log } = this.#options;
    const data = jobDataSchema.safeParse(job.data);
    // Another program or release has written the job. Retries cannot succeed.
    if (!data.success) throw new bullmqErrors.UnrecoverableError("JOB_UNREADABLE");
    const { id } = data.data;
    // BullMQ may claim one more job while it closes.
    if (this.#closing.signal.aborted) return this.#putBack(job, token);
    const fields = { endpoint: queue.endpoint, deliveryId: id };
    const { history, hasCrashed } = job.attemptsStarted > 1 ? await this.#recover(job) : firstStart;
    if (hasSucceeded(history)) return this.#skip(job);
    if (countedAttempts(history) >= queue.policy.attempts) {
      await job.log(skippedRow(job));
      log().error(
        { ...fields, code: abandonedError.code },
        `${abandonedError.message} It has no attempts left and is dead. Replay it.`,
      );
      throw new bullmqErrors.UnrecoverableError(abandonedError.code);
    }
    if (hasCrashed) return this.#delayAfterCrash(job, token, history);
    const permit = await this.#waitForPermit(job, { isSuspect: isSuspect(history) });
    if (permit === "closing") return this.#putBack(job, token);
    if (permit === "already succeeded") return this.#skip(job);
    const counted = countedAttempts(history) + 1;
    const claimed: ClaimedDelivery = {
      id,
      endpoint: queue.endpoint,
      body: bodyOf(job.data) ?? "",
      receivedAt: new Date(job.timestamp),
      attempt: attemptsIn(history).length + 1,
      isLastAttempt: counted >= queue.policy.attempts,
      retryDelayMs: queue.policy.waitAfter(counted),
    };
    try {
      const run = await this.#runs.run(job.id ?? "", claimed);
      return await this.#end(job, token, { run, claimed });
    } finally {
      // Only after the end is recorded: the next delivery may crash the process.
      permit.leave();
    }
  }

  /** Ends a delivery that has already succeeded, in a run whose lease had expired. That run has logged it. */
  async #skip(job: DeliveryJob): Promise<undefined> {
    await job.log(skippedRow(job));
    return undefined;
  }

  /** Records the end of a run. Returns if the delivery has succeeded; otherwise, throws the error that BullMQ expects. */
  async #end(
    job: DeliveryJob,
    token: string,
    { run, claimed }: { run: HandlerRun; claimed: ClaimedDelivery },
  ): Promise<undefined> {
    const { bullmqErrors } = this.#options;
    const start = job.attemptsStarted;
    if (run.outcome === "unfinished" || (this.#closing.signal.aborted && run.outcome.status === "failed")) {
      const attempt: DeliveryAttempt = { ...run.attempt, outcome: "abandoned", error: closingError };
      await this.#record(job, attemptRow({ start, attempt, counts: false }));
      return this.#requeue(job, token);
    }
    if (run.hasLostLease || !(await this.#hasLease(job, token, run))) return this.#recordLate(job, run);
    const next = this.#nextAttempt(claimed, run.outcome);
    const rows = await this.#record(job, attemptRow({ start, attempt: run.attempt, counts: true, dueAt: next?.dueAt }));
    // The history has one row, unless a replay or an earlier start has added others.
    const history = rows > 1 ? await this.#history(job) : [];
    if (wasReplayed(history, job)) {
      // The delivery has all its attempts again, whatever the result of this one.
      await job.log(replayedRow(job));
      return this.#requeue(job, token);
    }
    if (run.outcome.status !== "failed" || hasSucceeded(history)) return undefined;
    throw next ?? new bullmqErrors.UnrecoverableError(run.outcome.error.code);
  }

  /** Adds the end of a run to the history; tries again if that fails, since a missing end would count as a crash. */
  async #record(job: DeliveryJob, row: string): Promise<number> {
    const { onError } = this.#options;
    const { signal } = this.#closing;
    const deadline = performance.now() + recordTimeoutMs;
    for (;;) {
      try {
        return await job.log(row);
      } catch (error) {
        if (signal.aborted || performance.now() > deadline) throw error;
        onError(toError(error));
      }
      // A shutdown ends the wait early, for a last try.
      await wait(recordRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Waits until the handler may run, the receiver closes, or an earlier run succeeds. */
  async #waitForPermit(
    job: DeliveryJob,
    { isSuspect }: { isSuspect: boolean },
  ): Promise<RunPermit | "closing" | "already succeeded"> {
    const { gate, onError } = this.#options;
    const immediate = isSuspect ? undefined : gate.tryEnter();
    if (immediate) return immediate;
    const { signal } = this.#closing;
    // After a crash, this row shows that the delivery did not run.
    await job.log(turnRow(job, "waiting"));
    const recordShared = () => void job.log(turnRow(job, "shared")).catch(onError);
    const permit = isSuspect ? await gate.enterAlone(signal, recordShared) : await gate.enter(signal);
    if (!permit) return "closing";
    let isReturned = false;
    try {
      if (signal.aborted) return "closing";
      if (hasSucceeded(await this.#history(job))) return "already succeeded";
      await job.log(turnRow(job, permit.isAlone ? "alone" : "shared"));
      isReturned = true;
      return permit;
    } finally {
      if (!isReturned) permit.leave();
    }
  }

  /** Whether this worker still has the lease of a run: it was too short to lose it, or the lease can be renewed. */
  async #hasLease(job: DeliveryJob, token: string, { attempt }: HandlerRun): Promise<boolean> {
    const { leaseMs } = this.#options;
    return (attempt.durationMs ?? 0) < leaseMs / 2 || (await job.extendLock(token, leaseMs)) > 0;
  }

  /** Records the end of a run whose lease had expired. A success counts in any status of the delivery. */
  async #recordLate(job: DeliveryJob, { outcome, attempt }: HandlerRun): Promise<never> {
    const { queue, bullmqErrors, log } = this.#options;
    await this.#record(job, attemptRow({ start: job.attemptsStarted, attempt, counts: true }));
    const fields = { endpoint: queue.endpoint, deliveryId: job.data.id, code: "LEASE_LOST" };
    if (outcome !== "unfinished" && outcome.status !== "failed") {
      log().warn(fields, "A delivery succeeded after its lease had expired. The success counts.");
      await this.#startEarly(job);
    } else {
      log().warn(fields, "A delivery failed after its lease had expired. Another receiver may be running it.");
    }
    // Another worker may have the lease, so BullMQ must not move the job.
    throw new bullmqErrors.WaitingError();
  }

  /** Starts a delivery that is waiting for a retry or dead: its next start finds the success, and ends it. */
  async #startEarly(job: DeliveryJob): Promise<void> {
    const state = await job.getState();
    try {
      if (state === "delayed") await job.promote();
      if (state === "failed") await job.retry(state);
    } catch (error) {
      // Another process may have changed the state since.
      if ((await job.getState()) === state) throw error;
    }
  }

  /** The error that schedules the next attempt; `undefined` if there is none. */
  #nextAttempt({ isLastAttempt, retryDelayMs }: ClaimedDelivery, outcome: Outcome): RetryError | undefined {
    if (outcome.status !== "failed" || !outcome.error.retryable || isLastAttempt) return undefined;
    const dueAt = nextAttemptAt({ retryDelayMs, retryAt: outcome.retryAt, now: this.#options.now() });
    return new RetryError(outcome.error.code, new Date(dueAt));
  }

  async #putBack(job: DeliveryJob, token: string): Promise<never> {
    await job.log(skippedRow(job));
    return this.#requeue(job, token);
  }

  async #requeue(job: DeliveryJob, token: string): Promise<never> {
    await job.moveToWait(token);
    throw new this.#options.bullmqErrors.WaitingError();
  }

  /** Reads the history, and records an abandoned attempt for each start that a crash interrupted. */
  async #recover(job: DeliveryJob): Promise<{ history: JobHistory; hasCrashed: boolean }> {
    let history = await this.#history(job);
    const crashes = hasSucceeded(history) ? [] : crashedStarts(history, job);
    for (const { start, wasAlone } of crashes) {
      // Without its time: BullMQ has overwritten it.
      const number = attemptsIn(history).length + 1;
      const attempt: DeliveryAttempt = { number, outcome: "abandoned", error: abandonedError };
      const counts = countsAsAttempt({ wasAlone, uncountedCrashes: crashesIn(history).uncounted });
      const row = attemptRow({ start, attempt, counts });
      await job.log(row);
      history = [...history, ...readHistory([row])];
    }
    return { history, hasCrashed: crashes.length > 0 };
  }

  /** Delays a delivery that was running at a crash. It runs alone after that. */
  async #delayAfterCrash(job: DeliveryJob, token: string, history: JobHistory): Promise<never> {
    const { queue, log, now, bullmqErrors } = this.#options;
    const { counted, uncounted } = crashesIn(history);
    const waitMs = queue.policy.waitAfter(counted + uncounted);
    const attempt = attemptsIn(history).length;
    const fields = { endpoint: queue.endpoint, deliveryId: job.data.id, attempt, waitMs, code: abandonedError.code };
    log().warn(fields, `${abandonedError.message} It runs again, alone.`);
    await job.log(skippedRow(job, new Date(now() + waitMs)));
    await job.moveToDelayed(Date.now() + waitMs, token);
    throw new bullmqErrors.DelayedError();
  }

  async #history({ id = "" }: DeliveryJob): Promise<JobHistory> {
    return readHistory((await this.#worker.getBackend().getJobLogs(id, 0, -1, true)).logs);
  }
}

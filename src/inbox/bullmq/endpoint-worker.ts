import { setTimeout as wait } from "node:timers/promises";
import { toError } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { Outcome } from "../../payload/delivery.ts";
import { countsAsAttempt } from "../crash-policy.ts";
import type { ClaimedDelivery, DeliveryAttempt, QueueOptions } from "../inbox.ts";
import { abandonedError, closingError, inboxClosing, leaseLost, toAttemptError } from "../inbox-errors.ts";
import { type Retention, retentionOf } from "../retention.ts";
import { nextAttemptAt } from "../retry-policy.ts";
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
import type { WorkProgress } from "./problems.ts";
import type { DeliveryWorker, QueueServer } from "./queue-server.ts";
import type { RunGate, RunPermit } from "./run-gate.ts";
import { bodyOf, type DeliveryJob, jobDataSchema } from "./stored-job.ts";

/** The errors with which a job tells BullMQ to leave it in place, to delay it, or to fail it for good. */
export type BullmqErrors = Pick<Bullmq, "WaitingError" | "DelayedError" | "UnrecoverableError">;

/** The options of an {@link EndpointWorker}. */
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

/** What passes until a server that did not answer is asked again, in milliseconds: BullMQ would take 15 seconds. */
const retryMs = 3_000;

/** How often, and for how long at most, the end of a run is written again while the server refuses it, in milliseconds. */
const recordRetryMs = 500;
const recordTimeoutMs = 60_000;

/** Crashes are counted by what the log of a job lacks, so BullMQ itself never gives up. */
const unlimitedAttempts = 1_000_000;

/** Tells the backoff strategy when the next attempt is due. */
class RetryError extends Error {
  readonly dueAt: Date;

  constructor(code: string, dueAt: Date) {
    super(code);
    this.dueAt = dueAt;
  }
}

/** One run of a handler. */
interface Run {
  outcome: Outcome | "grace over";
  attempt: DeliveryAttempt;
  /** Whether the lease has ended before the run did, so that another process may have the delivery by now. */
  isLost: boolean;
}

/** What a first start finds. */
const firstStart = { history: [], hasCrashed: false };

/** Runs the deliveries of one endpoint with a worker of BullMQ. */
export class EndpointWorker {
  readonly #options: EndpointWorkerOptions;
  readonly #worker: DeliveryWorker;
  /** A delivery may be in it twice, when it has come back after its lease was lost. */
  readonly #running = new Set<{ jobId: string; controller: AbortController; giveUp: () => void }>();
  readonly #closing = new AbortController();
  #graceIsOver = false;
  /** Deliveries that this worker has taken so far, and those it has in hand. */
  #claimed = 0;
  #active = 0;

  constructor(options: EndpointWorkerOptions) {
    this.#options = options;
    const { queue, server, leaseMs, now, onError } = options;
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
      // What becomes of the delivery is logged once, when its run has ended.
      if (!error.message.startsWith("could not renew lock for job")) onError(error);
    });
    this.#worker.on("lockRenewalFailed", (ids) => {
      for (const { jobId, controller } of this.#running) if (ids.includes(jobId)) controller.abort(leaseLost());
    });
  }

  /** How long its finished deliveries are kept. */
  get retention(): Retention {
    return retentionOf(this.#options.queue);
  }

  get progress(): WorkProgress {
    const { concurrency } = this.#options.queue;
    return { isRunning: this.#worker.isRunning(), isFree: this.#active < concurrency, taken: this.#claimed };
  }

  /** Stops claiming, aborts the handlers, and puts back the deliveries that are not done after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    const closed = this.#worker.close();
    for (const { controller } of this.#running) controller.abort(inboxClosing());
    const timer = setTimeout(() => {
      this.#graceIsOver = true;
      for (const { giveUp } of this.#running) giveUp();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  }

  async #process(job: DeliveryJob, token: string): Promise<undefined> {
    const { queue, leases } = this.#options;
    this.#claimed += 1;
    this.#active += 1;
    const release = leases.hold({ endpoint: queue.endpoint, jobId: job.id ?? "", token });
    try {
      return await this.#attempt(job, token);
    } finally {
      release();
      this.#active -= 1;
    }
  }

  /** Runs one attempt. Returns when the delivery has succeeded, and throws what BullMQ is to do otherwise. */
  async #attempt(job: DeliveryJob, token: string): Promise<undefined> {
    const { queue, bullmqErrors, log } = this.#options;
    const data = jobDataSchema.safeParse(job.data);
    // Not ours, or of another release: it gets no better by trying again.
    if (!data.success) throw new bullmqErrors.UnrecoverableError("JOB_UNREADABLE");
    const { id } = data.data;
    // BullMQ was on its way to take it when it was told to close.
    if (this.#closing.signal.aborted) return this.#handBack(job, token);
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
    const turn = await this.#waitForTurn(job, { isSuspect: isSuspect(history) });
    if (turn === "closing") return this.#handBack(job, token);
    if (turn === "needless") return this.#skip(job);
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
      const run = await this.#run(job, claimed);
      return await this.#end(job, token, { run, claimed });
    } finally {
      // Not before its end is recorded: whatever runs next may crash the process.
      turn.leave();
    }
  }

  /** A delivery that has succeeded in a run whose lease had ended need not run again. That run has logged it. */
  async #skip(job: DeliveryJob): Promise<undefined> {
    await job.log(skippedRow(job));
    return undefined;
  }

  /** Records the end of a run. Returns when the delivery has succeeded, and throws what BullMQ is to do otherwise. */
  async #end(
    job: DeliveryJob,
    token: string,
    { run, claimed }: { run: Run; claimed: ClaimedDelivery },
  ): Promise<undefined> {
    const { bullmqErrors } = this.#options;
    const start = job.attemptsStarted;
    if (run.outcome === "grace over" || (this.#closing.signal.aborted && run.outcome.status === "failed")) {
      const attempt: DeliveryAttempt = { ...run.attempt, outcome: "abandoned", error: closingError };
      await this.#record(job, attemptRow({ start, attempt, counts: false }));
      return this.#requeue(job, token);
    }
    if (run.isLost || !(await this.#hasLease(job, token, run))) return this.#recordLate(job, run);
    const next = this.#next(claimed, run.outcome);
    const rows = await this.#record(job, attemptRow({ start, attempt: run.attempt, counts: true, dueAt: next?.dueAt }));
    // One row, unless a replay or the end of an abandoned run has added others.
    const history = rows > 1 ? await this.#history(job) : [];
    if (wasReplayed(history, job)) {
      // With all attempts anew, however this one has ended.
      await job.log(replayedRow(job));
      return this.#requeue(job, token);
    }
    if (run.outcome.status !== "failed" || hasSucceeded(history)) return undefined;
    throw next ?? new bullmqErrors.UnrecoverableError(run.outcome.error.code);
  }

  /** Appends the end of a run to the log of a job once the server takes it: an end that is missing looks like a crash. */
  async #record(job: DeliveryJob, row: string): Promise<number> {
    const { onError } = this.#options;
    const { signal } = this.#closing;
    const givesUpAt = performance.now() + recordTimeoutMs;
    for (;;) {
      try {
        return await job.log(row);
      } catch (error) {
        if (signal.aborted || performance.now() > givesUpAt) throw error;
        onError(toError(error));
      }
      // Ends early at a shutdown, for a last try.
      await wait(recordRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Waits until the handler may run, unless the receiver closes before, or an earlier run turns out to have succeeded. */
  async #waitForTurn(
    job: DeliveryJob,
    { isSuspect }: { isSuspect: boolean },
  ): Promise<RunPermit | "closing" | "needless"> {
    const { gate, onError } = this.#options;
    const free = isSuspect ? undefined : gate.tryEnter();
    if (free) return free;
    const { signal } = this.#closing;
    // A crash meanwhile is none of its own.
    await job.log(turnRow(job, "waiting"));
    const noteShared = () => void job.log(turnRow(job, "shared")).catch(onError);
    const turn = isSuspect ? await gate.enterAlone(signal, noteShared) : await gate.enter(signal);
    if (!turn) return "closing";
    let isTaken = false;
    try {
      if (signal.aborted) return "closing";
      if (hasSucceeded(await this.#history(job))) return "needless";
      await job.log(turnRow(job, turn.isAlone ? "alone" : "shared"));
      isTaken = true;
      return turn;
    } finally {
      if (!isTaken) turn.leave();
    }
  }

  /** Whether a run was short, or its lease has been renewed all the same. */
  async #hasLease(job: DeliveryJob, token: string, { attempt }: Run): Promise<boolean> {
    const { leaseMs } = this.#options;
    return (attempt.durationMs ?? 0) < leaseMs / 2 || (await job.extendLock(token, leaseMs)) > 0;
  }

  /** Records the end of a run whose lease had ended before: its success counts, whatever became of the delivery since. */
  async #recordLate(job: DeliveryJob, { outcome, attempt }: Run): Promise<never> {
    const { queue, bullmqErrors, log } = this.#options;
    await this.#record(job, attemptRow({ start: job.attemptsStarted, attempt, counts: true }));
    const fields = { endpoint: queue.endpoint, deliveryId: job.data.id, code: "LEASE_LOST" };
    if (outcome !== "grace over" && outcome.status !== "failed") {
      log().warn(fields, "A delivery succeeded after its lease had expired. The success counts.");
      await this.#settle(job);
    } else {
      log().warn(fields, "A delivery failed after its lease had expired. Another receiver may be running it.");
    }
    // It is no longer ours to move.
    throw new bullmqErrors.WaitingError();
  }

  /** Where another run has failed meanwhile, the delivery is picked up again, and found to have succeeded. */
  async #settle(job: DeliveryJob): Promise<void> {
    const state = await job.getState();
    try {
      if (state === "delayed") await job.promote();
      if (state === "failed") await job.retry(state);
    } catch (error) {
      // It has moved on meanwhile.
      if ((await job.getState()) === state) throw error;
    }
  }

  async #run(job: DeliveryJob, claimed: ClaimedDelivery): Promise<Run> {
    const { queue, now } = this.#options;
    const controller = new AbortController();
    const graceOver = Promise.withResolvers<"grace over">();
    if (this.#closing.signal.aborted) controller.abort(inboxClosing());
    const giveUp = () => graceOver.resolve("grace over");
    if (this.#graceIsOver) giveUp();
    const running = { jobId: job.id ?? "", controller, giveUp };
    this.#running.add(running);
    const startedAt = new Date(now());
    const began = performance.now();
    try {
      const outcome = await Promise.race([queue.run(claimed, controller.signal), graceOver.promise]);
      const failure = outcome !== "grace over" && outcome.status === "failed" ? outcome.error : undefined;
      const attempt: DeliveryAttempt = {
        number: claimed.attempt,
        startedAt,
        durationMs: performance.now() - began,
        outcome: failure ? "failed" : "succeeded",
        ...(failure && { error: toAttemptError(failure) }),
      };
      return { outcome, attempt, isLost: isLeaseLost(controller.signal.reason) };
    } finally {
      this.#running.delete(running);
    }
  }

  /** How it goes on after a failure; `undefined` when it does not. */
  #next({ isLastAttempt, retryDelayMs }: ClaimedDelivery, outcome: Outcome): RetryError | undefined {
    if (outcome.status !== "failed" || !outcome.error.retryable || isLastAttempt) return undefined;
    const dueAt = nextAttemptAt({ retryDelayMs, retryAt: outcome.retryAt, now: this.#options.now() });
    return new RetryError(outcome.error.code, new Date(dueAt));
  }

  async #handBack(job: DeliveryJob, token: string): Promise<never> {
    await job.log(skippedRow(job));
    return this.#requeue(job, token);
  }

  async #requeue(job: DeliveryJob, token: string): Promise<never> {
    await job.moveToWait(token);
    throw new this.#options.bullmqErrors.WaitingError();
  }

  /** Reads the history, and records the crashes that have cut earlier starts short. */
  async #recover(job: DeliveryJob): Promise<{ history: JobHistory; hasCrashed: boolean }> {
    let history = await this.#history(job);
    const crashes = hasSucceeded(history) ? [] : crashedStarts(history, job);
    for (const { start, wasAlone } of crashes) {
      // BullMQ has overwritten by now when that one began.
      const number = attemptsIn(history).length + 1;
      const attempt: DeliveryAttempt = { number, outcome: "abandoned", error: abandonedError };
      const counts = countsAsAttempt({ wasAlone, uncountedCrashes: crashesIn(history).uncounted });
      const row = attemptRow({ start, attempt, counts });
      await job.log(row);
      history = [...history, ...readHistory([row])];
    }
    return { history, hasCrashed: crashes.length > 0 };
  }

  /** What was running in a crash waits for a while, and runs alone after that. */
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

function isLeaseLost(reason: unknown): boolean {
  return WebhookError.isInstance(reason) && reason.code === "LEASE_LOST";
}

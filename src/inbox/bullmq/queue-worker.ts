import { setTimeout as wait } from "node:timers/promises";
import { readField, toError } from "../../core/describe.ts";
import type { Logger } from "../../core/log.ts";
import { storedClosingError, storedCrashError } from "../errors.ts";
import { type ClaimedDelivery, type DeliveryAttempt, type EndpointQueue, nextStep } from "../inbox.ts";
import { countsAsAttempt } from "../retry.ts";
import { type HandlerRun, HandlerRuns, type RunGate, type RunPermit } from "./handler-runs.ts";
import type { HeldLease, LeaseRenewer } from "./lease-renewer.ts";
import type { DeliveryWorker, QueueServer } from "./queue-server.ts";
import {
  attemptEntry,
  attemptsIn,
  bodyOf,
  countedAttempts,
  crashedClaims,
  crashesIn,
  type DeliveryJob,
  finalOutcome,
  isSuspect,
  type JobHistory,
  type JobResult,
  jobDataSchema,
  makeDue,
  readHistory,
  replayEntry,
  runStateEntry,
  skippedEntry,
  toJobResult,
  wasReplayed,
} from "./stored-job.ts";

export interface QueueWorkerOptions {
  queue: EndpointQueue;
  server: Pick<QueueServer, "openWorker" | "errors">;
  gate: RunGate;
  leases: Pick<LeaseRenewer, "hold">;
  leaseMs: number;
  now: () => number;
  log: Logger;
  onError: (error: Error) => void;
}

/** The pause before a worker reads the queue again after an error. BullMQ's default is 15 s. */
const retryMs = 3_000;

const renewalsPerLease = 3;

/** The interval and the time limit for retrying a failed request that records the result of a run. */
const recordRetryMs = 500;
const recordTimeoutMs = 60_000;

const leaseHint = "Check the connection to the inbox server, and check whether the handler blocks the event loop.";

/** Disables BullMQ's limit on how often a job can stall. This worker counts crashes in the job's history instead. */
const unlimitedStalls = 1_000_000;

/** The code of BullMQ's error if a job is not stored. */
const jobMissing = -1;

/** Makes BullMQ retry a job. Passes the time of the next attempt to the backoff strategy. */
class RetryError extends Error {
  readonly dueAt: Date;

  constructor(code: string, dueAt: Date) {
    super(code);
    this.dueAt = dueAt;
  }
}

/** What `#recover` would return for the first claim of a job, which has no history yet. */
const firstClaim = { history: [], hasCrashed: false };

/** Runs the deliveries of one endpoint with a BullMQ worker. See `stored-job.ts` for the term "claim". */
export class QueueWorker {
  readonly queue: EndpointQueue;
  readonly #options: QueueWorkerOptions;
  readonly #worker: DeliveryWorker;
  readonly #runs: HandlerRuns;
  readonly #closing = new AbortController();
  /** The lease of each running job. A job that was claimed again after its lease was lost has the lease of the new claim. */
  readonly #leases = new Map<string, HeldLease>();
  readonly #renewal: NodeJS.Timeout;
  #claimed = 0;
  #active = 0;
  interrupted = 0;

  constructor(options: QueueWorkerOptions) {
    this.#options = options;
    this.queue = options.queue;
    const { queue, server, leaseMs, now, onError } = options;
    this.#runs = new HandlerRuns(queue, now);
    this.#worker = server.openWorker(queue.endpoint, (job) => this.#process(job), {
      concurrency: queue.concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: unlimitedStalls,
      // BullMQ would stop the renewal for an hour if the clock of this machine is set back by an hour.
      skipLockRenewal: true,
      runRetryDelay: retryMs,
      settings: {
        backoffStrategy: (_attempts, _type, error) =>
          error instanceof RetryError ? Math.max(0, error.dueAt.getTime() - now()) : 0,
      },
    });
    this.#worker.on("error", onError);
    this.#renewal = setInterval(() => void this.#renewLeases().catch(onError), leaseMs / renewalsPerLease).unref();
    const reportEnd = (job: DeliveryJob | undefined) => {
      const data = jobDataSchema.safeParse(job?.data);
      if (data.success) queue.onAttemptStored?.({ endpoint: queue.endpoint, id: data.data.id });
    };
    this.#worker.on("completed", reportEnd);
    this.#worker.on("failed", reportEnd);
  }

  get progress() {
    const hasCapacity = this.#active < this.queue.concurrency;
    return { isRunning: this.#worker.isRunning(), hasCapacity, claimed: this.#claimed };
  }

  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    const closed = this.#worker.close();
    this.#runs.abortAll();
    const timer = setTimeout(() => this.#runs.giveUp(), graceMs);
    await closed;
    clearTimeout(timer);
    clearInterval(this.#renewal);
  }

  /** Renews the leases of running deliveries. Aborts the runs whose leases were lost. */
  async #renewLeases(): Promise<void> {
    const held = new Map(this.#leases);
    if (held.size === 0) return;
    const tokens = [...held.values()].map(({ token }) => token);
    const backend = this.#worker.getBackend();
    const refused = await backend.extendLocks([...held.keys()], tokens, this.#options.leaseMs);
    for (const jobId of refused) {
      // No other process can run a delivery that is no longer stored, so its run continues.
      if ((await backend.getState(jobId)) === "unknown") continue;
      // The run may have ended in the meantime, or this worker may have claimed the delivery again.
      if (this.#leases.get(jobId) !== held.get(jobId)) continue;
      this.#leases.delete(jobId);
      this.#runs.abortLost(jobId);
    }
  }

  async #process(job: DeliveryJob): Promise<JobResult> {
    const { queue, leases } = this.#options;
    const { id: jobId = "", token = "" } = job;
    this.#claimed += 1;
    this.#active += 1;
    const lease: HeldLease = { endpoint: queue.endpoint, jobId, token };
    this.#leases.set(jobId, lease);
    const endLease = leases.hold(lease);
    try {
      return await this.#runAttempt(job);
    } finally {
      endLease();
      if (this.#leases.get(jobId) === lease) this.#leases.delete(jobId);
      this.#active -= 1;
    }
  }

  /**
   * Runs one attempt. Returns only if the delivery has succeeded or was ignored. Otherwise, throws an error that makes BullMQ
   * requeue, delay, or fail the job.
   */
  async #runAttempt(job: DeliveryJob): Promise<JobResult> {
    const { queue, server, log } = this.#options;
    const data = jobDataSchema.safeParse(job.data);
    // Another program or another release wrote the job, so retries cannot succeed.
    if (!data.success) throw new server.errors.UnrecoverableError("JOB_UNREADABLE");
    const { id } = data.data;
    // BullMQ can claim one more job while the worker closes.
    if (this.#closing.signal.aborted) return this.#release(job);
    const fields = { endpoint: queue.endpoint, deliveryId: id };
    const { history, hasCrashed } = job.attemptsStarted > 1 ? await this.#recover(job) : firstClaim;
    const earlier = finalOutcome(history);
    if (earlier) return this.#skip(job, earlier);
    if (countedAttempts(history) >= queue.policy.maxAttempts) {
      await job.log(skippedEntry(job));
      log.error(
        { ...fields, code: storedCrashError.code },
        `${storedCrashError.message} The delivery is dead, because it has no attempts left. Replay the delivery to run it again.`,
      );
      throw new server.errors.UnrecoverableError(storedCrashError.code);
    }
    if (hasCrashed) return this.#delayAfterCrash(job, history);
    const permit = await this.#waitForPermit(job, { isSuspect: isSuspect(history) });
    if (permit === "closing") return this.#release(job);
    if (permit === "succeeded" || permit === "ignored") return this.#skip(job, permit);
    const counted = countedAttempts(history) + 1;
    const claimed: ClaimedDelivery = {
      id,
      endpoint: queue.endpoint,
      body: bodyOf(job.data) ?? "",
      receivedAt: new Date(job.timestamp),
      attempt: attemptsIn(history).length + 1,
      isLastAttempt: counted >= queue.policy.maxAttempts,
      retryDelayMs: queue.policy.waitAfter(counted),
    };
    try {
      const run = await this.#runs.run(job.id ?? "", claimed);
      return await this.#end(job, run, claimed);
    } finally {
      // Keep the permit until the result is recorded. Otherwise, if the next delivery crashed the process, this
      // delivery would be a suspect too.
      permit.leave();
    }
  }

  /** Completes a job without running the handler, because an earlier run, which lost its lease or crashed, recorded its outcome. */
  async #skip(job: DeliveryJob, outcome: "succeeded" | "ignored"): Promise<JobResult> {
    await job.log(skippedEntry(job));
    return toJobResult(outcome);
  }

  /** Records the result of a run. Returns or throws like `#runAttempt`. */
  async #end(job: DeliveryJob, run: HandlerRun, claimed: ClaimedDelivery): Promise<JobResult> {
    const { server, now } = this.#options;
    const claim = job.attemptsStarted;
    const { outcome, isInterrupted, hasLostLease } = run;
    if (hasLostLease) return this.#recordLate(job, run);
    if (outcome === "unfinished") return this.#endInterrupted(job, run);
    const next = nextStep(outcome, { claimed, isInterrupted, now: now() });
    if (next.status === "queued" && !next.counts) return this.#endInterrupted(job, run);
    if (!(await this.#hasLease(job, run))) return this.#recordLate(job, run);
    const dueAt = next.status === "queued" ? new Date(next.dueAt) : undefined;
    const entry = attemptEntry({ claim, attempt: run.attempt, counts: true, dueAt });
    const entryCount = await this.#record(job, entry);
    // Read the history only if a replay or an earlier claim has also added entries.
    let history: JobHistory = [];
    let isReplayed = false;
    try {
      if (entryCount > 1) history = await this.#history(job);
      isReplayed = wasReplayed(history, job);
    } finally {
      outcome.onStored?.(isReplayed ? { status: "queued", dueAt: now(), counts: true } : next);
    }
    if (isReplayed) {
      // Attempts before a replay do not count. Recording the replay again after this attempt excludes the attempt.
      await job.log(replayEntry(job));
      return this.#requeue(job);
    }
    const earlier = finalOutcome(history);
    if (earlier) return toJobResult(earlier);
    if (outcome.status !== "failed") return toJobResult(outcome.status);
    const { code } = outcome.error;
    throw dueAt ? new RetryError(code, dueAt) : new server.errors.UnrecoverableError(code);
  }

  /** Records an interrupted attempt, which does not count, and requeues the delivery. */
  async #endInterrupted(job: DeliveryJob, run: HandlerRun): Promise<never> {
    this.interrupted += 1;
    const attempt: DeliveryAttempt = { ...run.attempt, outcome: "abandoned", error: storedClosingError };
    await this.#record(job, attemptEntry({ claim: job.attemptsStarted, attempt, counts: false }));
    if (run.outcome !== "unfinished") {
      run.outcome.onStored?.({ status: "queued", dueAt: this.#options.now(), counts: false });
    }
    return this.#requeue(job);
  }

  /** Adds the result of a run to the history, and returns the number of entries in the history. */
  async #record(job: DeliveryJob, entry: string): Promise<number> {
    const { queue, server, log } = this.#options;
    try {
      return await this.#retry(() => job.log(entry));
    } catch (error) {
      if (readField(error, "code") !== jobMissing) throw error;
      log.error(
        { endpoint: queue.endpoint, deliveryId: job.data.id, code: "INBOX_DATA_LOST" },
        "The inbox server has lost a delivery while its handler ran. The handler has ended, but its result is not stored, and a failed delivery is not retried.",
      );
      throw new server.errors.WaitingError();
    }
  }

  /** Retries a failed request for up to a minute, because a run without a recorded result counts as a crash. */
  async #retry<T>(request: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    const deadline = performance.now() + recordTimeoutMs;
    for (;;) {
      try {
        return await request();
      } catch (error) {
        const isJobMissing = readField(error, "code") === jobMissing;
        if (isJobMissing || signal.aborted || performance.now() > deadline) throw error;
        this.#options.onError(toError(error));
      }
      // Closing the inbox aborts this pause. The loop then tries one last time.
      await wait(recordRetryMs, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Waits for a permit. Returns a reason instead if the inbox is closing, or an earlier run recorded its outcome in the meantime.
   *
   * @throws `WaitingError` if the lease was lost in the meantime.
   */
  async #waitForPermit(
    job: DeliveryJob,
    { isSuspect }: { isSuspect: boolean },
  ): Promise<RunPermit | "closing" | "succeeded" | "ignored"> {
    const { server, gate, onError } = this.#options;
    const immediate = isSuspect ? undefined : gate.tryEnter();
    if (immediate) return immediate;
    const { signal } = this.#closing;
    // If the process crashes, this entry shows that the handler had not started.
    await job.log(runStateEntry(job, "waiting"));
    const recordShared = () => void job.log(runStateEntry(job, "shared")).catch(onError);
    const permit = isSuspect ? await gate.enterAlone(signal, recordShared) : await gate.enter(signal);
    if (!permit) return "closing";
    let isReturned = false;
    try {
      if (signal.aborted) return "closing";
      const earlier = finalOutcome(await this.#history(job));
      if (earlier) return earlier;
      // Another process may be running the delivery. `#renewLeases` aborts only runs that have started.
      if (this.#leases.get(job.id ?? "")?.token !== job.token) throw new server.errors.WaitingError();
      await job.log(runStateEntry(job, permit.isAlone ? "alone" : "shared"));
      isReturned = true;
      return permit;
    } finally {
      if (!isReturned) permit.leave();
    }
  }

  /**
   * Whether this worker still has the lease for a run. Saves the request if the run took less than half of the lease duration.
   * A lease that cannot be checked counts as lost.
   */
  async #hasLease(job: DeliveryJob, { attempt }: HandlerRun): Promise<boolean> {
    const { leaseMs, onError } = this.#options;
    if ((attempt.durationMs ?? 0) < leaseMs / 2) return true;
    try {
      return (await this.#retry(() => job.extendLock(job.token ?? "", leaseMs))) > 0;
    } catch (error) {
      onError(toError(error));
      return false;
    }
  }

  /** Records a run that lost its lease. A final outcome counts, even if the delivery has become dead or is running again. */
  async #recordLate(job: DeliveryJob, { outcome, attempt }: HandlerRun): Promise<never> {
    const { queue, server, log } = this.#options;
    await this.#record(job, attemptEntry({ claim: job.attemptsStarted, attempt, counts: true }));
    const fields = { endpoint: queue.endpoint, deliveryId: job.data.id, code: "LEASE_LOST" };
    if (outcome !== "unfinished" && outcome.status !== "failed") {
      const what = outcome.status === "ignored" ? "was ignored" : "succeeded";
      const message = `A delivery ${what} after its lease had expired. Another process may have run the delivery too.`;
      log.warn(fields, `${message} ${leaseHint}`);
      outcome.onStored?.({ status: outcome.status });
      // A worker then claims the delivery, finds the recorded outcome, and completes the job.
      await makeDue(job, await job.getState());
    } else {
      const message = "A delivery failed after its lease had expired. Another process may be running the delivery.";
      log.warn(fields, `${message} ${leaseHint}`);
    }
    // Another worker may have the lease, so BullMQ must not move the job.
    throw new server.errors.WaitingError();
  }

  /** Requeues a claimed delivery without running its handler, because the inbox is closing. */
  async #release(job: DeliveryJob): Promise<never> {
    await job.log(skippedEntry(job));
    return this.#requeue(job);
  }

  async #requeue(job: DeliveryJob): Promise<never> {
    await job.moveToWait(job.token);
    throw new this.#options.server.errors.WaitingError();
  }

  /** Reads the history. Without a final outcome, records an abandoned attempt for each claim that a crash interrupted. */
  async #recover(job: DeliveryJob): Promise<{ history: JobHistory; hasCrashed: boolean }> {
    let history = await this.#history(job);
    const crashes = finalOutcome(history) ? [] : crashedClaims(history, job);
    for (const { claim, wasAlone } of crashes) {
      // The start time is omitted, because BullMQ has replaced it with the start time of the current claim.
      const number = attemptsIn(history).length + 1;
      const attempt: DeliveryAttempt = { number, outcome: "abandoned", error: storedCrashError };
      const counts = countsAsAttempt({ wasAlone, uncountedCrashes: crashesIn(history).uncounted });
      const entry = attemptEntry({ claim, attempt, counts });
      await job.log(entry);
      history = [...history, ...readHistory([entry])];
    }
    return { history, hasCrashed: crashes.length > 0 };
  }

  /** Delays a suspect by the wait of the retry policy. After the delay, the suspect runs alone if possible. */
  async #delayAfterCrash(job: DeliveryJob, history: JobHistory): Promise<never> {
    const { queue, log, now, server } = this.#options;
    const { counted, uncounted } = crashesIn(history);
    const waitMs = queue.policy.waitAfter(counted + uncounted);
    const attempt = attemptsIn(history).length;
    const { code } = storedCrashError;
    const fields = { endpoint: queue.endpoint, deliveryId: job.data.id, attempt, waitMs, code };
    log.warn(fields, `${storedCrashError.message} The delivery will be retried, alone in its process if possible.`);
    await job.log(skippedEntry(job, new Date(now() + waitMs)));
    // BullMQ subtracts `Date.now()` from this time.
    await job.moveToDelayed(Date.now() + waitMs, job.token);
    throw new server.errors.DelayedError();
  }

  async #history({ id = "" }: DeliveryJob): Promise<JobHistory> {
    return readHistory((await this.#worker.getBackend().getJobLogs(id, 0, -1, true)).logs);
  }
}

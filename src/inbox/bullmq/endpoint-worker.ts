import type { Outcome } from "../../delivery.ts";
import { WebhookError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { QueueOptions, Task } from "../inbox.ts";
import { inboxClosing, leaseLost } from "../inbox-errors.ts";
import { nextAttemptAt } from "../retry-policy.ts";
import { abandonedError, closingError, type DeliveryAttempt, storedError } from "../stored-delivery.ts";
import type { Bullmq } from "./packages.ts";
import type { DeliveryWorker, QueueServer } from "./queue-server.ts";
import {
  attemptRow,
  attemptsIn,
  bodyOf,
  countedAttempts,
  type DeliveryJob,
  type JobHistory,
  jobDataSchema,
  passedRow,
  readHistory,
  replayedRow,
  startsIn,
  wasReplayed,
} from "./stored-job.ts";

/** BullMQ's own words for "back into the queue" and "never again". */
export type QueueWords = Pick<Bullmq, "WaitingError" | "UnrecoverableError">;

/** What an {@link EndpointWorker} is made from. */
export interface EndpointWorkerOptions {
  queue: QueueOptions;
  server: QueueServer;
  words: QueueWords;
  leaseMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: () => Logger;
  onError: (error: Error) => void;
}

/** What passes until a server that did not answer is asked again, in milliseconds: BullMQ would take 15 seconds. */
const retryMs = 3_000;

/** Crashes are counted by what the log of a job lacks, so BullMQ itself never gives up. */
const withoutLimit = 1_000_000;

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
  /** Whether the delivery belongs to somebody else by now. */
  isLost: boolean;
}

/** Works on the deliveries of one endpoint, so many at a time: a worker of BullMQ. */
export class EndpointWorker {
  readonly #options: EndpointWorkerOptions;
  readonly #worker: DeliveryWorker;
  readonly #running = new Map<string, { controller: AbortController; giveUp: () => void }>();
  #closing = false;
  #graceIsOver = false;

  constructor(options: EndpointWorkerOptions) {
    this.#options = options;
    const { queue, server, leaseMs, now, onError } = options;
    this.#worker = server.openWorker(queue.endpoint, (job, token = "") => this.#process(job, token), {
      concurrency: queue.concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: withoutLimit,
      runRetryDelay: retryMs,
      settings: {
        backoffStrategy: (_attempts, _type, error) =>
          error instanceof RetryError ? Math.max(0, error.dueAt.getTime() - now()) : 0,
      },
    });
    this.#worker.on("error", onError);
    this.#worker.on("lockRenewalFailed", (ids) => {
      for (const id of ids) this.#running.get(id)?.controller.abort(leaseLost());
    });
  }

  get retentionMs(): number {
    return this.#options.queue.retentionMs;
  }

  /** Takes nothing more, asks handlers to end, and hands back what is not done after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const closed = this.#worker.close();
    for (const { controller } of this.#running.values()) controller.abort(inboxClosing());
    const timer = setTimeout(() => {
      this.#graceIsOver = true;
      for (const { giveUp } of this.#running.values()) giveUp();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  }

  /** Runs one attempt. Returns when the delivery has succeeded, and throws what BullMQ is to do otherwise. */
  async #process(job: DeliveryJob, token: string): Promise<undefined> {
    const { queue, words, log } = this.#options;
    const data = jobDataSchema.safeParse(job.data);
    // Not ours, or of another release: it gets no better by trying again.
    if (!data.success) throw new words.UnrecoverableError("JOB_UNREADABLE");
    const { id } = data.data;
    // BullMQ was on its way to take it when it was told to close.
    if (this.#closing) {
      await job.log(passedRow);
      return this.#backIntoQueue(job, token);
    }
    const history = job.attemptsStarted > 1 ? await this.#historyWithCrashes(job) : [];
    const counted = countedAttempts(history) + 1;
    const fields = { endpoint: queue.endpoint, deliveryId: id };
    if (counted > queue.policy.attempts) {
      await job.log(passedRow);
      log().error(
        { ...fields, code: abandonedError.code },
        `${abandonedError.message} Its attempts are used up: it is dead. Replay it.`,
      );
      throw new words.UnrecoverableError("ABANDONED");
    }
    const task: Task = {
      id,
      endpoint: queue.endpoint,
      body: bodyOf(job.data) ?? "",
      receivedAt: new Date(job.timestamp),
      attempt: attemptsIn(history).length + 1,
      isLast: counted === queue.policy.attempts,
    };
    const run = await this.#run(job, task);
    if (run.outcome === "grace over" || (this.#closing && run.outcome.status === "failed")) {
      const attempt: DeliveryAttempt = { ...run.attempt, outcome: "abandoned", error: closingError };
      await job.log(attemptRow({ attempt, counts: false }));
      return this.#backIntoQueue(job, token);
    }
    if (run.isLost) {
      log().warn(fields, "A delivery took longer than its lease, and somebody else works on it.");
      throw leaseLost();
    }
    const next = this.#next({ task, counted, outcome: run.outcome });
    const rows = await job.log(attemptRow({ attempt: run.attempt, counts: true, dueAt: next?.dueAt }));
    const isReplayed = rows > history.length + 1 && wasReplayed(await this.#history(job), job);
    if (isReplayed) {
      // With all attempts anew, however this one has ended.
      await job.log(replayedRow(job));
      return this.#backIntoQueue(job, token);
    }
    if (run.outcome.status !== "failed") return undefined;
    throw next ?? new words.UnrecoverableError(run.outcome.error.code);
  }

  async #run(job: DeliveryJob, task: Task): Promise<Run> {
    const { queue, now } = this.#options;
    const key = job.id ?? "";
    const controller = new AbortController();
    const graceOver = Promise.withResolvers<"grace over">();
    if (this.#closing) controller.abort(inboxClosing());
    const giveUp = () => graceOver.resolve("grace over");
    if (this.#graceIsOver) giveUp();
    this.#running.set(key, { controller, giveUp });
    const startedAt = new Date(now());
    const began = performance.now();
    try {
      const outcome = await Promise.race([queue.run(task, controller.signal), graceOver.promise]);
      const failure = outcome !== "grace over" && outcome.status === "failed" ? outcome.error : undefined;
      const attempt: DeliveryAttempt = {
        number: task.attempt,
        startedAt,
        durationMs: performance.now() - began,
        outcome: failure ? "failed" : "succeeded",
        ...(failure && { error: storedError(failure) }),
      };
      return { outcome, attempt, isLost: isLeaseLost(controller.signal.reason) };
    } finally {
      // It may be here a second time by now, after its lease was lost.
      if (this.#running.get(key)?.controller === controller) this.#running.delete(key);
    }
  }

  /** How it goes on after a failure; `undefined` when it does not. */
  #next({ task, counted, outcome }: { task: Task; counted: number; outcome: Outcome }): RetryError | undefined {
    if (outcome.status !== "failed" || !outcome.error.retryable || task.isLast) return undefined;
    const { queue, now } = this.#options;
    const dueAt = nextAttemptAt(queue.policy, { attempt: counted, retryAt: outcome.retryAt, now: now() });
    return new RetryError(outcome.error.code, new Date(dueAt));
  }

  async #backIntoQueue(job: DeliveryJob, token: string): Promise<never> {
    await job.moveToWait(token);
    throw new this.#options.words.WaitingError();
  }

  /** An earlier attempt of which the log says nothing was cut short by a crash. */
  async #historyWithCrashes(job: DeliveryJob): Promise<JobHistory> {
    const history = await this.#history(job);
    const missing = job.attemptsStarted - 1 - startsIn(history);
    if (missing <= 0) return history;
    const last = attemptsIn(history).length;
    const fields = { endpoint: this.#options.queue.endpoint, deliveryId: job.data.id, attempt: last + missing };
    this.#options.log().warn({ ...fields, code: abandonedError.code }, `${abandonedError.message} It is run again.`);
    for (let number = last + 1; number <= last + missing; number += 1) {
      // BullMQ has overwritten by now when that one began.
      const attempt: DeliveryAttempt = { number, outcome: "abandoned", error: abandonedError };
      await job.log(attemptRow({ attempt, counts: true }));
    }
    return this.#history(job);
  }

  async #history({ id = "" }: DeliveryJob): Promise<JobHistory> {
    return readHistory((await this.#worker.getBackend().getJobLogs(id, 0, -1, true)).logs);
  }
}

function isLeaseLost(reason: unknown): boolean {
  return WebhookError.isInstance(reason) && reason.code === "LEASE_LOST";
}

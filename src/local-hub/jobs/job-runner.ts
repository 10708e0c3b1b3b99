import * as z from "zod";
import type { Logger } from "../../core/log.ts";
import type { JobStage } from "../../hub/jobs/schemas.ts";
import type { PendingDelivery } from "../store/delivery-store.ts";
import type { JobStore, StoredJob, StoredLogLine } from "../store/job-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { Changes } from "./event-stream.ts";
import { createMask, runCommand } from "./run-command.ts";

/** The maximum number of jobs that run at the same time. Other jobs wait. */
const maxConcurrentProcesses = 4;

/** The message of jobs that are only recorded. These jobs never start. */
const onlyRecorded = "not run, only recorded: start the local Hub with --run-jobs to run jobs";

type Delivery = Pick<PendingDelivery, "deliveryId" | "body">;

const noCommand = "the job has no command, and the local Hub cannot run the default command of an image. Set a command";

interface JobRunnerOptions {
  store: JobStore;
  /** Whether to run the commands of jobs as local processes. Otherwise, jobs are only recorded. */
  runJobs: boolean;
  now: () => number;
  createId: () => string;
  log: Logger;
}

interface NewJob extends Pick<StoredJob, "owner" | "createdBy" | "webhookId" | "definition"> {
  secrets: Readonly<Record<string, string>>;
  /** Variables of the process that override secrets with the same name. */
  variables?: Readonly<Record<string, string>>;
}

/** Creates jobs for webhooks and for API requests, and optionally runs their commands. */
export class JobRunner {
  readonly changes = new Changes();
  readonly #options: JobRunnerOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #cancellations = new Map<string, AbortController>();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    for (const { id, stage, message } of options.store.all()) {
      const isWaiting = stage === "SCHEDULING" && message !== onlyRecorded;
      if (stage === "RUNNING" || isWaiting) {
        const reason = `the local Hub stopped ${isWaiting ? "before the job ran" : "while the job was running"}`;
        this.#update(id, { stage: "ERROR", message: reason });
      }
    }
  }

  /** If the webhook refers to an unknown job, or the job of another user, the new job has the stage `ERROR`. */
  start(webhook: StoredWebhook, { deliveryId, body }: Delivery): StoredJob {
    const started = { owner: webhook.owner, createdBy: webhook.owner, webhookId: webhook.id };
    const template = templateOfWebhook(webhook, this.#options.store);
    if (!template) {
      const now = this.#options.now();
      const definition = { flavor: "cpu-basic", environment: {}, timeoutSeconds: null, attempts: 1 } as const;
      const message = `you have no job "${webhook.definition.jobSourceId}"`;
      return this.#store(
        { ...started, definition, stage: "ERROR", message, createdAt: now, finishedAt: now, secretNames: [] },
        {},
      );
    }
    const variables = webhookVariables({ deliveryId, body });
    const { secret } = webhook.definition;
    return this.run({
      ...started,
      definition: { ...template.definition, environment: { ...template.definition.environment, ...variables } },
      secrets: { ...template.secrets, ...(secret !== undefined && { WEBHOOK_SECRET: secret }) },
      variables,
    });
  }

  /** Creates and stores a job. With `runJobs`, also starts or queues its process. */
  run({ secrets, variables = {}, ...created }: NewJob): StoredJob {
    const { now, runJobs } = this.#options;
    const initial = { stage: "SCHEDULING", message: runJobs ? null : onlyRecorded } as const;
    const secretNames = Object.keys(secrets);
    const job = this.#store({ ...created, createdAt: now(), secretNames, ...initial }, secrets);
    if (!runJobs) return job;
    const cancellation = new AbortController();
    this.#cancellations.set(job.id, cancellation);
    const signal = AbortSignal.any([this.#closing.signal, cancellation.signal]);
    this.#schedule(() =>
      this.#run(job, { secrets, variables, signal }).finally(() => this.#cancellations.delete(job.id)),
    );
    return job;
  }

  /** Cancels a job and stops its process. Has no effect on finished jobs. */
  cancel(jobId: string): void {
    this.#update(jobId, { stage: "CANCELED", message: "canceled" });
    this.#cancellations.get(jobId)?.abort();
  }

  /** Stops all processes, before all jobs are deleted. */
  cancelAll(): void {
    for (const jobId of [...this.#cancellations.keys()]) this.cancel(jobId);
  }

  setLabels(jobId: string, labels: Readonly<Record<string, string>>): void {
    const { store } = this.#options;
    const job = store.get(jobId);
    if (job) store.update({ ...job, definition: { ...job.definition, labels: { ...labels } } });
  }

  /** Whether a job can still change its stage or print lines. */
  isActive({ stage, message }: StoredJob): boolean {
    return !isFinished(stage) && message !== onlyRecorded;
  }

  /** Cancels running and waiting jobs, and waits until their processes have exited. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #store(job: Omit<StoredJob, "id">, secrets: Readonly<Record<string, string>>): StoredJob {
    const stored = { id: this.#options.createId(), ...job };
    this.#options.store.add(stored, secrets);
    return stored;
  }

  #update(jobId: string, change: Pick<StoredJob, "stage" | "message" | "failureCount">): void {
    const { store, now } = this.#options;
    const job = store.get(jobId);
    if (!job || isFinished(job.stage)) return;
    store.update({
      ...job,
      ...change,
      ...(change.stage === "RUNNING" && { startedAt: job.startedAt ?? now() }),
      ...(isFinished(change.stage) && { finishedAt: now() }),
    });
    this.changes.notify(jobId);
  }

  #schedule(task: () => Promise<void>): void {
    if (this.#running.size >= maxConcurrentProcesses) return void this.#waiting.push(task);
    const running = task()
      .catch((error: unknown) => this.#options.log.error({ err: error }, "A job could not be run."))
      .finally(() => {
        this.#running.delete(running);
        const next = this.#waiting.shift();
        if (next) this.#schedule(next);
      });
    this.#running.add(running);
  }

  async #run(
    { id, definition }: StoredJob,
    { secrets, variables, signal }: Required<Pick<NewJob, "secrets" | "variables">> & { signal: AbortSignal },
  ): Promise<void> {
    const { store, log, now } = this.#options;
    const lines = log.child({ job: id });
    const command = [...(definition.command ?? []), ...(definition.arguments ?? [])];
    const onStored = () => this.changes.notify(id);
    const output = openOutput({ store, jobId: id, secrets: Object.values(secrets), now, onStored, log: lines });
    const setStage = (stage: StoredJob["stage"], message: string | null, failureCount: number) => {
      output.flush();
      this.#update(id, { stage, message, failureCount });
      lines.info({ stage, ...(message !== null && { reason: message }) }, "job");
    };
    if (command.length === 0) return setStage("ERROR", noCommand, 0);
    for (let failures = 0; ; failures += 1) {
      if (!signal.aborted) {
        setStage("RUNNING", null, failures);
        // The Hub also prints this line, and its clients remove it.
        output.add(`===== Job started at ${new Date(now()).toISOString().replace("T", " ").slice(0, 19)} =====`);
      }
      const reason = await runCommand({
        command,
        // Variables override secrets with the same name.
        environment: { ...definition.environment, ...secrets, ...variables, JOB_ID: id },
        timeoutSeconds: definition.timeoutSeconds,
        signal,
        onOutput: (line) => lines.info({ line: output.add(line) }, "job output"),
      });
      if (reason === undefined) return setStage("COMPLETED", null, failures);
      if (signal.aborted) {
        return setStage("CANCELED", this.#closing.signal.aborted ? "the local Hub was closed" : "canceled", failures);
      }
      if (failures >= definition.attempts - 1) return setStage("ERROR", reason, failures + 1);
    }
  }
}

interface JobOutputOptions {
  store: JobStore;
  jobId: string;
  secrets: readonly string[];
  now: () => number;
  onStored: () => void;
  log: Logger;
}

/**
 * Stores the output of a job. Masks secrets, because jobs can print their secrets. Stores the lines that arrive together in one
 * transaction, because one transaction per line would slow down the local Hub.
 */
function openOutput({ store, jobId, secrets, now, onStored, log }: JobOutputOptions) {
  const mask = createMask(secrets);
  let pending: StoredLogLine[] = [];
  const flush = () => {
    const lines = pending;
    if (lines.length === 0) return;
    pending = [];
    try {
      store.addLines(jobId, lines);
    } catch (error) {
      // A full disk must not end the local Hub.
      log.error({ err: error }, "The output of a job could not be stored.");
    }
    onStored();
  };
  /** Adds a line, and returns the line with masked secrets. */
  const add = (line: string) => {
    const data = mask(line);
    if (pending.length === 0) queueMicrotask(flush);
    pending.push({ timestamp: now(), data });
    return data;
  };
  return { add, flush };
}

function isFinished(stage: JobStage): boolean {
  return stage !== "SCHEDULING" && stage !== "RUNNING";
}

/** A job must also start if edits removed required fields of the payload. */
const editedPayload = z.object({
  repo: z.object({ name: z.string().catch(""), type: z.string().catch("") }).catch({ name: "", type: "" }),
});

/** Returns the job of a webhook, or `undefined` if the webhook refers to an unknown job, or the job of another user. */
function templateOfWebhook({ owner, definition }: StoredWebhook, store: JobStore) {
  if (definition.job) {
    const { secrets = {}, ...further } = definition.job;
    return { definition: further, secrets };
  }
  const source = store.get(definition.jobSourceId ?? "");
  if (source?.createdBy !== owner) return undefined;
  // The secret of the webhook that started the earlier job is not passed on.
  const { WEBHOOK_SECRET: _secret, ...secrets } = store.secretsOf(source.id);
  return { definition: source.definition, secrets };
}

function webhookVariables({ deliveryId, body }: Delivery): Record<string, string> {
  const { repo } = editedPayload.parse(JSON.parse(body));
  return {
    WEBHOOK_PAYLOAD: body,
    WEBHOOK_REPO_ID: repo.name,
    WEBHOOK_REPO_TYPE: repo.type,
    WEBHOOK_ID: deliveryId,
  };
}

import * as z from "zod";
import type { Logger } from "../../core/logger.ts";
import type { Job, JobStage } from "../../hub/jobs.ts";
import { accountId } from "../accounts.ts";
import type { JobStore } from "../store/job-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { runCommand } from "./run-command.ts";

/**
 * Replaces missing fields with empty strings, because a job must also start if edits removed required fields of the
 * payload.
 */
const editedPayload = z.object({
  repo: z.object({ name: z.string().catch(""), type: z.string().catch("") }).catch({ name: "", type: "" }),
});

/** The maximum number of jobs that run at the same time. Other jobs wait. */
const maxConcurrentProcesses = 4;

export interface JobRunnerOptions {
  store: JobStore;
  /** Whether to run the commands of jobs as local processes. Otherwise, jobs are only recorded. */
  runJobs: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  createId: () => string;
  log: Logger;
}

/** A delivery that starts a job. */
export interface JobStart {
  webhook: StoredWebhook;
  deliveryId: string;
  /** The payload. */
  body: string;
}

/** The definition of a job, from a webhook or from an earlier job. */
interface JobTemplate {
  record: Omit<Job, "id" | "createdAt" | "owner" | "createdBy" | "status" | "secrets">;
  secretValues: Readonly<Record<string, string>>;
}

interface ProcessEnvironment {
  secrets: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, string>>;
}

/** Creates jobs for webhooks, and optionally runs their commands. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: (() => Promise<void>)[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    for (const job of options.store.all()) {
      const { stage, message } = job.status;
      // Jobs that are only recorded have a message and never start.
      const isWaiting = stage === "SCHEDULING" && message === null;
      if (stage === "RUNNING" || isWaiting) {
        const reason = `the local Hub stopped ${isWaiting ? "before the job ran" : "while the job was running"}`;
        options.store.update(withStatus(job, { stage: "ERROR", message: reason }));
      }
    }
  }

  /**
   * Creates and stores the job for a delivery. With `runJobs`, also starts or queues its process. If the webhook refers
   * to an unknown job, the new job has the stage `ERROR`.
   */
  start({ webhook, deliveryId, body }: JobStart): Job {
    const { store, now, createId, runJobs } = this.#options;
    const account = { id: accountId(webhook.owner), name: webhook.owner };
    const made = { id: createId(), createdAt: new Date(now()).toISOString(), owner: account, createdBy: account };
    const template = this.#templateOf(webhook);
    if (!template) {
      const reason = `job "${webhook.definition.jobSourceId}" does not exist`;
      const job: Job = { ...made, environment: {}, flavor: "cpu-basic", status: { stage: "ERROR", message: reason } };
      store.add(job, {});
      return job;
    }
    const { repo } = editedPayload.parse(JSON.parse(body));
    const variables = {
      WEBHOOK_PAYLOAD: body,
      WEBHOOK_REPO_ID: repo.name,
      WEBHOOK_REPO_TYPE: repo.type,
      WEBHOOK_ID: deliveryId,
    };
    const { secret } = webhook.definition;
    const secrets = { ...template.secretValues, ...(secret !== undefined && { WEBHOOK_SECRET: secret }) };
    const job: Job = {
      ...made,
      ...template.record,
      environment: { ...template.record.environment, ...variables },
      ...(Object.keys(secrets).length > 0 && { secrets: hideValues(secrets) }),
      status: {
        stage: "SCHEDULING",
        message: runJobs ? null : "not run, only recorded: start the local Hub with --run-jobs to run jobs",
      },
    };
    store.add(job, secrets);
    if (runJobs) this.#schedule(() => this.#run(job, { secrets, variables }));
    return job;
  }

  /** Cancels running and waiting jobs, and waits until their processes have exited. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #templateOf({ definition }: StoredWebhook): JobTemplate | undefined {
    if (definition.job) return templateOfDefinition(definition.job);
    const source = this.#options.store.get(definition.jobSourceId ?? "");
    return source && templateOfJob(source, this.#options.store.secretsOf(source.id));
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

  async #run(job: Job, { secrets, variables }: ProcessEnvironment): Promise<void> {
    const { store, log } = this.#options;
    const signal = this.#closing.signal;
    const lines = log.child({ job: job.id });
    const command = [...(job.command ?? []), ...(job.arguments ?? [])];
    const setStage = (stage: JobStage, message: string | null, failureCount: number) => {
      store.update(withStatus(job, { stage, message, failureCount }));
      lines.info({ stage, ...(message !== null && { reason: message }) }, "job");
    };
    if (command.length === 0) {
      return setStage(
        "ERROR",
        "the job has no command, and the local Hub cannot run the default command of an image. Set a command",
        0,
      );
    }
    for (let failures = 0; ; failures += 1) {
      if (!signal.aborted) setStage("RUNNING", null, failures);
      const reason = await runCommand({
        command,
        // Variables override secrets with the same name.
        environment: { ...job.environment, ...secrets, ...variables },
        timeoutSeconds: job.timeout ?? null,
        signal,
        onOutput: (line) => lines.info({ line: maskSecrets(line, secrets) }, "job output"),
      });
      if (reason === undefined) return setStage("COMPLETED", null, failures);
      if (signal.aborted) return setStage("CANCELED", "the local Hub was closed", failures);
      if (failures >= (job.retry ?? 0)) return setStage("ERROR", reason, failures + 1);
    }
  }
}

function templateOfDefinition(definition: NonNullable<StoredWebhook["definition"]["job"]>): JobTemplate {
  const { labels, attempts, timeoutSeconds, secrets = {}, ssh: _ssh, ...same } = definition;
  return {
    record: {
      ...same,
      retry: attempts - 1,
      ...(timeoutSeconds !== null && { timeout: timeoutSeconds }),
      ...(labels && { tags: Object.entries(labels).map(([key, value]) => `${key}=${value}`) }),
    },
    secretValues: secrets,
  };
}

/** Creates the definition from an earlier job, without the secret of the webhook that started the earlier job. */
function templateOfJob(job: Job, { WEBHOOK_SECRET: _secret, ...secretValues }: Record<string, string>): JobTemplate {
  const { id: _id, createdAt: _at, owner: _owner, createdBy: _by, status: _status, secrets: _names, ...record } = job;
  return { record, secretValues };
}

function hideValues(secretValues: Readonly<Record<string, string>>): Record<string, null> {
  return Object.fromEntries(Object.keys(secretValues).map((name) => [name, null]));
}

/** Masks secrets in a line of output, because jobs can print their secrets. */
function maskSecrets(line: string, secrets: Readonly<Record<string, string>>): string {
  return Object.values(secrets)
    .filter((value) => value !== "")
    .reduce((masked, value) => masked.replaceAll(value, "***"), line);
}

function withStatus(job: Job, status: Job["status"]): Job {
  return { ...job, status };
}

import * as z from "zod";
import type { Logger } from "../../core/logger.ts";
import type { Job, JobStage } from "../../hub/jobs.ts";
import { accountId } from "../accounts.ts";
import type { JobStore } from "../store/job-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { runJobProcess } from "./job-process.ts";

/** A payload that was edited may lack what every other one has: its job is made all the same. */
const payload = z.object({
  repo: z.object({ name: z.string().catch(""), type: z.string().catch("") }).catch({ name: "", type: "" }),
});

/** Processes that run at the same time; further jobs wait. */
const processesAtOnce = 4;

/** What a {@link JobRunner} is made from. */
export interface JobRunnerOptions {
  store: JobStore;
  /** Whether commands are run as local processes; else jobs are only recorded. */
  runs: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  newId: () => string;
  log: Logger;
}

/** A delivery to a job. */
export interface JobDelivery {
  webhook: StoredWebhook;
  deliveryId: string;
  /** The payload. */
  body: string;
}

/** What a job is told to do: the part of its record that is known before it is made, and what a record hides. */
interface JobOrder {
  fixed: Omit<Job, "id" | "createdAt" | "owner" | "createdBy" | "status" | "secrets">;
  secretValues: Readonly<Record<string, string>>;
}

/** What a process is given and a record does not hold, or holds among other things. */
interface Hidden {
  secrets: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, string>>;
}

/** Makes the jobs of webhooks and, where it is told to, runs their commands here. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: (() => Promise<void>)[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    for (const job of options.store.all()) {
      const { stage, message } = job.status;
      // One that is recorded only says so, and waits for nothing.
      const waited = stage === "SCHEDULING" && message === null;
      if (stage === "RUNNING" || waited) {
        const reason = `the local Hub ended ${waited ? "before" : "while"} it ran`;
        options.store.update(at(job, { stage: "ERROR", message: reason }));
      }
    }
  }

  /** Makes the job of a delivery and has it run, later than this returns. */
  start({ webhook, deliveryId, body }: JobDelivery): Job {
    const { store, now, newId, runs } = this.#options;
    const account = { id: accountId(webhook.owner), name: webhook.owner };
    const made = { id: newId(), createdAt: new Date(now()).toISOString(), owner: account, createdBy: account };
    const order = this.#orderOf(webhook);
    if (!order) {
      const reason = `there is no job ${webhook.definition.jobSourceId} to run again`;
      const job: Job = { ...made, environment: {}, flavor: "cpu-basic", status: { stage: "ERROR", message: reason } };
      store.add(job, {});
      return job;
    }
    const { repo } = payload.parse(JSON.parse(body));
    const variables = {
      WEBHOOK_PAYLOAD: body,
      WEBHOOK_REPO_ID: repo.name,
      WEBHOOK_REPO_TYPE: repo.type,
      WEBHOOK_ID: deliveryId,
    };
    const { secret } = webhook.definition;
    const secrets = { ...order.secretValues, ...(secret !== undefined && { WEBHOOK_SECRET: secret }) };
    const job: Job = {
      ...made,
      ...order.fixed,
      environment: { ...order.fixed.environment, ...variables },
      ...(Object.keys(secrets).length > 0 && { secrets: hidden(secrets) }),
      status: {
        stage: "SCHEDULING",
        message: runs ? null : "recorded only: start the local Hub with --run-jobs to run it here",
      },
    };
    store.add(job, secrets);
    if (runs) this.#schedule(() => this.#run(job, { secrets, variables }));
    return job;
  }

  /** Cancels what runs and what waits. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #orderOf({ definition }: StoredWebhook): JobOrder | undefined {
    if (definition.job) return orderOfDefinition(definition.job);
    const source = this.#options.store.get(definition.jobSourceId ?? "");
    return source && orderOfJob(source, this.#options.store.secretsOf(source.id));
  }

  #schedule(task: () => Promise<void>): void {
    if (this.#running.size >= processesAtOnce) return void this.#waiting.push(task);
    const running = task()
      .catch((error: unknown) => this.#options.log.error({ err: error }, "A job could not be run."))
      .finally(() => {
        this.#running.delete(running);
        const next = this.#waiting.shift();
        if (next) this.#schedule(next);
      });
    this.#running.add(running);
  }

  async #run(job: Job, { secrets, variables }: Hidden): Promise<void> {
    const { store, log } = this.#options;
    const signal = this.#closing.signal;
    const lines = log.child({ job: job.id });
    const command = [...(job.command ?? []), ...(job.arguments ?? [])];
    const reach = (stage: JobStage, message: string | null, failureCount: number) => {
      store.update(at(job, { stage, message, failureCount }));
      lines.info({ stage, ...(message !== null && { reason: message }) }, "job");
    };
    if (command.length === 0) {
      return reach("ERROR", "it has no command, and what its image would run is not known here", 0);
    }
    for (let failures = 0; ; failures += 1) {
      if (!signal.aborted) reach("RUNNING", null, failures);
      const reason = await runJobProcess({
        command,
        // The variables last: a secret of the same name must not stand for them.
        environment: { ...job.environment, ...secrets, ...variables },
        timeoutSeconds: job.timeout ?? null,
        signal,
        onOutput: (line) => lines.info({ line: masked(line, secrets) }, "job output"),
      });
      if (reason === undefined) return reach("COMPLETED", null, failures);
      if (signal.aborted) return reach("CANCELED", "the local Hub was closed", failures);
      if (failures >= (job.retry ?? 0)) return reach("ERROR", reason, failures + 1);
    }
  }
}

function orderOfDefinition(definition: NonNullable<StoredWebhook["definition"]["job"]>): JobOrder {
  const { labels, attempts, timeoutSeconds, secrets = {}, ssh: _ssh, ...same } = definition;
  return {
    fixed: {
      ...same,
      retry: attempts - 1,
      ...(timeoutSeconds !== null && { timeout: timeoutSeconds }),
      ...(labels && { tags: Object.entries(labels).map(([key, value]) => `${key}=${value}`) }),
    },
    secretValues: secrets,
  };
}

/** A job that ran before, to run again. The secret of the webhook that started it was that webhook's own. */
function orderOfJob(job: Job, { WEBHOOK_SECRET: _secret, ...secretValues }: Record<string, string>): JobOrder {
  const { id: _id, createdAt: _at, owner: _owner, createdBy: _by, status: _status, secrets: _names, ...fixed } = job;
  return { fixed, secretValues };
}

function hidden(secretValues: Readonly<Record<string, string>>): Record<string, null> {
  return Object.fromEntries(Object.keys(secretValues).map((name) => [name, null]));
}

/** A job may print what it was given: no secret gets into a log. */
function masked(line: string, secrets: Readonly<Record<string, string>>): string {
  return Object.values(secrets)
    .filter((value) => value !== "")
    .reduce((text, value) => text.replaceAll(value, "***"), line);
}

function at(job: Job, status: Job["status"]): Job {
  return { ...job, status };
}

import * as z from "zod/mini";
import type { ConsoleStatus } from "./deliveries.ts";

/** A repository, user, or organization that a webhook watches. */
const watchedItem = z.strictObject({
  type: z.string().check(z.maxLength(100)),
  name: z.string().check(z.maxLength(1_000)),
});

const id = z.string().check(z.maxLength(1_000));

/** The query of `GET /api/webhooks/one`, and the body of `POST /api/webhooks/delete`, `/enable`, `/disable`, and `/suspend`. */
export const webhookKey = z.strictObject({ id });

const webhookFields = {
  watched: z.array(watchedItem).check(z.maxLength(1_000)),
  domains: z.array(z.string().check(z.maxLength(100))).check(z.maxLength(100)),
};

/** The body of `POST /api/webhooks`. Invalid values are answered with 422 `ARGUMENT_INVALID` and `fields`. */
export const webhookCreation = z.strictObject({ ...webhookFields, url: z.string(), secret: z.optional(z.string()) });

/** The body of `POST /api/webhooks/update`. */
export const webhookChange = z.strictObject({
  ...webhookFields,
  id,
  /** Omit the URL to keep the target. The URL in {@link WebhookInfo} can contain masked secrets. */
  url: z.optional(z.string()),
  /** Omit the secret to keep it, or set it to `null` to remove it. */
  secret: z.optional(z.nullable(z.string())),
});
export type WebhookChange = z.infer<typeof webhookChange>;

/** The query of `GET /api/webhooks/attempt`, and the body of `POST /api/webhooks/replay`. */
export const attemptKey = z.strictObject({ id, logId: id });

/** The states of a webhook. `suspended`: after too many failed deliveries, until it is enabled again. */
export type WebhookState = "enabled" | "disabled" | "suspended";

/** A webhook of the local Hub. Secrets in its URL are masked. */
export interface WebhookInfo {
  id: string;
  owner: string;
  /** A job has a command or the ID of the job that it copies. */
  target: { kind: "url"; url: string } | { kind: "job"; description: string } | { kind: "jobSource"; id: string };
  state: WebhookState;
  watched: readonly { type: string; name: string }[];
  domains: readonly string[];
  isSecretSet: boolean;
  lastTriggerAt?: number;
  /** Triggers in the last 24 hours, and the limit of the Hub. Without a limit, `limit` is missing. */
  today: { deliveries: number; limit?: number };
  /** Consecutive failed deliveries. The webhook is suspended at the limit. Without a limit, `limit` is missing. */
  failures: { count: number; limit?: number };
  last?: AttemptSummary;
}

/** The answer of `GET /api/webhooks`. */
export interface WebhookList {
  webhooks: readonly WebhookInfo[];
  /** The number of webhooks that are not listed, because there are too many. */
  unlisted: number;
  createCommand: string;
}

/** One attempt of a delivery of a webhook. */
export interface AttemptSummary {
  logId: string;
  deliveryId: string;
  /** The number of the attempt. Replays count as attempts. */
  attempt: number;
  at: number;
  durationMs: number;
  /** Missing if there was no response. */
  status?: number;
  /** Why the attempt failed. Missing if it succeeded. */
  error?: string;
  event?: { scope: string; action: string };
  repository?: { type: string; name: string };
}

/** The answer of `GET /api/webhooks/one`, `POST /api/webhooks`, and `POST /api/webhooks/update`, `/enable`, `/disable`, and `/suspend`. */
export interface WebhookDetails extends WebhookInfo {
  /** The latest 100 attempts, newest first. */
  attempts: readonly AttemptSummary[];
  /** The number of deliveries that wait for an attempt. */
  pending: number;
  triggerCommand: string;
}

/** The answer of `GET /api/webhooks/attempt`. Header values with secrets are masked. */
export interface AttemptDetails extends AttemptSummary {
  url: string;
  request: { headers: readonly (readonly [name: string, value: string])[]; body: string; bodyLength?: number };
  response?: {
    headers: readonly (readonly [name: string, value: string])[];
    body: string;
    /** Whether the response was longer. */
    isTruncated: boolean;
  };
}

/** The answer of `POST /api/webhooks/replay`: the new attempt, whose `error` is the reason if it failed. */
export type ReplayResult = AttemptSummary;

export interface RepositoryInfo {
  type: string;
  name: string;
  isPrivate: boolean;
  createdAt: number;
  lastModified: number;
  /** Missing for buckets. */
  headSha?: string;
  /** The number of discussions and pull requests. */
  discussions: number;
}

/** The answer of `GET /api/repositories`. */
export interface RepositoryList {
  repositories: readonly RepositoryInfo[];
  /** The number of repositories that are not listed, because there are too many. */
  unlisted: number;
  pushCommand: string;
}

/** The query of `GET /api/repositories/one`. */
export const repositoryKey = z.object({
  type: z.string().check(z.maxLength(100)),
  name: z.string().check(z.maxLength(1_000)),
});
export type RepositoryKey = z.infer<typeof repositoryKey>;

/** The answer of `GET /api/repositories/one`. */
export interface RepositoryDetails extends RepositoryInfo {
  /** Branches, tags, and pull requests by their full names, such as `refs/heads/main`. */
  refs: readonly { name: string; sha: string }[];
  /** The IDs of the webhooks that watch the repository or its owner. */
  webhooks: readonly { id: string; name: string }[];
  pushCommand: string;
}

/** The query of `GET /api/repositories/read` and `GET /api/repositories/download`. */
export const repositoryRead = z.object({
  ...repositoryKey.shape,
  /**
   * What the Hub's API has after the name of the repository: `tree/main/data`, `commits/main?p=1`, `discussions/1`, or
   * `resolve/main/README.md`. In addition, `changes/<commit or ref of a pull request>`.
   */
  path: z.string().check(z.maxLength(20_000)),
});

/**
 * The answer of `GET /api/repositories/read`. The value is the answer of the Hub's API, {@link FileContent} for `resolve`, and
 * {@link RepositoryChanges} for `changes`.
 */
export interface RepositoryPage<Value> {
  value: Value;
  /** The `path` of the next page. Missing on the last page. */
  next?: string;
}

/** The content of a file. Sizes are in bytes. */
export interface FileContent {
  size: number;
  isInLfs: boolean;
  /** The first 256 KiB. Missing if the file is binary or in LFS. */
  text?: string;
  /** Whether the text is longer. */
  isCut: boolean;
}

export interface ChangedFile {
  path: string;
  previousPath?: string;
  change: "new" | "deleted" | "renamed" | "changed";
  /** The sizes before and after the change. A new or deleted file has one. */
  sizes: readonly number[];
  /** Why the lines are not compared. */
  reason?: "binary" | "large" | "LFS";
  /** The changed lines in git's format, at most 64,000 characters. Missing if no line changed. */
  patch?: string;
  /** Whether the patch is longer. */
  isCut: boolean;
  added: number;
  removed: number;
}

/** What a commit changes since its first parent, or a pull request since its base. */
export interface RepositoryChanges {
  commit: { sha: string; title: string; message: string; author: string; at: number };
  /** At most 20 files. */
  files: readonly ChangedFile[];
  /** The number of files before this page. */
  skip: number;
  /** The number of files on all pages. */
  total: number;
}

export interface EventDelivery {
  webhookId: string;
  deliveryId: string;
  /** The target of the webhook, without secrets. */
  name: string;
  /** Missing if the attempts of the delivery are no longer stored, or if the webhook was deleted. */
  status?: Extract<ConsoleStatus, "queued" | "retrying" | "succeeded" | "dead" | "cancelled">;
  attempts: number;
  /** The HTTP status of the latest attempt. */
  responseStatus?: number;
  error?: string;
  /** The latest attempt. */
  logId?: string;
}

/** An event that happened on the local Hub. */
export interface EventInfo {
  id: string;
  at: number;
  scope: string;
  action: string;
  repository: { type: string; name: string };
  /** The name of the user who made the change. */
  user: string;
  /** Whether only the payload was sent, without a change in the local Hub. */
  isPayloadOnly: boolean;
  deliveries: readonly EventDelivery[];
  /** The webhooks that watch the repository but did not fire. */
  skipped: readonly { webhookId: string; name: string; reason: string }[];
  /** The number of deliveries and skipped webhooks that are not listed, because there are too many. */
  unlisted: number;
}

/** The query of `GET /api/events`. */
export const eventQuery = z.object({
  /** Only events before this cursor. */
  cursor: z.optional(z.coerce.number()),
  limit: z.optional(z.coerce.number().check(z.minimum(1), z.maximum(200))),
});

/** The answer of `GET /api/events`. The local Hub keeps the latest 500 events. */
export interface EventList {
  /** Newest first. */
  events: readonly EventInfo[];
  /** The cursor of the next page. Missing on the last page. */
  next?: number;
  triggerCommand: string;
}

/** The query of `GET /api/events/one`, whose answer is an {@link EventInfo}. */
export const eventKey = z.strictObject({ id });

/** A job of the local Hub, with the names of its secrets and without their values. */
export interface JobInfo {
  id: string;
  owner: string;
  stage: string;
  /** Why the job has this stage. */
  message?: string;
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  /** The command, or the image or Space whose default command runs. */
  command: string;
  /** The webhook that started the job. */
  webhookId?: string;
  /** Whether the job can still change its stage or print lines. */
  isActive: boolean;
}

/** The answer of `GET /api/jobs`. */
export interface JobList {
  /** The newest jobs, newest first. */
  jobs: readonly JobInfo[];
  /** The number of jobs that are not listed, because there are too many. */
  unlisted: number;
  /** Whether the commands of jobs run. Otherwise, jobs are only recorded. */
  runsJobs: boolean;
  /** The command that starts a local Hub that runs jobs. */
  runCommand: string;
}

/** The query of `GET /api/jobs/one`. */
export const jobQuery = z.object({
  id,
  /** Only lines after the line with this number. By default, the latest 1,000 lines. */
  after: z.optional(z.coerce.number().check(z.minimum(0))),
});

/** The answer of `GET /api/jobs/one`. */
export interface JobDetails extends JobInfo {
  createdBy: string;
  flavor: string;
  image?: string;
  attempts: number;
  failures: number;
  timeoutSeconds?: number;
  environment: readonly (readonly [name: string, value: string])[];
  secretNames: readonly string[];
  /** Oldest first. Secrets are masked. */
  logs: readonly { number: number; at: number; text: string }[];
}

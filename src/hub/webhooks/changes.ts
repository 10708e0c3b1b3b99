import * as z from "zod";
import { HubError } from "../../core/errors.ts";
import { argumentInvalid, checkArgument } from "../arguments.ts";
import type { WebhookJob, WebhookJobRequest } from "../jobs.ts";
import { webhookJob, webhookJobRequest } from "../jobs.ts";
import { lenient } from "../lenient.ts";
import { createRedact } from "../redaction.ts";
import type { UnknownPart } from "../unknown-parts.ts";
import { findUnknownParts } from "../unknown-parts.ts";
import type { Webhook, WebhookUpdate } from "./schemas.ts";
import { webhookUpdate } from "./schemas.ts";

const field = webhookUpdate.shape;
const jobField = webhookJobRequest.shape;
const secretMap = jobField.secrets.unwrap().out;

/** Every field of a job may be left out, to be kept, and all but its hardware may be taken away with `null`. */
const jobChanges = z.object({
  flavor: jobField.flavor.optional(),
  spaceId: jobField.spaceId.nullable(),
  dockerImage: jobField.dockerImage.nullable(),
  arguments: jobField.arguments.nullable(),
  command: jobField.command.nullable(),
  environment: jobField.environment.unwrap().nullish(),
  secrets: z.record(secretMap.keyType, secretMap.valueType.nullable()).nullish(),
  arch: jobField.arch.nullable(),
  timeoutSeconds: jobField.timeoutSeconds.unwrap().nullish(),
  attempts: jobField.attempts.unwrap().nullish(),
  labels: jobField.labels.nullable(),
  volumes: jobField.volumes.nullable(),
  expose: jobField.expose.nullable(),
  ssh: jobField.ssh.nullable(),
  resourceGroupId: jobField.resourceGroupId.nullable(),
} satisfies Record<keyof typeof jobField, z.ZodType>);

const webhookChanges = z
  .object({
    watched: field.watched.optional(),
    domains: field.domains.optional(),
    url: field.url,
    job: jobChanges.optional(),
    jobSourceId: field.jobSourceId,
    secret: field.secret.nullable(),
  } satisfies Record<keyof typeof field, z.ZodType>)
  .refine(({ url, job, jobSourceId }) => [url, job, jobSourceId].filter((target) => target !== undefined).length < 2, {
    path: ["url"],
    error: 'give at most one of "url", "job" and "jobSourceId"',
  });

/**
 * What is to change of a webhook. What is left out stays as it is, except that another target (`url`, `job` or
 * `jobSourceId`) takes the place of the one before. `secret: null` removes the secret.
 *
 * The fields of `job` are laid over those of the job that the webhook has; `null` removes one. A webhook without a job
 * of its own takes a whole one.
 */
export type WebhookChanges = z.input<typeof webhookChanges>;
type JobChanges = z.input<typeof jobChanges>;

/**
 * Checks what is to change; `newer` is what of it this release does not list.
 *
 * @throws `ARGUMENT_INVALID`, naming the fields; also when nothing at all is to change.
 */
export function checkChanges(changes: unknown): { checked: WebhookChanges; newer: UnknownPart[] } {
  const checked = checkArgument(webhookChanges, { name: "changes", value: changes });
  if (Object.values(checked).some((value) => value !== undefined)) {
    return { checked, newer: findUnknownParts(webhookChanges, changes) };
  }
  throw argumentInvalid([{ field: "changes", problem: "give at least one" }]);
}

/**
 * Lays changes over a webhook as it was read: the body with which to write it back whole.
 *
 * @throws `VALUE_UNREADABLE`, naming each field that a read does not return, for it would be lost; `ARGUMENT_INVALID`
 * when a new job is incomplete.
 */
export function mergeChanges(webhook: Webhook, changes: WebhookChanges): WebhookUpdate {
  const job = keptJob(webhook, changes);
  const target = newTarget(webhook, changes);
  const unreadable = [
    ...(changes.secret === undefined && hasHiddenSecret(webhook) ? ["secret"] : []),
    ...(job ? unreadableOf(job, changes.job ?? {}) : []),
    ...(job || target ? [] : ["url"]),
  ];
  if (unreadable.length > 0) throw valueUnreadable(unreadable);

  const unknownFields = Object.entries(changes).filter(([name]) => !Object.hasOwn(field, name));
  const secret = changes.secret === undefined ? webhook.secret : changes.secret;
  return {
    ...Object.fromEntries(unknownFields),
    watched: changes.watched ?? webhook.watched.map(({ type, name }) => ({ type, name })),
    domains: changes.domains ?? webhook.domains,
    ...(job ? { job: changedJob(job, changes.job ?? {}) } : target),
    // Empty, and not left out: a Hub that returns no secrets may keep the one that an update does not mention.
    ...(secret !== undefined && { secret: secret ?? "" }),
  };
}

/** The job that stays the webhook's target; one that is shown beside the job it was copied from is not. */
function keptJob(webhook: Webhook, { url, jobSourceId }: WebhookChanges): WebhookJob | undefined {
  const given = [url, jobSourceId, webhook.url, webhook.jobSourceId];
  return given.every((target) => target === undefined) ? webhook.job : undefined;
}

function newTarget(
  webhook: Webhook,
  changes: WebhookChanges,
): Pick<WebhookUpdate, "url" | "job" | "jobSourceId"> | undefined {
  if (changes.job !== undefined) return webhook.job && keptJob(webhook, changes) ? undefined : newJob(changes.job);
  const { url, jobSourceId } = changes.url === undefined && changes.jobSourceId === undefined ? webhook : changes;
  if (jobSourceId !== undefined) return { jobSourceId };
  return url === undefined ? undefined : { url };
}

function newJob(changes: JobChanges): { job: WebhookJobRequest } {
  const job = Object.fromEntries(Object.entries(withoutNullSecrets(changes)).filter(([, value]) => value !== null));
  return checkArgument(z.object({ job: webhookJobRequest }), { name: "job", value: { job } });
}

/** `null` falls back to what a new job has; what the Hub itself has said is not judged. */
function changedJob({ secrets: _names, ...kept }: WebhookJob, changes: JobChanges): WebhookJobRequest {
  const known = Object.entries(kept).filter(([name]) => Object.hasOwn(jobField, name));
  const given = Object.entries(withoutNullSecrets(changes)).filter(([, value]) => value !== undefined);
  return lenient(webhookJobRequest).parse(Object.fromEntries([...known, ...given]));
}

function withoutNullSecrets({ secrets, ...changes }: JobChanges): JobChanges {
  const given = Object.entries(secrets ?? {}).filter(([, value]) => value !== null);
  return given.length === 0 ? changes : { ...changes, secrets: Object.fromEntries(given) };
}

/** What is given for a job and never answered: `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId`. */
const writeOnlyFields = Object.keys(jobField).filter((name) => !Object.hasOwn(webhookJob.shape, name));

function unreadableOf(job: WebhookJob, changes: JobChanges): string[] {
  const readable = new Set(
    [...Object.entries(job), ...Object.entries(changes)]
      .filter(([, value]) => value !== undefined)
      .map(([name]) => name),
  );
  const fields = writeOnlyFields.filter((name) => !readable.has(name)).map((name) => `job.${name}`);
  const given = changes.secrets;
  if (given === null) return fields;
  const secrets = (job.secrets ?? []).filter((name) => !Object.hasOwn(given ?? {}, name));
  return [...fields, ...secrets.map((name) => `job.secrets.${name}`)];
}

function valueUnreadable(fields: readonly string[]): HubError {
  const shown = createRedact([])(fields.join(", ")); // The names of secrets are the Hub's words.
  return new HubError(
    `Nothing was written: the Hub does not tell ${shown} of this webhook, and an update without would remove it. Give each in the changes, with its value or, where there is to be none, null.`,
    { code: "VALUE_UNREADABLE", fields },
  );
}

/** Whether a webhook has a secret that a read does not tell: it tells by `hasSecret` that there is one, or masks it. */
export function hasHiddenSecret(webhook: Webhook): boolean {
  if (webhook.secret !== undefined) return /^[*•]+$|[*•]{3}/.test(webhook.secret);
  return webhook.hasSecret === true;
}

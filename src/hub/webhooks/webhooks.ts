import * as z from "zod/mini";
import { HubError } from "../../core/errors.ts";
import {
  secretChanges,
  type WebhookJob,
  type WebhookJobRequest,
  webhookJob,
  webhookJobRequest,
} from "../jobs/definition.ts";
import type { CallOptions } from "../operation.ts";
import { createRedact } from "../transport/request-secrets.ts";
import type { Transport } from "../transport/transport.ts";
import { checkArgument, fieldInvalid } from "../validation/arguments.ts";
import { lenient } from "../validation/lenient.ts";
import { findUnknownParts, type UnknownPart } from "../validation/unknown-parts.ts";
import {
  atMostOneTarget,
  type Webhook,
  type WebhookRequest,
  type WebhookUpdate,
  webhookOperations,
  webhookUpdate,
} from "./schemas.ts";

/**
 * The methods of `hub.webhooks` for the webhooks of the token's user.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields.
 */
export class HubWebhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns all your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]> {
    return this.#transport.call(webhookOperations.list, {}, options);
  }

  /** Returns a webhook. Like all methods with a webhook ID, throws `HUB_NOT_FOUND` if the webhook does not exist. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return (await this.#transport.call(webhookOperations.get, { params: { webhookId } }, options)).webhook;
  }

  /**
   * Creates an enabled webhook. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * const { id } = await hub.webhooks.create({
   *   watched: [{ type: "dataset", name: "acme/data" }],
   *   domains: ["repo"],
   *   url: "https://acme-bot.hf.space/webhooks/retrain",
   *   secret: process.env.WEBHOOK_SECRET,
   * });
   * ```
   */
  async create(request: WebhookRequest, options?: CallOptions): Promise<Webhook> {
    return (await this.#transport.call(webhookOperations.create, { body: request }, options)).webhook;
  }

  /**
   * Changes the given fields. Omitted fields keep their values. The Hub accepts only complete webhooks, so this method reads the
   * webhook, merges the changes, and writes the webhook. Changes that are made between the read and the write are overwritten.
   *
   * @throws `VALUE_UNREADABLE` if the update would remove values that the Hub does not return: a hidden secret, or `arch`,
   *   `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId`, and secret values of a job. In this case, the webhook is not
   *   changed. Pass the values of the fields in `fields`.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  async update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook> {
    const { checked, unknownParts } = checkChanges(changes);
    this.#transport.warn(unknownParts, webhookOperations.update, changes);
    const body = mergeChanges(await this.get(webhookId, options), checked);
    const input = { params: { webhookId }, body };
    const unchecked = { ...options, idempotent: true, skipBodyValidation: true };
    return (await this.#transport.call(webhookOperations.update, input, unchecked)).webhook;
  }

  /** Enables a webhook that is disabled, or that is suspended after failures (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "enable" }, options);
  }

  /** Disables a webhook. The Hub keeps the webhook but sends no deliveries. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "disable" }, options);
  }

  /** Deletes a webhook permanently. */
  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.#transport.call(webhookOperations.delete, { params: { webhookId } }, options);
  }

  /**
   * Sends a past delivery again, with the webhook's current URL and secret. `status` is the HTTP status of the
   * receiver's response. Find the log ID in the webhook's Activity tab on the Hub.
   */
  replay(webhookId: string, logId: string, options?: CallOptions): Promise<{ status: number }> {
    return this.#transport.call(webhookOperations.replay, { params: { webhookId, logId } }, options);
  }

  async #setState(
    params: { webhookId: string; action: "enable" | "disable" },
    options: CallOptions | undefined,
  ): Promise<Webhook> {
    const repeatable = { ...options, idempotent: true };
    return (await this.#transport.call(webhookOperations.setState, { params }, repeatable)).webhook;
  }
}

const field = webhookUpdate.shape;
const jobField = webhookJobRequest.shape;

/** Changes to a job. All fields are optional. `null` removes a field, except for the required field `flavor`. */
const jobChanges = z.object({
  flavor: z.optional(jobField.flavor),
  spaceId: z.nullable(jobField.spaceId),
  dockerImage: z.nullable(jobField.dockerImage),
  arguments: z.nullable(jobField.arguments),
  command: z.nullable(jobField.command),
  environment: z.nullish(jobField.environment.def.innerType),
  secrets: z.nullish(secretChanges),
  arch: z.nullable(jobField.arch),
  timeoutSeconds: z.nullish(jobField.timeoutSeconds.def.innerType),
  attempts: z.nullish(jobField.attempts.def.innerType),
  labels: z.nullable(jobField.labels),
  volumes: z.nullable(jobField.volumes),
  expose: z.nullable(jobField.expose),
  ssh: z.nullable(jobField.ssh),
  resourceGroupId: z.nullable(jobField.resourceGroupId),
} satisfies Record<keyof typeof jobField, z.ZodMiniType>);

const webhookChanges = z
  .object({
    watched: z.optional(field.watched),
    domains: z.optional(field.domains),
    url: field.url,
    job: z.optional(jobChanges),
    jobSourceId: field.jobSourceId,
    secret: z.nullable(field.secret),
  } satisfies Record<keyof typeof field, z.ZodMiniType>)
  .check(atMostOneTarget());

/**
 * Changes to a webhook. Omitted fields keep their values, except that a new target (`url`, `job`, or `jobSourceId`) replaces the
 * current target. `secret: null` removes the secret.
 *
 * The fields of `job` are merged into the current job. `null` removes a field. If the webhook's target is not a `job`, pass a
 * complete job.
 */
export type WebhookChanges = z.input<typeof webhookChanges>;
type JobChanges = z.input<typeof jobChanges>;

/**
 * Validates changes. Returns the changes, with the fields and values that are unknown to this release.
 *
 * @throws `ARGUMENT_INVALID` with the invalid fields, or if there are no changes.
 */
function checkChanges(changes: unknown): { checked: WebhookChanges; unknownParts: UnknownPart[] } {
  const checked = checkArgument(webhookChanges, { name: "changes", value: changes });
  if (Object.values(checked).some((value) => value !== undefined)) {
    return { checked, unknownParts: findUnknownParts(webhookChanges, changes) };
  }
  throw fieldInvalid("changes", "expected at least one field");
}

/**
 * Merges changes into a webhook that the Hub returned. Returns the body of the update.
 *
 * @throws `VALUE_UNREADABLE` with the fields that the Hub does not return, because the update would remove these fields.
 *   `ARGUMENT_INVALID` if a new job is incomplete.
 */
function mergeChanges(webhook: Webhook, changes: WebhookChanges): WebhookUpdate {
  const job = keptJob(webhook, changes);
  const target = newTarget(webhook, changes);
  const unreadable = [
    ...(changes.secret === undefined && hasHiddenSecret(webhook) ? ["secret"] : []),
    ...(job ? unreadableOf(job, changes.job ?? {}) : []),
    ...(job || target ? [] : ["url"]),
  ];
  if (unreadable.length > 0) throw valueUnreadable(unreadable);

  const {
    watched,
    domains,
    url: _url,
    job: _job,
    jobSourceId: _jobSourceId,
    secret: given,
    ...unknownFields
  } = changes;
  const secret = given === undefined ? webhook.secret : given;
  return {
    // A field that this function forgets does not compile.
    ...(unknownFields satisfies Record<string, never>),
    watched: watched ?? webhook.watched.map(({ type, name }) => ({ type, name })),
    domains: domains ?? webhook.domains,
    ...(job ? { job: changedJob(job, changes.job ?? {}) } : target),
    // `null` becomes an empty secret, because the Hub can keep the current secret if the update has no secret.
    ...(secret !== undefined && { secret: secret ?? "" }),
  };
}

/** Returns the webhook's job if the job remains the target. If the webhook has a `jobSourceId`, the job is only a copy of the target. */
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

/** Merges changes into a job. `null` resets a field to its default. Validation is lenient, because most fields come from the Hub. */
function changedJob({ secrets: _names, ...kept }: WebhookJob, changes: JobChanges): WebhookJobRequest {
  const known = Object.entries(kept).filter(([name]) => Object.hasOwn(jobField, name));
  const given = Object.entries(withoutNullSecrets(changes)).filter(([, value]) => value !== undefined);
  return lenient(webhookJobRequest).parse(Object.fromEntries([...known, ...given]));
}

function withoutNullSecrets({ secrets, ...changes }: JobChanges): JobChanges {
  const given = Object.entries(secrets ?? {}).filter(([, value]) => value !== null);
  return given.length === 0 ? changes : { ...changes, secrets: Object.fromEntries(given) };
}

/** The fields that the Hub does not return: `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId`. */
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
  const shown = createRedact([])(fields.join(", ")); // The list is sanitized, because it contains names of secrets from the Hub.
  return new HubError(
    `Nothing was changed, because the update would remove fields that the Hub does not return: ${shown}. Pass each field with its value, or with null to remove the field.`,
    { code: "VALUE_UNREADABLE", fields },
  );
}

/** Whether a webhook has a secret that the Hub does not return. The Hub returns `hasSecret` or a masked secret instead. */
export function hasHiddenSecret(webhook: Webhook): boolean {
  if (webhook.secret !== undefined) return /^[*•]+$|[*•]{3}/.test(webhook.secret);
  return webhook.hasSecret === true;
}

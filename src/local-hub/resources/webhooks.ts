import { maskUrl } from "../../core/urls.ts";
import { suspendedAfterFailure, type Webhook } from "../../hub/webhooks/schemas.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

/** A webhook with masked secrets, for pages, logs, and the control API. */
export interface WebhookSummary {
  id: string;
  /** The name of the user. */
  owner: string;
  target: { kind: "url"; url: string } | { kind: "job"; description: string } | { kind: "jobSource"; id: string };
  state: "enabled" | "disabled" | "suspended";
  watched: readonly { type: string; name: string }[];
  domains: readonly string[];
  secretIsSet: boolean;
  /** ISO 8601. */
  lastTriggerAt?: string;
}

/** Summarizes a webhook, with masked secrets. */
export function summarizeWebhook(webhook: StoredWebhook): WebhookSummary {
  const { id, owner, definition, lastTriggerAt } = webhook;
  return {
    id,
    owner,
    target: describeTarget(webhook),
    state: webhookState(webhook),
    watched: definition.watched,
    domains: definition.domains,
    secretIsSet: definition.secret !== undefined,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

/** Returns whether a webhook is enabled, was disabled by a user, or was suspended after failures. */
export function webhookState({ disabled }: StoredWebhook): WebhookSummary["state"] {
  if (disabled === suspendedAfterFailure) return "suspended";
  return disabled ? "disabled" : "enabled";
}

/** Returns the target URL with masked secrets, or, for a job, the URL at which the local Hub lists jobs. */
export function maskedTargetUrl({ definition }: StoredWebhook, { hubUrl }: { hubUrl: string }): string {
  return definition.url === undefined ? `${hubUrl}/_local/jobs` : maskUrl(definition.url);
}

function describeTarget({ definition: { url, job, jobSourceId } }: StoredWebhook): WebhookSummary["target"] {
  if (url !== undefined) return { kind: "url", url: maskUrl(url) };
  if (job) return { kind: "job", description: [...(job.command ?? []), ...(job.arguments ?? [])].join(" ") };
  return { kind: "jobSource", id: jobSourceId ?? "" };
}

type WebhookDefinition = StoredWebhook["definition"];

/** Converts a webhook to its API representation, with `secret` instead of `hasSecret` (see `webhook` in hub/webhooks/schemas.ts). */
export function toReturnedWebhook({ id, definition, disabled, lastTriggerAt }: StoredWebhook): Webhook {
  const { job, ...fields } = definition;
  return {
    id,
    ...fields,
    ...(job && { job: toReturnedJob(job) }),
    disabled,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

/** Converts a job to its API representation, which contains the names of secrets without values and not all fields. */
function toReturnedJob(job: NonNullable<WebhookDefinition["job"]>): NonNullable<Webhook["job"]> {
  const { dockerImage, spaceId, environment, arguments: args, command, flavor, timeoutSeconds, labels, secrets } = job;
  return {
    environment,
    flavor,
    timeoutSeconds,
    ...(dockerImage !== undefined && { dockerImage }),
    ...(spaceId !== undefined && { spaceId }),
    ...(args && { arguments: args }),
    ...(command && { command }),
    ...(labels && { labels }),
    ...(secrets && { secrets: Object.keys(secrets) }),
  };
}

import { maskUrl } from "../../core/urls.ts";
import { suspendedAfterFailure } from "../../hub/webhooks/schemas.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

/** A webhook for people to look at, without any secret. */
export interface WebhookSummary {
  id: string;
  /** Name of the user. */
  owner: string;
  target: { kind: "url"; url: string } | { kind: "job"; description: string } | { kind: "jobSource"; id: string };
  state: "enabled" | "disabled" | "suspended";
  watched: readonly { type: string; name: string }[];
  domains: readonly string[];
  secretIsSet: boolean;
  /** ISO 8601. */
  lastTriggerAt?: string;
}

/** Says what a person wants to know of a webhook. */
export function summarizeWebhook(webhook: StoredWebhook): WebhookSummary {
  const { id, owner, definition, lastTriggerAt } = webhook;
  return {
    id,
    owner,
    target: targetOf(webhook),
    state: stateOf(webhook),
    watched: definition.watched,
    domains: definition.domains,
    secretIsSet: definition.secret !== undefined,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

/** Whether a webhook fires, and if not, whether a person or its failures have stopped it. */
export function stateOf({ disabled }: StoredWebhook): WebhookSummary["state"] {
  if (disabled === suspendedAfterFailure) return "suspended";
  return disabled ? "disabled" : "enabled";
}

/** Where the deliveries of a webhook go, without a secret; for a job, where the local Hub lists the jobs. */
export function targetUrl({ definition }: StoredWebhook, { baseUrl }: { baseUrl: string }): string {
  return definition.url === undefined ? `${baseUrl}/_local/jobs` : maskUrl(definition.url);
}

function targetOf({ definition: { url, job, jobSourceId } }: StoredWebhook): WebhookSummary["target"] {
  if (url !== undefined) return { kind: "url", url: maskUrl(url) };
  if (job) return { kind: "job", description: [...(job.command ?? []), ...(job.arguments ?? [])].join(" ") };
  return { kind: "jobSource", id: jobSourceId ?? "" };
}

/**
 * What `hub-webhooks trigger` is given for an event that a webhook hears: a repository that it watches, and a scope
 * where the usual one is none of its.
 */
export function triggerWords({ watched, domains }: Pick<WebhookSummary, "watched" | "domains">): readonly string[] {
  const { type, name } = watched[0] ?? { type: "dataset", name: "me/data" };
  const repo = type === "user" || type === "org" ? `dataset:${name}/data` : `${type}:${name}`;
  return [repo, ...(domains.includes("repo") ? [] : ["--scope", "discussion"])];
}

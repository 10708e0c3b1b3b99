import type { WebhookSummary } from "../webhook-summary.ts";

/**
 * What `hub-webhooks trigger` is given for an event that a webhook hears: a repository that it watches, and a scope
 * where the usual one is none of its.
 */
export function triggerWords({ watched, domains }: Pick<WebhookSummary, "watched" | "domains">): readonly string[] {
  const { type, name } = watched[0] ?? { type: "dataset", name: "me/data" };
  const repo = type === "user" || type === "org" ? `dataset:${name}/data` : `${type}:${name}`;
  return [repo, ...(domains.includes("repo") ? [] : ["--scope", "discussion"])];
}

import type { RepoRef } from "../../hub/schemas.ts";
import { coversScope } from "../../payload/scope.ts";
import { canReadPrivate } from "../access.ts";
import { getAccountKind, getOwner } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import { maskedTargetUrl, webhookState } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { changedRepository, type RepositoryChange } from "./repository-change.ts";

/**
 * The reason why a webhook that watches the repository does not fire. `domain`: the webhook's domains exclude the event.
 * `private`: the repository is private, and the webhook's owner cannot read the repository. `disabled`: a user disabled the
 * webhook. `suspended`: the webhook was suspended after failed deliveries.
 */
export type SkipReason = "domain" | "private" | "disabled" | "suspended";

/** A webhook that watches the repository of an event but did not fire. */
export interface UnfiredWebhook {
  webhookId: string;
  /** The target URL with masked secrets. */
  url: string;
  /** `daily-limit`: the webhook has reached its daily limit. */
  reason: SkipReason | "daily-limit";
}

/** The webhooks that watch the repository of a change, oldest first. */
export interface WebhookSelection {
  /** The webhooks to fire. */
  enabled: StoredWebhook[];
  skipped: UnfiredWebhook[];
}

/** Returns the parts of a change that decide which webhooks fire. */
export function eventOf(change: RepositoryChange): RepositoryEvent & { action: string } {
  const { type, name, private: isPrivate } = changedRepository(change);
  return { repo: { type, name }, isPrivate, scope: change.scope, action: change.action };
}

/** Divides the webhooks that watch the repository of an event into webhooks to fire and webhooks to skip. */
export function selectWebhooks(
  { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">,
  event: RepositoryEvent,
): WebhookSelection {
  const enabled: StoredWebhook[] = [];
  const skipped: UnfiredWebhook[] = [];
  for (const webhook of store.webhooks.all()) {
    if (!isWatching(webhook, event)) continue;
    const reason = findSkipReason(store, { webhook, event });
    if (reason === undefined) enabled.push(webhook);
    else skipped.push({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }), reason });
  }
  return { enabled, skipped };
}

/** Returns why a webhook does not fire for an event, or `undefined` if it fires. */
export function findUnfiredReason(
  { store, dispatcher }: Pick<HubContext, "store" | "dispatcher">,
  { webhook, event }: { webhook: StoredWebhook; event: RepositoryEvent },
): UnfiredWebhook["reason"] | "not-watched" | undefined {
  if (!isWatching(webhook, event)) return "not-watched";
  return findSkipReason(store, { webhook, event }) ?? (dispatcher.canFire(webhook) ? undefined : "daily-limit");
}

/** Describes webhooks that have reached their daily limit. */
export function describeLimited(
  { hubUrl }: Pick<HubContext, "hubUrl">,
  webhooks: readonly StoredWebhook[],
): UnfiredWebhook[] {
  return webhooks.map((webhook) => ({
    webhookId: webhook.id,
    url: maskedTargetUrl(webhook, { hubUrl }),
    reason: "daily-limit",
  }));
}

/** The parts of an event that decide which webhooks fire. */
export interface RepositoryEvent {
  repo: Pick<RepoRef, "name"> & { type: string };
  isPrivate: boolean;
  /** The scope of the event, such as `repo.content`. */
  scope: string;
}

/** Whether a webhook watches the repository or its owner. */
export function isWatching({ definition }: StoredWebhook, { repo }: Pick<RepositoryEvent, "repo">): boolean {
  const owner = getOwner(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // An unknown name can belong to a user or an organization.
    return name === owner && type === (getAccountKind(owner) ?? type);
  });
}

/** Returns the reason why a webhook that watches the repository does not fire, or `undefined` if the webhook fires. */
function findSkipReason(
  store: HubContext["store"],
  { webhook, event }: { webhook: StoredWebhook; event: RepositoryEvent },
): SkipReason | undefined {
  const { scope, repo, isPrivate } = event;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (isPrivate && !canReadPrivate(store, { user: webhook.owner, owner: getOwner(repo) })) return "private";
  const state = webhookState(webhook);
  return state === "enabled" ? undefined : state;
}

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

/** Divides the webhooks that watch the repository of a change into webhooks to fire and webhooks to skip. */
export function selectWebhooks(
  { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">,
  change: RepositoryChange,
): WebhookSelection {
  const { type, name, private: isPrivate } = changedRepository(change);
  const event = {
    repo: { type, name },
    isReadableBy: (user: string) => !isPrivate || canReadPrivate(store, { user, owner: getOwner({ name }) }),
    scope: change.scope,
  };
  const enabled: StoredWebhook[] = [];
  const skipped: UnfiredWebhook[] = [];
  for (const webhook of store.webhooks.all()) {
    if (!isWatching(webhook, event)) continue;
    const reason = findSkipReason(webhook, event);
    if (reason === undefined) enabled.push(webhook);
    else skipped.push({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }), reason });
  }
  return { enabled, skipped };
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

/** The parts of a change that decide which webhooks fire. */
interface RepositoryEvent {
  repo: RepoRef;
  isReadableBy: (user: string) => boolean;
  /** The scope of the event, such as `repo.content`. */
  scope: string;
}

/** Whether a webhook watches the repository or its owner. */
function isWatching({ definition }: StoredWebhook, { repo }: Pick<RepositoryEvent, "repo">): boolean {
  const owner = getOwner(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // An unknown name can belong to a user or an organization.
    return name === owner && type === (getAccountKind(owner) ?? type);
  });
}

/** Returns the reason why a webhook that watches the repository does not fire, or `undefined` if the webhook fires. */
function findSkipReason(webhook: StoredWebhook, event: RepositoryEvent): SkipReason | undefined {
  const { scope, isReadableBy } = event;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (!isReadableBy(webhook.owner)) return "private";
  const state = webhookState(webhook);
  return state === "enabled" ? undefined : state;
}

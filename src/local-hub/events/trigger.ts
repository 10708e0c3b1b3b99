import type { RepoRef } from "../../hub/schemas.ts";
import { actions, isKnownScope } from "../../payload/schema.ts";
import { coversScope } from "../../payload/scope.ts";
import { canReadPrivate } from "../access.ts";
import { getAccountKind, getOwner } from "../accounts.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { notifyWatchers, syncNotifications } from "../resources/notifications.ts";
import { repositoryAuditEntries } from "../resources/organizations/audit-log.ts";
import { syncResourceGroups } from "../resources/organizations/resource-groups.ts";
import { maskedTargetUrl, webhookState } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { type ResolvedEvent, resolveEvent } from "./event-payload.ts";
import type { ParsedEvent } from "./event-request.ts";

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

/** The result of an event. */
export interface TriggerResult {
  deliveries: HubDelivery[];
  notFired: UnfiredWebhook[];
  /** The names of the users who received a notification. */
  notified: string[];
}

/** The result that an event would have. */
export interface TriggerPreview {
  /** The payload for the first of `webhooks`. If no webhook would fire, the payload contains a random webhook ID. */
  payload: unknown;
  /** The webhooks that would fire. */
  webhooks: { webhookId: string; url: string }[];
  notFired: UnfiredWebhook[];
}

/**
 * Triggers an event: applies the event to the repository, notifies users, and fires the webhooks that watch the repository.
 * Creates the repository if necessary.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload.
 */
export function triggerEvent(context: HubContext, event: ParsedEvent): TriggerResult {
  const { store, dispatcher, auditLog, log } = context;
  const { type, name } = event.repo;
  const { scope, action } = event.event;
  const isNew = !store.repositories.get(event.repo);
  const resolved = resolve(context, event);
  const { before, after, payload, bodyFor } = resolved;
  const notified = store.transaction(() => {
    for (const entry of repositoryAuditEntries({ event, isNew, before, after })) auditLog.record(entry);
    syncResourceGroups(store, { before, after });
    syncNotifications(store, { before, after });
    if (after?.name !== name) store.repositories.delete({ type, name });
    if (!after) return [];
    store.repositories.put(after);
    return notifyWatchers(context, { scope, action, repository: after, payload });
  });
  const fields = { repo: `${type}:${name}`, scope, action };
  if (!isKnownScope(scope) || !actions.some((known) => known === action)) {
    log.warn(fields, "The Hub does not document this scope or action. Check the event for typing errors.");
  }
  const { enabled, skipped } = selectWebhooks(context, { event, resolved });
  if (enabled.length === 0) log.info(fields, "No enabled webhook watches this event, so no delivery was sent.");
  const deliveries = dispatcher.fire(enabled, ({ id }) => bodyFor(id));
  const fired = new Set(deliveries.map(({ webhookId }) => webhookId));
  const limited = enabled.filter(({ id }) => !fired.has(id));
  return { deliveries, notFired: [...skipped, ...describeLimited(context, limited)], notified };
}

/**
 * Returns the payload and the webhooks of an event without triggering the event.
 *
 * @throws `ARGUMENT_INVALID` in the same cases as {@link triggerEvent}.
 */
export function previewEvent(context: HubContext, event: ParsedEvent): TriggerPreview {
  const { createId, hubUrl, dispatcher } = context;
  const resolved = resolve(context, event);
  const { enabled, skipped } = selectWebhooks(context, { event, resolved });
  const firing = enabled.filter((webhook) => dispatcher.canFire(webhook));
  const limited = enabled.filter((webhook) => !firing.includes(webhook));
  return {
    payload: JSON.parse(resolved.bodyFor(firing[0]?.id ?? createId())),
    webhooks: firing.map((webhook) => ({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }) })),
    notFired: [...skipped, ...describeLimited(context, limited)],
  };
}

function resolve(context: HubContext, event: ParsedEvent): ResolvedEvent {
  const { store, hubUrl, createId, createSha } = context;
  return resolveEvent({ event, repository: store.repositories.get(event.repo), hubUrl, createId, createSha });
}

/** Divides the webhooks that watch the repository into webhooks to fire and webhooks to skip, oldest first. */
function selectWebhooks(
  { store, hubUrl }: HubContext,
  { event, resolved }: { event: ParsedEvent; resolved: ResolvedEvent },
): { enabled: StoredWebhook[]; skipped: UnfiredWebhook[] } {
  const { type, name } = event.repo;
  const { before, after } = resolved;
  const isPrivate = (after ?? before).private;
  const repositoryEvent = {
    repo: { type, name },
    isReadableBy: (user: string) => !isPrivate || canReadPrivate(store, { user, owner: getOwner({ name }) }),
    scope: event.event.scope,
  };
  const enabled: StoredWebhook[] = [];
  const skipped: UnfiredWebhook[] = [];
  for (const webhook of store.webhooks.all()) {
    if (!isWatching(webhook, repositoryEvent)) continue;
    const reason = findSkipReason(webhook, repositoryEvent);
    if (reason === undefined) enabled.push(webhook);
    else skipped.push({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }), reason });
  }
  return { enabled, skipped };
}

function describeLimited({ hubUrl }: HubContext, webhooks: readonly StoredWebhook[]): UnfiredWebhook[] {
  return webhooks.map((webhook) => ({
    webhookId: webhook.id,
    url: maskedTargetUrl(webhook, { hubUrl }),
    reason: "daily-limit",
  }));
}

/** The parts of an event that decide which webhooks fire. */
export interface RepositoryEvent {
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

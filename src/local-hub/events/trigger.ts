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
 * Why a webhook that watches the repository does not fire: its `domains` exclude the event, the repository is `private`
 * and its owner cannot read it, a user `disabled` it, or failures `suspended` it.
 */
export type SkipReason = "domain" | "private" | "disabled" | "suspended";

/** A webhook that watches the repository of an event, but did not fire. */
export interface UnfiredWebhook {
  webhookId: string;
  /** Target URL with its secrets masked. */
  url: string;
  /** `daily-limit`: it reached its daily limit. */
  reason: SkipReason | "daily-limit";
}

/** The result of an event. */
export interface TriggerResult {
  deliveries: HubDelivery[];
  notFired: UnfiredWebhook[];
  /** Names of the users who got a notification. */
  notified: string[];
}

/** The result that an event would have. */
export interface TriggerPreview {
  /** As the first of `webhooks` would get it; without any, with the id of a webhook that does not exist. */
  payload: unknown;
  /** The webhooks that would fire. */
  webhooks: { webhookId: string; url: string }[];
  notFired: UnfiredWebhook[];
}

/**
 * Triggers an event: applies it to the repository, creating that if necessary, and fires the webhooks that watch it.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or its edits do not fit the payload.
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
    log.warn(fields, "unknown scope or action: the Hub does not document it");
  }
  const { enabled, skipped } = selectWebhooks(context, { event, resolved });
  if (enabled.length === 0) log.info(fields, "nothing to deliver: no enabled webhook watches this event");
  const deliveries = dispatcher.fire(enabled, ({ id }) => bodyFor(id));
  const fired = new Set(deliveries.map(({ webhookId }) => webhookId));
  const limited = enabled.filter(({ id }) => !fired.has(id));
  return { deliveries, notFired: [...skipped, ...describeLimited(context, limited)], notified };
}

/**
 * Computes what {@link triggerEvent} would do, without doing it.
 *
 * @throws `ARGUMENT_INVALID` as {@link triggerEvent} does.
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

/** Splits the webhooks that watch the repository, oldest first, into those to fire and those to skip. */
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
  /** Such as `repo.content`. */
  scope: string;
}

/** Whether a webhook watches the repository or its owner. */
function isWatching({ definition }: StoredWebhook, { repo }: Pick<RepositoryEvent, "repo">): boolean {
  const owner = getOwner(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // An unknown name could belong to a user or to an organization.
    return name === owner && type === (getAccountKind(owner) ?? type);
  });
}

/** Returns why a webhook that watches the repository does not fire; `undefined` if it does. */
function findSkipReason(webhook: StoredWebhook, event: RepositoryEvent): SkipReason | undefined {
  const { scope, isReadableBy } = event;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (!isReadableBy(webhook.owner)) return "private";
  const state = webhookState(webhook);
  return state === "enabled" ? undefined : state;
}

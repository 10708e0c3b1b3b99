import type { RepoRef } from "../../hub/schemas.ts";
import { actions, isKnownScope } from "../../payload/names.ts";
import { coversScope } from "../../payload/schema.ts";
import { canReadPrivate } from "../access.ts";
import { getAccountKind, getOwner } from "../accounts.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { notifyWatchers, syncNotifications } from "../resources/notifications.ts";
import { syncResourceGroups } from "../resources/organizations/resource-groups.ts";
import type { AuditEntry } from "../store/audit-log-store.ts";
import { isSameName } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { maskedTargetUrl, type StoredWebhook, webhookState } from "../store/webhook-store.ts";
import { changedRepository, eventPayload, payloadSerializer, type RepositoryChange } from "./repository-change.ts";

export interface TriggerResult {
  deliveries: HubDelivery[];
  notFired: UnfiredWebhook[];
  /** The names of the users who received a notification. */
  notified: string[];
}

/**
 * Publishes a change to a repository, after the change was stored: records it in the audit log, updates resource groups and
 * notifications, and fires the webhooks that watch the repository, once. Changes are published in the order of the calls.
 *
 * If the context collects changes, the change is only collected.
 *
 * @throws `ARGUMENT_INVALID` if the overrides are nested too deeply, or the edits do not fit the payload.
 */
export function publishChange(context: HubContext, change: RepositoryChange): void {
  if (context.collectedChanges) {
    context.collectedChanges.push(change);
    return;
  }
  context.recorder.addChange(context, change);
  fireChange(context, recordChange(context, change));
  if (changedRepository(change).type === "bucket") context.bucketFeed.checkAccess();
}

/** Also updates resource groups and notifications. @throws `ARGUMENT_INVALID` in the same cases as {@link publishChange}. */
export function recordChange(context: HubContext, change: RepositoryChange) {
  const { store, auditLog, createId, hubUrl } = context;
  const { scope, action, before, after } = change;
  const payload = eventPayload(change, { hubUrl });
  const bodyFor = payloadSerializer(payload, { edits: change.edits, createId });
  const notified = store.transaction(() => {
    for (const entry of repositoryAuditEntries(change)) auditLog.record(entry);
    if (before) {
      syncResourceGroups(store, before, after);
      syncNotifications(store, before, after);
    }
    return after ? notifyWatchers(context, { scope, action, repository: after, payload }) : [];
  });
  return { change, bodyFor, notified };
}

export function fireChange(context: HubContext, recorded: ReturnType<typeof recordChange>): TriggerResult {
  const { change, bodyFor, notified } = recorded;
  const { user, updatedFiles } = change;
  context.store.afterCommit(() => context.spaces.follow(change));
  // A program can write to a bucket many times per second.
  const isFrequent = updatedFiles !== undefined;
  return { ...fireEvent(context, { event: eventOf(change), user, bodyFor, isFrequent }), notified };
}

interface FiredEvent {
  event: RepositoryEvent & { action: string };
  user: string;
  bodyFor: (webhookId: string) => string;
  /** Whether only the payload is delivered, without a change. Default `false`. */
  isPayloadOnly?: boolean;
  /** Whether a program can cause many such events per second. Default `false`. */
  isFrequent?: boolean;
}

/** Fires the webhooks that watch the repository of an event, and stores the event. */
export function fireEvent(
  context: HubContext,
  { event, user, bodyFor, isPayloadOnly = false, isFrequent = false }: FiredEvent,
): Omit<TriggerResult, "notified"> {
  const { store, dispatcher, createId, now, log } = context;
  const { scope, action, repo } = event;
  const fields = { repo: `${repo.type}:${repo.name}`, scope, action };
  if (!isKnownScope(scope) || !actions.some((known) => known === action)) {
    log.warn(fields, "The Hub does not document this scope or action. Check the event for typing errors.");
  }
  const { enabled, skipped } = selectWebhooks(context, event);
  if (enabled.length === 0) {
    const level = isFrequent ? "debug" : "info";
    log[level](fields, "No enabled webhook watches this event, so no delivery was sent.");
  }
  let notFired: UnfiredWebhook[] = [];
  const deliveries = dispatcher.fire(
    enabled,
    ({ id }) => bodyFor(id),
    (fired) => {
      const firedIds = new Set(fired.map(({ webhookId }) => webhookId));
      const limited = enabled.filter(({ id }) => !firedIds.has(id));
      notFired = [...skipped, ...describeLimited(context, limited)];
      store.events.add({
        ...{
          id: createId(),
          at: now(),
          scope,
          action,
          repo: { type: repo.type, name: repo.name },
          user,
          isPayloadOnly,
        },
        deliveries: fired.map(({ webhookId, deliveryId, url }) => ({ webhookId, deliveryId, url })),
        skipped: notFired,
      });
    },
  );
  return { deliveries, notFired };
}

/**
 * The reason why a webhook that watches the repository does not fire. `domain`: the webhook's domains exclude the event.
 * `private`: the repository is private, and the webhook's owner cannot read the repository. `disabled`: a user disabled the
 * webhook. `suspended`: the webhook was suspended after failed deliveries.
 */
type SkipReason = "domain" | "private" | "disabled" | "suspended";

/** A webhook that watches the repository of an event but did not fire. */
export interface UnfiredWebhook {
  webhookId: string;
  url: string;
  /** `daily-limit`: the webhook has reached its daily limit. */
  reason: SkipReason | "daily-limit";
}

/** Returns the parts of a change that decide which webhooks fire. */
export function eventOf(change: RepositoryChange): RepositoryEvent & { action: string } {
  const { type, name, private: isPrivate } = changedRepository(change);
  return { repo: { type, name }, isPrivate, scope: change.scope, action: change.action };
}

export function selectWebhooks({ store, hubUrl }: HubContext, event: RepositoryEvent) {
  const enabled: StoredWebhook[] = [];
  const skipped: UnfiredWebhook[] = [];
  for (const webhook of store.webhooks.all()) {
    if (!isWatching(webhook, event)) continue;
    const reason = findSkipReason(store, webhook, event);
    if (reason === undefined) enabled.push(webhook);
    else skipped.push({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }), reason });
  }
  return { enabled, skipped };
}

/** Returns `undefined` if the webhook fires. */
export function findUnfiredReason({ store, dispatcher }: HubContext, webhook: StoredWebhook, event: RepositoryEvent) {
  if (!isWatching(webhook, event)) return "not-watched";
  return findSkipReason(store, webhook, event) ?? (dispatcher.canFire(webhook) ? undefined : "daily-limit");
}

export function describeLimited(context: HubContext, webhooks: readonly StoredWebhook[]): UnfiredWebhook[] {
  return webhooks.map((webhook) => {
    return { webhookId: webhook.id, url: maskedTargetUrl(webhook, context), reason: "daily-limit" };
  });
}

/** The parts of an event that decide which webhooks fire. */
export interface RepositoryEvent {
  repo: Pick<RepoRef, "name"> & { type: string };
  isPrivate: boolean;
  scope: string;
}

export function isWatching({ definition }: StoredWebhook, { repo }: Pick<RepositoryEvent, "repo">): boolean {
  const owner = getOwner(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && isSameName(name, repo.name);
    // An unknown name can belong to a user or an organization.
    return isSameName(name, owner) && type === (getAccountKind(owner) ?? type);
  });
}

function findSkipReason(store: Store, webhook: StoredWebhook, event: RepositoryEvent): SkipReason | undefined {
  const { scope, repo, isPrivate } = event;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (isPrivate && !canReadPrivate(store, webhook.owner, getOwner(repo))) return "private";
  const state = webhookState(webhook);
  return state === "enabled" ? undefined : state;
}

/** Changes to contents and discussions are not recorded. A move is recorded for both owners. */
export function repositoryAuditEntries(change: RepositoryChange): AuditEntry[] {
  const { scope, action, after, user: author } = change;
  const repository = changedRepository(change);
  const { type, name } = repository;
  const repo = `${type} ${name}`;
  const entry = { organization: getOwner(repository), author };
  const data = { repo: { type, name } };
  if (!after) return [{ ...entry, type: "repo.delete", message: `Deleted the ${repo}`, data }];

  const entries: AuditEntry[] = [];
  if (scope === "repo" && action === "create") {
    entries.push({ ...entry, type: "repo.create", message: `Created the ${repo}`, data });
  }
  if (after.name !== name) {
    const owners = new Set([getOwner(repository), getOwner(after)]);
    const moved = { message: `Moved the ${repo} to ${after.name}`, data: { ...data, movedTo: { name: after.name } } };
    for (const organization of owners) entries.push({ ...entry, organization, type: "repo.move", ...moved });
  }
  if (coversScope("repo.config", scope)) {
    const message = `Changed the settings of the ${repo}`;
    const { updatedConfig = {} } = change;
    entries.push({ ...entry, type: "repo.update_settings", message, data: { ...data, updatedConfig } });
  }
  return entries;
}

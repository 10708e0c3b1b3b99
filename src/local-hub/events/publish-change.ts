import { actions, isKnownScope } from "../../payload/schema.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { notifyWatchers, syncNotifications } from "../resources/notifications.ts";
import { repositoryAuditEntries } from "../resources/organizations/audit-log.ts";
import { syncResourceGroups } from "../resources/organizations/resource-groups.ts";
import { eventPayload, payloadSerializer } from "./event-payload.ts";
import { changedRepository, type RepositoryChange } from "./repository-change.ts";
import { describeLimited, selectWebhooks, type UnfiredWebhook } from "./webhook-selection.ts";

/** The result of an event. */
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
 * If the context collects changes, the change is only collected, and the result is empty.
 *
 * @throws `ARGUMENT_INVALID` if the overrides are nested too deeply, or the edits do not fit the payload.
 * @example
 * ```ts
 * publishChange(context, { scope: "repo", action: "create", user: "local-user", before: undefined, after: repository });
 * ```
 */
export function publishChange(context: HubContext, change: RepositoryChange): TriggerResult {
  if (context.collectedChanges) {
    context.collectedChanges.push(change);
    return noResult();
  }
  return fireChange(context, recordChange(context, change));
}

/** Returns the result of a call that changed nothing. */
export function noResult(): TriggerResult {
  return { deliveries: [], notFired: [], notified: [] };
}

/** A change whose webhooks have not fired yet. */
export interface RecordedChange {
  change: RepositoryChange;
  /** Serializes the payload for a webhook. */
  bodyFor: (webhookId: string) => string;
  notified: string[];
}

/**
 * Records a change in the audit log, and updates resource groups and notifications, in a transaction.
 *
 * @throws `ARGUMENT_INVALID` in the same cases as {@link publishChange}.
 */
export function recordChange(context: HubContext, change: RepositoryChange): RecordedChange {
  const { store, auditLog, createId, hubUrl } = context;
  const { scope, action, before, after } = change;
  const payload = eventPayload(change, { hubUrl });
  const bodyFor = payloadSerializer(payload, { edits: change.edits ?? [], createId });
  const notified = store.transaction(() => {
    for (const entry of repositoryAuditEntries(change)) auditLog.record(entry);
    if (before) {
      syncResourceGroups(store, { before, after });
      syncNotifications(store, { before, after });
    }
    return after ? notifyWatchers(context, { scope, action, repository: after, payload }) : [];
  });
  return { change, bodyFor, notified };
}

/** Fires the webhooks that watch the repository of a recorded change. */
export function fireChange(context: HubContext, { change, bodyFor, notified }: RecordedChange): TriggerResult {
  const { dispatcher, log } = context;
  const { scope, action } = change;
  const { type, name } = changedRepository(change);
  const fields = { repo: `${type}:${name}`, scope, action };
  if (!isKnownScope(scope) || !actions.some((known) => known === action)) {
    log.warn(fields, "The Hub does not document this scope or action. Check the event for typing errors.");
  }
  const { enabled, skipped } = selectWebhooks(context, change);
  if (enabled.length === 0) {
    // A program can write to a bucket many times per second.
    const level = change.updatedFiles ? "debug" : "info";
    log[level](fields, "No enabled webhook watches this event, so no delivery was sent.");
  }
  const deliveries = dispatcher.fire(enabled, ({ id }) => bodyFor(id));
  const fired = new Set(deliveries.map(({ webhookId }) => webhookId));
  const limited = enabled.filter(({ id }) => !fired.has(id));
  return { deliveries, notFired: [...skipped, ...describeLimited(context, limited)], notified };
}

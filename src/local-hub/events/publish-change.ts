import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { notifyWatchers, syncNotifications } from "../resources/notifications.ts";
import { repositoryAuditEntries } from "../resources/organizations/audit-log.ts";
import { syncResourceGroups } from "../resources/organizations/resource-groups.ts";
import { eventPayload, payloadSerializer } from "./event-payload.ts";
import { fireEvent } from "./fire-event.ts";
import type { RepositoryChange } from "./repository-change.ts";
import { eventOf, type UnfiredWebhook } from "./webhook-selection.ts";

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
  const { user, updatedFiles } = change;
  // A program can write to a bucket many times per second.
  const isFrequent = updatedFiles !== undefined;
  return { ...fireEvent(context, { event: eventOf(change), user, bodyFor, isFrequent }), notified };
}

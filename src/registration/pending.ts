import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { HubState, ManagedWebhook, PendingWebhook } from "./registration-file.ts";
import { fieldsOf, isSameUrl, isSameWatched } from "./webhook-fields.ts";

/** How long an interrupted request can still create a webhook, in milliseconds. */
const maxCreationMs = 10 * 60_000;

/** The outcome of an interrupted webhook creation. */
export interface ResolvedCreation {
  pending: PendingWebhook;
  /** The created webhook. Absent if the Hub did not create a webhook. */
  created?: ManagedWebhook;
}

/**
 * Finds the outcomes of interrupted creations, for example after a crash. A webhook was created if the Hub lists a
 * webhook with the same URL and watched items that did not exist before. Otherwise, a creation remains unresolved for
 * 10 minutes, because the Hub can still create the webhook during this time.
 */
export function resolvePending({
  pending,
  state,
  listed,
  now,
}: {
  pending: readonly PendingWebhook[];
  /** The state of the Hub. Managed webhooks are not candidates. */
  state: HubState;
  listed: readonly Webhook[];
  /** The current time in milliseconds since the epoch. */
  now: number;
}): ResolvedCreation[] {
  const assigned = new Set(state.webhooks.map(({ id }) => id));
  const resolved: ResolvedCreation[] = [];
  for (const entry of pending) {
    const webhook = listed.find((candidate) => !assigned.has(candidate.id) && isCreatedFrom(entry, candidate));
    if (webhook) {
      assigned.add(webhook.id);
      const { endpoint, secret, written, session } = entry;
      const created = { id: webhook.id, endpoint, secret, written, returned: fieldsOf(webhook) };
      resolved.push({ pending: entry, created: session ? { ...created, session } : created });
    } else if (now - Date.parse(entry.startedAt) > maxCreationMs) {
      resolved.push({ pending: entry });
    }
  }
  return resolved;
}

/** Removes resolved creations from `pending`, and records the created webhooks as managed. */
export function recordResolved(state: HubState, resolved: readonly ResolvedCreation[]): void {
  const keys = new Set(resolved.map(({ pending }) => pending.key));
  state.pending = state.pending.filter(({ key }) => !keys.has(key));
  for (const { created } of resolved) {
    if (created && !state.webhooks.some(({ id }) => id === created.id)) state.webhooks.push(created);
  }
}

function isCreatedFrom({ written, existingIds }: PendingWebhook, { id, url, watched }: Webhook): boolean {
  return (
    !existingIds.includes(id) &&
    url !== undefined &&
    isSameUrl(url, written.url) &&
    isSameWatched(watched, written.watched)
  );
}

import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { HubState, ManagedWebhook, PendingWebhook } from "./registration-file.ts";
import { fieldsOf, isSameUrl, isSameWatched } from "./webhook-fields.ts";

/** After this time, a request from a process that died can no longer create a webhook. */
const maxCreationMs = 10 * 60_000;

/** The outcome of an interrupted creation. */
export interface ResolvedCreation {
  pending: PendingWebhook;
  /** The webhook on the Hub. Absent if it was never created. */
  created?: ManagedWebhook;
}

/**
 * Finds the outcome of creations that were interrupted, for example because their process died. The created webhook is
 * the one with the same URL and watched items that did not exist before. A missing webhook may still appear for some
 * minutes, so its creation remains unresolved until then.
 */
export function resolvePending({
  pending,
  state,
  listed,
  now,
}: {
  pending: readonly PendingWebhook[];
  /** Webhooks that are already managed are not candidates. */
  state: HubState;
  listed: readonly Webhook[];
  /** Milliseconds since the epoch. */
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

/** Records resolved creations in the state. */
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

import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { HubState, KnownWebhook, PendingWebhook } from "./state.ts";
import { sameUrl, sameWatched, targetOf } from "./target.ts";

/** A request that was under way when its process died is done by then, or never. */
const longestCreationMs = 10 * 60_000;

/** A webhook that was about to be made, and what has become of it. */
export interface Resolved {
  pending: PendingWebhook;
  /** The webhook on the Hub; absent where it was never made. */
  made?: KnownWebhook;
}

/**
 * Finds out what has become of webhooks that were about to be made when whoever made them ended: a webhook with that URL
 * that watches the same, and was not there before, is the one. One that is not there yet may still come for a while.
 */
export function resolvePending({
  pending,
  state,
  listed,
  now,
}: {
  pending: readonly PendingWebhook[];
  /** All that is known: what is one of these is none of the others. */
  state: HubState;
  listed: readonly Webhook[];
  /** Milliseconds since the epoch. */
  now: number;
}): Resolved[] {
  const taken = new Set(state.webhooks.map(({ id }) => id));
  const resolved: Resolved[] = [];
  for (const entry of pending) {
    const webhook = listed.find((candidate) => !taken.has(candidate.id) && isMadeFrom(entry, candidate));
    if (webhook) {
      taken.add(webhook.id);
      const { endpoint, secret, written, session } = entry;
      const made = { id: webhook.id, endpoint, secret, written, answered: targetOf(webhook) };
      resolved.push({ pending: entry, made: session ? { ...made, session } : made });
    } else if (now - Date.parse(entry.notedAt) > longestCreationMs) {
      resolved.push({ pending: entry });
    }
  }
  return resolved;
}

/** Puts what was found out into the state. */
export function noteResolved(state: HubState, resolved: readonly Resolved[]): void {
  const keys = new Set(resolved.map(({ pending }) => pending.key));
  state.pending = state.pending.filter(({ key }) => !keys.has(key));
  for (const { made } of resolved) {
    if (made && !state.webhooks.some(({ id }) => id === made.id)) state.webhooks.push(made);
  }
}

function isMadeFrom({ written, before }: PendingWebhook, { id, url, watched }: Webhook): boolean {
  return (
    !before.includes(id) && url !== undefined && sameUrl(url, written.url) && sameWatched(watched, written.watched)
  );
}

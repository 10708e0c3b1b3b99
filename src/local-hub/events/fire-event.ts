import { actions, isKnownScope } from "../../payload/names.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { describeLimited, type RepositoryEvent, selectWebhooks, type UnfiredWebhook } from "./webhook-selection.ts";

/** An event, and how its payload is serialized. */
export interface FiredEvent {
  event: RepositoryEvent & { action: string };
  /** The name of the user who made the change. */
  user: string;
  /** Serializes the payload for a webhook. */
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
): { deliveries: HubDelivery[]; notFired: UnfiredWebhook[] } {
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

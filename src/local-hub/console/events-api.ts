import {
  type EventDelivery,
  type EventInfo,
  type EventList,
  eventKey,
  eventQuery,
} from "../../console/protocol/hub.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import { readQuery } from "../../console/server/requests.ts";
import type { HubContext } from "../hub-context.ts";
import { maxKeptAttempts } from "../store/delivery-store.ts";
import type { ListedEvent, StoredEvent } from "../store/event-store.ts";
import { triggerCommand } from "./commands.ts";
import { nameOfWebhook } from "./describe-webhook.ts";
import { notFound } from "./not-found.ts";
import { skipReasonText } from "./skip-reason.ts";

const defaultLimit = 50;

/** The routes of the events that happened. */
export function eventsApi(hub: HubContext): ConsoleResource {
  const { events } = hub.store;
  return (app) => {
    app.get("/events", (context) => {
      const { cursor, limit = defaultLimit } = readQuery(context, eventQuery);
      const listed = events.list({ before: cursor, limit });
      const last = listed.length < limit ? undefined : listed.at(-1);
      return context.json<EventList>({
        events: listed.map((event) => toEventInfo(hub, event)),
        ...(last && { next: last.sequence }),
        triggerCommand: triggerCommand(hub),
      });
    });

    app.get("/events/one", (context) => {
      const event = events.get(readQuery(context, eventKey).id);
      if (!event) throw notFound("This event is no longer stored. The local Hub keeps the latest 500 events.");
      return context.json(toEventInfo(hub, event));
    });
  };
}

function toEventInfo(hub: HubContext, event: ListedEvent): EventInfo {
  const { id, at, scope, action, repo, user, isPayloadOnly, deliveries, skipped, unlisted } = event;
  return {
    ...{ id, at, scope, action, repository: repo, user, isPayloadOnly, unlisted },
    deliveries: deliveries.map((delivery) => toEventDelivery(hub, delivery)),
    skipped: skipped.map(({ webhookId, url, reason }) => ({
      ...{ webhookId, name: nameOf(hub, { webhookId, url }), reason: skipReasonText(reason) },
    })),
  };
}

/** Names a webhook by its current target, or a deleted webhook by the URL at the time of the event. */
function nameOf({ store }: Pick<HubContext, "store">, { webhookId, url }: { webhookId: string; url: string }): string {
  const webhook = store.webhooks.get(webhookId);
  return webhook ? nameOfWebhook(webhook) : url;
}

/** Describes a delivery by its attempts. Nothing else is stored about deliveries that are not pending. */
function toEventDelivery(
  { store }: Pick<HubContext, "store">,
  { webhookId, deliveryId, url }: StoredEvent["deliveries"][number],
): EventDelivery {
  const latest = store.deliveries.latestAttempt(deliveryId);
  const isPending = store.deliveries.getPending(deliveryId) !== undefined;
  const delivery = {
    webhookId,
    deliveryId,
    name: nameOf({ store }, { webhookId, url }),
    attempts: latest?.attempt ?? 0,
  };
  if (!latest) {
    if (isPending) return { ...delivery, status: "queued" };
    // The attempts of a deleted webhook are deleted, and old attempts of a busy webhook.
    const isUnknown = !store.webhooks.get(webhookId) || store.deliveries.countAttempts(webhookId) >= maxKeptAttempts;
    return isUnknown ? delivery : { ...delivery, status: "cancelled" };
  }
  const { status, error, logId } = latest;
  return {
    ...{ ...delivery, logId },
    ...(status !== null && { responseStatus: status }),
    ...(error !== null && { error }),
    status: error === null ? "succeeded" : isPending ? "retrying" : "dead",
  };
}

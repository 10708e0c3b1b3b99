import type { HubContext } from "../hub-context.ts";
import { maskedTargetUrl } from "../resources/webhooks.ts";
import { eventPayload, payloadSerializer } from "./event-payload.ts";
import type { ParsedEvent } from "./event-request.ts";
import { fireChange, recordChange, type TriggerResult } from "./publish-change.ts";
import { makeTriggeredChanges } from "./triggered-change.ts";
import {
  describeLimited,
  eventOf,
  type RepositoryEvent,
  selectWebhooks,
  type UnfiredWebhook,
} from "./webhook-selection.ts";

/** The result that an event would have. */
export interface TriggerPreview {
  /** The payload for the first of `webhooks`. If no webhook would fire, the payload contains a random webhook ID. */
  payload: unknown;
  /** The webhooks that would fire. */
  webhooks: { webhookId: string; url: string }[];
  notFired: UnfiredWebhook[];
}

/**
 * Triggers an event: makes the change that the event describes, such as a commit on the main branch, notifies users, and fires the
 * webhooks that watch the repository. Creates the repository if necessary, without an event. Fields of the event override fields of
 * the payload.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload. Nothing is then changed.
 */
export function triggerEvent(context: HubContext, event: ParsedEvent): TriggerResult {
  const recorded = context.store.transaction(() =>
    makeTriggeredChanges(context, event).map((change) => recordChange(context, change)),
  );
  const results = recorded.map((change) => fireChange(context, change));
  return {
    deliveries: results.flatMap(({ deliveries }) => deliveries),
    notFired: results.flatMap(({ notFired }) => notFired),
    notified: [...new Set(results.flatMap(({ notified }) => notified))],
  };
}

/** Returns the parts of an event that decide which webhooks fire, without triggering the event. */
export function selectionOf(context: HubContext, event: ParsedEvent): RepositoryEvent {
  return context.store.transaction((rollBack) => {
    rollBack();
    const [change] = makeTriggeredChanges(context, event);
    return eventOf(change);
  });
}

/**
 * Returns the payload and the webhooks of an event without triggering the event.
 *
 * @throws `ARGUMENT_INVALID` in the same cases as {@link triggerEvent}.
 */
export function previewEvent(context: HubContext, event: ParsedEvent): TriggerPreview {
  const { store, createId, hubUrl, dispatcher } = context;
  const { bodyFor, selection } = store.transaction((rollBack) => {
    rollBack();
    const [change] = makeTriggeredChanges(context, event);
    const payload = eventPayload(change, { hubUrl });
    return {
      bodyFor: payloadSerializer(payload, { edits: event.edits ?? [], createId }),
      selection: selectWebhooks(context, eventOf(change)),
    };
  });
  const { enabled, skipped } = selection;
  const firing = enabled.filter((webhook) => dispatcher.canFire(webhook));
  const limited = enabled.filter((webhook) => !firing.includes(webhook));
  return {
    payload: JSON.parse(bodyFor(firing[0]?.id ?? createId())),
    webhooks: firing.map((webhook) => ({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }) })),
    notFired: [...skipped, ...describeLimited(context, limited)],
  };
}

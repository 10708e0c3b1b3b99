import type { HubContext } from "../hub-context.ts";
import { maskedTargetUrl } from "../resources/webhooks.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { eventPayload, payloadSerializer } from "./event-payload.ts";
import type { ParsedEvent } from "./event-request.ts";
import { fireChange, recordChange, type TriggerResult } from "./publish-change.ts";
import { describeRecordedEvent, inventRepository } from "./recorded-event.ts";
import type { RepositoryChange } from "./repository-change.ts";
import { describeLimited, selectWebhooks, type UnfiredWebhook } from "./webhook-selection.ts";

/** The result that an event would have. */
export interface TriggerPreview {
  /** The payload for the first of `webhooks`. If no webhook would fire, the payload contains a random webhook ID. */
  payload: unknown;
  /** The webhooks that would fire. */
  webhooks: { webhookId: string; url: string }[];
  notFired: UnfiredWebhook[];
}

/**
 * Triggers an event: applies the event to the repository, notifies users, and fires the webhooks that watch the repository.
 * Creates the repository if necessary.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload.
 */
export function triggerEvent(context: HubContext, event: ParsedEvent): TriggerResult {
  const { store, auditLog } = context;
  const found = store.repositories.get(event.repo);
  const change = describeChange(context, { event, found });
  const recorded = store.transaction(() => {
    const { before, after, user } = change;
    const isCreated = event.event.scope === "repo" && event.event.action === "create";
    if (!found && after && before && !isCreated) {
      const { type, name } = before;
      const data = { repo: { type, name } };
      const organization = name.slice(0, name.indexOf("/"));
      auditLog.record({
        organization,
        type: "repo.create",
        author: user,
        message: `Created the ${type} ${name}`,
        data,
      });
    }
    const prepared = recordChange(context, change);
    if (before && after?.name !== before.name) store.repositories.delete(before);
    if (after) store.repositories.put(after);
    return prepared;
  });
  return fireChange(context, recorded);
}

/**
 * Returns the payload and the webhooks of an event without triggering the event.
 *
 * @throws `ARGUMENT_INVALID` in the same cases as {@link triggerEvent}.
 */
export function previewEvent(context: HubContext, event: ParsedEvent): TriggerPreview {
  const { store, createId, hubUrl, dispatcher } = context;
  const change = describeChange(context, { event, found: store.repositories.get(event.repo) });
  const bodyFor = payloadSerializer(eventPayload(change, { hubUrl }), { edits: event.edits ?? [], createId });
  const { enabled, skipped } = selectWebhooks(context, change);
  const firing = enabled.filter((webhook) => dispatcher.canFire(webhook));
  const limited = enabled.filter((webhook) => !firing.includes(webhook));
  return {
    payload: JSON.parse(bodyFor(firing[0]?.id ?? createId())),
    webhooks: firing.map((webhook) => ({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }) })),
    notFired: [...skipped, ...describeLimited(context, limited)],
  };
}

function describeChange(
  { createId, createSha, now }: HubContext,
  { event, found }: { event: ParsedEvent; found: StoredRepository | undefined },
): RepositoryChange {
  const repository = found ?? inventRepository(event, { createId, createSha, now: now() });
  return describeRecordedEvent({ event, repository, newSha: createSha() });
}

import type { WebhookPayload } from "../../payload/schema.ts";
import { localUser } from "../accounts.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { payloadSerializer } from "./event-payload.ts";
import { fireEvent } from "./fire-event.ts";
import type { RepositoryEvent, UnfiredWebhook } from "./webhook-selection.ts";

/** Returns the parts of a payload that decide which webhooks fire. */
export function eventOfPayload({ event, repo }: WebhookPayload): RepositoryEvent & { action: string } {
  return {
    ...{ scope: event.scope, action: event.action, isPrivate: repo.private },
    repo: { type: repo.type, name: repo.name },
  };
}

/**
 * Delivers a payload as it is to the webhooks that watch its repository, without making a change. Only the field `webhook` is set
 * for each webhook.
 */
export function deliverPayload(
  context: HubContext,
  payload: WebhookPayload,
): { deliveries: HubDelivery[]; notFired: UnfiredWebhook[] } {
  const { webhook: _own, ...fields } = payload;
  const bodyFor = payloadSerializer(fields, { edits: [], createId: context.createId });
  return fireEvent(context, { event: eventOfPayload(payload), user: localUser, bodyFor, isPayloadOnly: true });
}

import { HTTPException } from "hono/http-exception";
import type { Webhook } from "../../hub/webhooks/schemas.ts";
import type { HubContext } from "../hub-context.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { toReturnedWebhook } from "./webhooks.ts";

type WebhookDefinition = StoredWebhook["definition"];

/** Creates an enabled webhook of a user. */
export function createWebhook(
  { store, createId }: Pick<HubContext, "store" | "createId">,
  { owner, definition }: { owner: string; definition: WebhookDefinition },
): Webhook {
  const created: StoredWebhook = {
    id: createId(),
    owner,
    definition: withoutEmptySecret(definition),
    disabled: false,
    failures: 0,
    dayBeganAt: 0,
    triggersToday: 0,
  };
  store.webhooks.put(created);
  return toReturnedWebhook(created);
}

/** Replaces the definition of a webhook. If the new definition has no target, the target stays the same. */
export function updateWebhook(
  { store }: Pick<HubContext, "store">,
  { webhook, definition }: { webhook: StoredWebhook; definition: WebhookDefinition },
): Webhook {
  const updated = { ...webhook, definition: withoutEmptySecret(keepTarget(definition, webhook.definition)) };
  store.webhooks.put(updated);
  return toReturnedWebhook(updated);
}

/** Deletes a webhook and its log, and cancels its deliveries. */
export function deleteWebhook(
  { store, dispatcher }: Pick<HubContext, "store" | "dispatcher">,
  { id }: StoredWebhook,
): void {
  dispatcher.cancel(id);
  store.transaction(() => {
    store.webhooks.delete(id);
    store.deliveries.deleteAttempts(id);
  });
}

/** Enables, disables, or suspends a webhook. Disabling or suspending a webhook cancels its deliveries. */
export function setWebhookState(
  { store, dispatcher }: Pick<HubContext, "store" | "dispatcher">,
  { webhook, disabled }: { webhook: StoredWebhook; disabled: StoredWebhook["disabled"] },
): Webhook {
  const updated = { ...webhook, disabled, failures: 0 };
  store.webhooks.put(updated);
  if (disabled) dispatcher.cancel(updated.id);
  return toReturnedWebhook(updated);
}

/** Returns the update. If the update has no target, the target of the current definition is added. */
function keepTarget(update: WebhookDefinition, current: WebhookDefinition): WebhookDefinition {
  const hasTarget = update.url !== undefined || update.job !== undefined || update.jobSourceId !== undefined;
  if (hasTarget) return update;
  const { url, job, jobSourceId } = current;
  return {
    ...update,
    ...(url !== undefined && { url }),
    ...(job && { job }),
    ...(jobSourceId !== undefined && { jobSourceId }),
  };
}

/** Removes an empty secret, because a webhook with an empty secret has no secret. */
function withoutEmptySecret({ secret, ...definition }: WebhookDefinition): WebhookDefinition {
  return secret ? { ...definition, secret } : definition;
}

/**
 * Sends a delivery from the log again. Returns the HTTP status of the receiver, or 502 if there was no response.
 *
 * @throws `HTTPException` 404 if the log does not contain the delivery.
 */
export async function replayDelivery(
  { store, dispatcher }: Pick<HubContext, "store" | "dispatcher">,
  { webhook, logId }: { webhook: StoredWebhook; logId: string },
): Promise<number> {
  const entry = store.deliveries.attempt(webhook.id, logId);
  if (!entry) throw new HTTPException(404, { message: `The log of webhook "${webhook.id}" has no entry "${logId}".` });
  const { status } = await dispatcher.replay(webhook, entry);
  return status ?? 502;
}

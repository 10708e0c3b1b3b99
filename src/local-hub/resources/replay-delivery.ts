import { HTTPException } from "hono/http-exception";
import type { HubContext } from "../hub-context.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

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

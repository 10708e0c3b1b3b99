import type { WebhookPayload } from "../../../src/index.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { openLocalHub, type TestHub } from "./hub.ts";
import { openTarget, type Target } from "./target.ts";

/** Opens a local Hub with a webhook that watches everything of "me", and its target. */
export async function openWatchedTarget(): Promise<{ hub: TestHub; target: Target; webhookId: string }> {
  const target = await openTarget();
  const hub = await openLocalHub();
  const { id: webhookId } = await hub.create({ url: target.url, watched: [{ type: "user", name: "me" }] });
  return { hub, target, webhookId };
}

/** Triggers an event and returns the delivered payload. */
export async function triggerAndReceive(
  { hub, target }: { hub: TestHub; target: Target },
  event: HubEvent,
): Promise<WebhookPayload> {
  await hub.trigger(event);
  const payload = target.payloads.at(-1);
  if (!payload) throw new Error("Nothing was delivered.");
  return payload;
}

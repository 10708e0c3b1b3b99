import type { WebhookPayload } from "../../../src/index.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { openLocalHub, type SpokenHub } from "./hub.ts";
import { openTarget, type Target } from "./target.ts";

/** A local Hub with a webhook that hears everything of "me", and what it was told. */
export async function openHeard(): Promise<{ hub: SpokenHub; target: Target; webhookId: string }> {
  const target = await openTarget();
  const hub = await openLocalHub();
  const { id: webhookId } = await hub.create({ url: target.url, watched: [{ type: "user", name: "me" }] });
  return { hub, target, webhookId };
}

/** Lets an event happen, and returns what was delivered of it. */
export async function told(
  { hub, target }: { hub: SpokenHub; target: Target },
  event: HubEvent,
): Promise<WebhookPayload> {
  await hub.happen(event);
  const payload = target.payloads.at(-1);
  if (!payload) throw new Error("Nothing was delivered.");
  return payload;
}

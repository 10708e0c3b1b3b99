import type { HubClient } from "hub-webhooks/client";
import type { HubEvent, LocalHub } from "hub-webhooks/local-hub";
import { registrations } from "./events.ts";

/** Where an event went, and what it was answered. */
interface Delivered {
  endpoint: string;
  status: number | null;
  answer: unknown;
}

/** Registers a webhook for every endpoint of the receiver at `url`, and returns which is whose, by id. */
export async function registerWebhooks(client: HubClient, { url, secret }: { url: string; secret: string }) {
  const endpoints = new Map<string, string>();
  for (const [endpoint, wanted] of Object.entries(registrations)) {
    const { id } = await client.webhooks.create({ ...wanted, url: `${url}/webhooks/${endpoint}`, secret });
    endpoints.set(id, endpoint);
  }
  return endpoints;
}

/** Lets an event happen on the local Hub and tells the way of each of its deliveries. */
export async function deliver(hub: LocalHub, event: HubEvent, endpoints: ReadonlyMap<string, string>) {
  const deliveries = await hub.trigger(event);
  return deliveries.map(({ webhookId, logId, status }): Delivered => {
    const entry = hub.deliveries(webhookId).find((attempt) => attempt.logId === logId);
    const answer = entry?.response ? JSON.parse(entry.response.body) : entry?.error;
    return { endpoint: endpoints.get(webhookId) ?? webhookId, status, answer };
  });
}

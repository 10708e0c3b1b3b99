import type { HubClient } from "hub-webhooks/client";
import type { HubEvent, LocalHub } from "hub-webhooks/local-hub";
import { registrations } from "./events.ts";

/** The endpoint that received an event, and its answer. */
interface Delivered {
  endpoint: string;
  status: number | null;
  answer: unknown;
}

/** Registers a webhook for every endpoint of the receiver at `url`. Returns the endpoints by webhook id. */
export async function registerWebhooks(client: HubClient, { url, secret }: { url: string; secret: string }) {
  const endpoints = new Map<string, string>();
  for (const [endpoint, wanted] of Object.entries(registrations)) {
    const { id } = await client.webhooks.create({ ...wanted, url: `${url}/webhooks/${endpoint}`, secret });
    endpoints.set(id, endpoint);
  }
  return endpoints;
}

/** Triggers an event on the local Hub, and returns its deliveries with their answers. */
export async function deliver(hub: LocalHub, event: HubEvent, endpoints: ReadonlyMap<string, string>) {
  const deliveries = await hub.trigger(event);
  return deliveries.map(({ webhookId, logId, status }): Delivered => {
    const entry = hub.deliveries(webhookId).find((attempt) => attempt.logId === logId);
    const answer = entry?.response ? JSON.parse(entry.response.body) : entry?.error;
    return { endpoint: endpoints.get(webhookId) ?? webhookId, status, answer };
  });
}

import { onTestFinished } from "vitest";
import type { DeliveryDetails, DeliverySummary, EndpointInfo } from "../../../src/console/protocol/deliveries.ts";
import { type Inbox, type WebhookPayload, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { ConsoleClient } from "../../support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The webhook secret, which must not appear in an answer. Shorter texts are not redacted. */
export const secret = "Planted-5ecret-3f1c";
export const startedAt = Date.UTC(2026, 10, 23, 12, 30);

/** The payload of `sendDelivery`, with a repository of this name. */
export function payloadOf(name: string, changes: Record<string, unknown> = {}): WebhookPayload {
  return { ...webhookPayload("repo.content", { repo: { name } }), ...changes };
}

/** Opens a server without a socket, whose clock the test sets, and a client that is signed in to its console. */
export async function openReceiverConsole(
  declare: (server: WebhooksServer) => void,
  options: Omit<WebhooksServerOptions, "inbox"> & { inbox?: string | Inbox } = {},
) {
  const clock = { now: startedAt };
  const logger = createMemoryLogger();
  const server = new WebhooksServer({
    ...{ secret, consoleToken: "t0ken-of-the-owner", logger, now: () => clock.now },
    inbox: "sqlite::memory:",
    ...options,
  });
  declare(server);
  onTestFinished(() => server.close());
  const client = new ConsoleClient((path, init) => server.request(`/_console/${path}`, init));
  await client.signIn({ token: "t0ken-of-the-owner" });

  /** Sends a delivery, and returns its status. */
  const deliver = async (
    endpoint: string,
    id: string,
    { payload = payloadOf("acme/data"), headers = {} }: { payload?: unknown; headers?: Record<string, string> } = {},
  ) => {
    const request = deliveryRequest({ endpoint, id, payload, secret });
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return (await server.fetch(request)).status;
  };
  const list = async (query = ""): Promise<DeliverySummary[]> => (await client.read(`deliveries${query}`)).deliveries;
  const ids = async (query = "") => (await list(query)).map(({ id }) => id);
  const one = (endpoint: string, id: string): Promise<DeliveryDetails> =>
    client.read(`deliveries/one?endpoint=${encodeURIComponent(endpoint)}&id=${encodeURIComponent(id)}`);
  const untilStatus = (endpoint: string, id: string, status: string) =>
    waitFor(
      async () => {
        const details = await one(endpoint, id);
        if (details.status !== status) throw new Error(`${id} is ${details.status}.`);
        return details;
      },
      { interval: 5 },
    );
  const endpoints = async (): Promise<Record<string, EndpointInfo>> => {
    const { endpoints: all }: { endpoints: EndpointInfo[] } = await client.read("endpoints");
    return Object.fromEntries(all.map((endpoint) => [endpoint.name, endpoint]));
  };
  return { server, client, clock, logger, deliver, list, ids, one, untilStatus, endpoints };
}

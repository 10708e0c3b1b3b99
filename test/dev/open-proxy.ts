import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { FrontDoor, type FrontDoorOptions } from "../../src/dev/dev-proxy.ts";
import type { PassedDelivery } from "../../src/dev/passed-delivery.ts";

export const probe = { path: "/_hub-webhooks/probe/abc", answer: "it is me" };

/** A server behind the door. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("A TCP server has a port.");
  return { server, port: address.port };
}

/** A door to a server, or to nothing yet. */
export async function openDoor(options: Partial<FrontDoorOptions> = {}) {
  const deliveries: PassedDelivery[] = [];
  const problems: string[] = [];
  const door = await FrontDoor.open({
    ...{ port: 0, probe, serverPort: () => Promise.reject(new Error("no server")) },
    onDelivery: (delivery) => deliveries.push(delivery),
    onProblem: (message) => problems.push(message),
    ...options,
  });
  onTestFinished(() => door.close());
  const publicUrl = `http://127.0.0.1:${door.publicPort}`;
  return { door, deliveries, problems, publicUrl };
}

/** A door to a server that answers as the listener does, and keeps what it was asked. */
export async function openDoorTo(listener: RequestListener, options: Partial<FrontDoorOptions> = {}) {
  const { port, server } = await startServer(listener);
  return { ...(await openDoor({ serverPort: async () => port, ...options })), server };
}

/** Keeps every request with its body, and answers with a status. */
export function recorder(status = () => 200) {
  const requests: { incoming: IncomingMessage; body: string }[] = [];
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    requests.push({ incoming, body: await text(incoming) });
    outgoing.writeHead(status()).end("recorded");
  };
  return { requests, listener };
}

export const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer> = "{}",
  headers: Record<string, string> = {},
) => fetch(`${url}/webhooks/retrain`, { method: "POST", body, headers: { "webhook-id": "one", ...headers } });

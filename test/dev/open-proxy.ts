import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { ProxiedDelivery } from "../../src/dev/dev-event.ts";
import { type DevProxyOptions, openDevProxy } from "../../src/dev/dev-proxy.ts";
import { listen } from "../support/listen.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";

export const reachabilityCheck = { path: "/_hub-webhooks/reachability/abc", answer: "it is me" };

/** Starts a server behind the proxy. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener);
  const { port } = await listen(server);
  return { server, port };
}

/** Opens a proxy, by default without a server. */
export async function openProxy(options: Partial<DevProxyOptions> = {}) {
  const deliveries: ProxiedDelivery[] = [];
  const problems: string[] = [];
  const proxy = await openDevProxy({
    ...{ port: 0, reachabilityCheck, serverPort: () => Promise.reject(new Error("no server")) },
    onDelivery: (delivery) => deliveries.push(delivery),
    onProblem: (message) => problems.push(message),
    ...options,
  });
  onTestFinished(() => proxy.close());
  const publicUrl = `http://127.0.0.1:${proxy.publicPort}`;
  return { proxy, deliveries, problems, publicUrl };
}

/** Opens a proxy to a server with this listener. */
export async function openProxyTo(listener: RequestListener, options: Partial<DevProxyOptions> = {}) {
  const { port, server } = await startServer(listener);
  return { ...(await openProxy({ serverPort: async () => port, ...options })), server };
}

/** Creates a listener that records requests with their bodies and responds with a status. */
export function recorder(status = () => 200) {
  const requests: { incoming: IncomingMessage; body: string }[] = [];
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    requests.push({ incoming, body: await text(incoming) });
    outgoing.writeHead(status()).end("recorded");
  };
  return { requests, listener };
}

/** Opens a proxy to a server that records requests and responds with a status. */
export async function openRecorded(options: Partial<DevProxyOptions> = {}, status?: () => number) {
  const { requests, listener } = recorder(status);
  return { requests, ...(await openProxyTo(listener, options)) };
}

/** Opens a connection that is closed after the test. */
export async function openSocket(url: string): Promise<RawSocket> {
  const socket = await RawSocket.open(url);
  onTestFinished(() => socket.close());
  return socket;
}

/** Returns the bytes of a delivery. */
export function deliveryBytes({
  body = "{}",
  ...headers
}: {
  body?: string;
  Host?: string;
  "Content-Length"?: string;
} = {}): Buffer {
  return requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost", ...headers }, body });
}

export const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer> = "{}",
  headers: Record<string, string> = {},
) => fetch(`${url}/webhooks/retrain`, { method: "POST", body, headers: { "webhook-id": "one", ...headers } });

import { onTestFinished } from "vitest";
import { type ListenOptions, listen } from "../../../src/receiver/node/listen.ts";
import type { DeliveryRequest } from "../../../src/receiver/request.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type RawRequest, RawSocket, requestBytes } from "../../support/raw-socket.ts";

/** The response of the direct path. */
export const answered = { status: 200, content: '{"way":"short"}' };

/**
 * Opens a listener that answers deliveries on the direct path and all other requests on the routed path. It closes
 * after the test.
 */
export async function openListener(options: Partial<ListenOptions> = {}) {
  const log = createMemoryLogger();
  const delivered: DeliveryRequest[] = [];
  const listener = await listen({
    fetch: () => Response.json({ way: "long" }),
    deliver: async (request) => {
      delivered.push(request);
      await request.readBody(1_000);
      return answered;
    },
    ...{ host: "127.0.0.1", port: 0, log: log },
    timeouts: { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 10_000 },
    ...options,
  });
  onTestFinished(async () => void (await listener.close(1_000)));
  const url = `http://127.0.0.1:${listener.port}`;
  const ask = async (request: Partial<RawRequest> = {}) => {
    const socket = await openSocket(url);
    socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "receiver.example" }, ...request }));
    return socket.answer();
  };
  return { ask, delivered, listener, log, url };
}

/** Opens a connection that is closed after the test. The client does not end its side before. */
export async function openSocket(url: string): Promise<RawSocket> {
  const socket = await RawSocket.open(url);
  onTestFinished(() => socket.close());
  return socket;
}

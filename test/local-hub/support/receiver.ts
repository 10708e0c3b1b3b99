import { onTestFinished } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { secret } from "./hub.ts";

/** A real receiver that requires the {@link secret}. */
export interface Receiver {
  /** Returns the URL of an endpoint. */
  urlOf(endpoint: string): string;
}

/** Launches a receiver with the endpoints that `declare` registers; it is closed when the test is over. */
export async function openReceiver(declare: (server: WebhooksServer) => void): Promise<Receiver> {
  const server = new WebhooksServer({ secret, logger: createMemoryLogger() });
  declare(server);
  const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  onTestFinished(() => server.close());
  return { urlOf: (endpoint) => `${url}/webhooks/${endpoint}` };
}

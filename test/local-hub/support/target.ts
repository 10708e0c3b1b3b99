import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { parsePayload, type WebhookPayload, WebhooksServer } from "../../../src/index.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openLocalHub, secret, type TestHub, type TestHubOptions } from "./hub.ts";

/** The response of a target: a status, or a function that handles the request. */
export type TargetAnswer = number | ((request: IncomingMessage, response: ServerResponse) => void);

/** A received delivery. */
export interface ReceivedRequest {
  /** Such as `POST /hook`. */
  line: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that receives deliveries. */
export class Target {
  readonly url: string;
  readonly requests: ReceivedRequest[] = [];
  #answers: readonly TargetAnswer[] = [200];
  #answered = 0;

  constructor(url: string) {
    this.url = url;
  }

  /** Sets the next responses, in order. The last one repeats. */
  answerWith(...answers: readonly TargetAnswer[]): this {
    this.#answers = answers;
    this.#answered = 0;
    return this;
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = { line: `${request.method} ${request.url}`, headers: request.headers, body: await text(request) };
    const answer = this.#answers[Math.min(this.#answered, this.#answers.length - 1)] ?? 200;
    this.#answered += 1;
    this.requests.push(arrived);
    if (typeof answer === "function") answer(request, response);
    else response.writeHead(answer).end();
  }

  /** Waits until this many deliveries have arrived. */
  async hasReceived(count: number): Promise<void> {
    await waitFor(() => expect(this.requests.length).toBeGreaterThanOrEqual(count), { interval: 5 });
  }

  /** The `Webhook-Id` of each delivery. */
  get ids(): (string | undefined)[] {
    return this.requests.map(({ headers }) => headers["webhook-id"]?.toString());
  }

  /** The received payloads, validated. */
  get payloads(): WebhookPayload[] {
    return this.requests.map(({ body }) => parsePayload(JSON.parse(body)));
  }
}

/** Opens a server on loopback. It closes after the test. */
export async function openTarget(...answers: readonly TargetAnswer[]): Promise<Target> {
  const server = createServer((request, response) => {
    // The sender can abort in the middle of a body.
    target.take(request, response).catch(() => response.destroy());
  });
  const target = new Target(`${(await listen(server)).url}/hook`);
  if (answers.length > 0) target.answerWith(...answers);
  return target;
}

/** Leaves the request without a response. */
export const neverRespond: TargetAnswer = () => {};

/** Opens a local Hub with a webhook that watches the dataset "me/data", with changes, and its target with these answers. */
export async function openWebhook(
  answers: readonly TargetAnswer[] = [],
  options: TestHubOptions = {},
  changes: Record<string, unknown> = {},
): Promise<{ hub: TestHub; target: Target; id: string }> {
  const target = await openTarget(...answers);
  const hub = await openLocalHub(options);
  const { id } = await hub.create({ url: target.url, ...changes });
  return { hub, target, id };
}

/** Opens a local Hub with a webhook that watches the user "me" in all domains, and its target. */
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

/** A real receiver that requires the {@link secret}. */
export interface Receiver {
  /** Returns the URL of an endpoint. */
  urlOf(endpoint: string): string;
}

/** Launches a receiver with the endpoints that `declare` registers. It closes after the test. */
export async function openReceiver(declare: (server: WebhooksServer) => void): Promise<Receiver> {
  const server = new WebhooksServer({ secret, logger: createMemoryLogger() });
  declare(server);
  const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  onTestFinished(() => server.close());
  return { urlOf: (endpoint) => `${url}/webhooks/${endpoint}` };
}

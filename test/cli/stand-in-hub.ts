import { createServer, type IncomingMessage } from "node:http";
import { listen } from "../support/listen.ts";

/** A request that the Hub received. */
export interface ReceivedRequest {
  method: string;
  path: string;
  body: unknown;
  authorization: string | undefined;
}

/** A webhook in a response. Tests can set any fields. */
export type WireWebhook = Record<string, unknown> & { id: string };

/** A server that responds as tests require, even in ways in which the real Hub would not. */
export interface StandInHub {
  url: string;
  requests: ReceivedRequest[];
  webhooks: WireWebhook[];
  /** The status in the response to a replay. */
  replayStatus: number;
}

/** Returns an ID in the Hub's format that ends with this digit. */
export function idOf(digit: number): string {
  return `654bbbc16f2ec14d77f109c${digit}`;
}

/** Returns an ordinary webhook with these changes. */
export function wireWebhook(changes: Record<string, unknown> & { id?: string } = {}): WireWebhook {
  return {
    id: idOf(1),
    url: "https://example.com/hook",
    disabled: false,
    watched: [{ type: "dataset", name: "me/data" }],
    domains: ["repo", "discussion"],
    ...changes,
  };
}

/** Starts a stand-in Hub and closes it after the test. */
export async function startStandInHub(webhooks: WireWebhook[] = []): Promise<StandInHub> {
  const hub: StandInHub = { url: "", requests: [], webhooks, replayStatus: 200 };
  const server = createServer(async (request, response) => {
    const text = await readBody(request);
    const received: ReceivedRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      body: text === "" ? undefined : JSON.parse(text),
      authorization: request.headers.authorization,
    };
    hub.requests.push(received);
    const { status, body } = answer(hub, received);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  hub.url = (await listen(server)).url;
  return hub;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

function answer(hub: StandInHub, { method, path, body }: ReceivedRequest): { status: number; body: unknown } {
  const [id, ...rest] = path.replace("/api/settings/webhooks", "").split("/").slice(1);
  if (id === undefined) {
    if (method === "GET") return { status: 200, body: hub.webhooks };
    return { status: 200, body: { webhook: { ...wireWebhook(), url: undefined, ...answered(body) } } };
  }
  const webhook = hub.webhooks.find((known) => known.id === id);
  if (!webhook) return { status: 404, body: { error: "Webhook not found" } };
  const [action] = rest;
  if (method === "DELETE") {
    hub.webhooks = hub.webhooks.filter((known) => known !== webhook);
    return { status: 200, body: {} };
  }
  if (action === "replay") return { status: 200, body: { status: hub.replayStatus } };
  if (action !== undefined) return { status: 200, body: { webhook: { ...webhook, disabled: action === "disable" } } };
  if (method === "GET") return { status: 200, body: { webhook } };
  return { status: 200, body: { webhook: { id, disabled: webhook.disabled, ...answered(body) } } };
}

/**
 * Returns the fields of a request as the Hub returns them: a job has the names of its secrets and lacks some fields.
 */
function answered(body: unknown): object {
  const { job, ...rest } = Object(body);
  if (job === undefined) return rest;
  const { secrets = {}, arch: _arch, attempts: _attempts, volumes: _volumes, ...returned } = job;
  return { ...rest, job: { ...returned, secrets: Object.keys(secrets) } };
}

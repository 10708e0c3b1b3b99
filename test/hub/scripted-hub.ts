import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { HubClient, type HubClientOptions } from "../../src/client.ts";
import { HubJobs } from "../../src/hub/jobs/jobs.ts";
import { HubNotifications } from "../../src/hub/notifications.ts";
import type { CallOptions } from "../../src/hub/operation.ts";
import { HubOrganizations } from "../../src/hub/organizations/organizations.ts";
import { HubPapers, HubSettings } from "../../src/hub/settings.ts";
import { Transport, type TransportSettings } from "../../src/hub/transport/transport.ts";
import { HubWebhooks } from "../../src/hub/webhooks/webhooks.ts";
import { freePort } from "../support/free-port.ts";
import { listen } from "../support/listen.ts";

/** One response: a value is sent as JSON, a text unchanged. A function handles the connection itself. */
export type ScriptedAnswer =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string }
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** A received request. */
export interface Arrived {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A Hub that sends scripted responses. */
export interface ScriptedHub {
  url: string;
  requests: readonly Arrived[];
  /** `GET /path` of each request. */
  readonly calls: readonly string[];
  /** The body of the last request. */
  readonly lastBody: unknown;
}

/** The token of all tests that use this Hub. */
export const token = "hf_PlantedToken7e11";

/** The Hubs of the running tests by origin. A request in memory returns `undefined` if the response needs a socket. */
const hubs = new Map<string, (request: Arrived) => Response | undefined>();

/**
 * Opens a Hub that sends these responses in order, the last one repeatedly. {@link fetchScripted} requests responses that are values in
 * memory. Only a Hub with a function listens on a socket. It closes after the test.
 */
export async function openHub(...answers: readonly ScriptedAnswer[]): Promise<ScriptedHub> {
  if (answers.some((answer) => typeof answer === "function")) return openSocketHub(...answers);
  // Each Hub has a reserved port, on which no server of a test listens.
  const url = Array.from({ length: 1_000 }, (_, index) => `http://127.0.0.1:${index + 100}`).find(
    (free) => !hubs.has(free),
  );
  return register(url ?? "", answers).hub;
}

/** Opens a Hub for clients without {@link fetchScripted}. */
export async function openSocketHub(...answers: readonly ScriptedAnswer[]): Promise<ScriptedHub> {
  const server = createServer();
  const { hub, requests, nextAnswer } = register((await listen(server)).url, answers);
  server.on("request", async (request, response) => {
    const answer = nextAnswer();
    const arrived = { method: request.method, path: request.url, headers: request.headers, body: "" };
    requests.push(arrived);
    arrived.body = await text(request);
    if (typeof answer === "function") return answer(request, response);
    const { status, headers, body } = contentOf(answer);
    response.writeHead(status, headers);
    response.end(body);
  });
  return hub;
}

function register(url: string, answers: readonly ScriptedAnswer[]) {
  const requests: Arrived[] = [];
  const nextAnswer = () => answers[Math.min(requests.length, answers.length - 1)] ?? { status: 500 };
  hubs.set(url, (request) => {
    const answer = nextAnswer();
    if (typeof answer === "function") return undefined;
    requests.push(request);
    const { body, ...init } = contentOf(answer);
    return new Response([204, 304].includes(init.status) ? null : body, init);
  });
  onTestFinished(() => void hubs.delete(url));
  const hub: ScriptedHub = {
    url,
    requests,
    get calls() {
      return requests.map(({ method, path }) => `${method} ${path}`);
    },
    get lastBody() {
      return JSON.parse(requests.at(-1)?.body ?? "");
    },
  };
  return { hub, requests, nextAnswer };
}

function contentOf({ status = 200, headers = {}, json, text }: Exclude<ScriptedAnswer, (...args: never) => void>) {
  const all = new Map(Object.entries(headers));
  if (json !== undefined && !all.has("content-type")) all.set("content-type", "application/json");
  // Bytes, because a text would add a content type to a response.
  const body = new TextEncoder().encode(json === undefined ? text : JSON.stringify(json));
  return { status, headers: Object.fromEntries(all), body };
}

/** Gets a response that is a value from the Hub in this process, and any other response through a socket. */
export const fetchScripted: typeof fetch = async (input, init) => {
  const url = new URL(String(input));
  init?.signal?.throwIfAborted();
  const request = {
    method: init?.method,
    path: `${url.pathname}${url.search}`,
    headers: Object.fromEntries(new Headers(init?.headers)),
    body: typeof init?.body === "string" ? init.body : "",
  };
  return hubs.get(url.origin)?.(request) ?? fetch(input, init);
};

/** Creates a client that uses {@link fetchScripted}. */
export function openClient(hub: { url: string }, options: HubClientOptions = {}): HubClient {
  return new HubClient({ token, hubUrl: hub.url, fetch: fetchScripted, ...options });
}

/** The result of {@link connect}. */
export interface Connected {
  fetch: Transport["fetch"];
  webhooks: HubWebhooks;
  jobs: HubJobs;
  notifications: HubNotifications;
  settings: HubSettings;
  papers: HubPapers;
  organizations: HubOrganizations;
  /** In milliseconds. */
  waits: readonly number[];
}

/** Creates the areas of a client that skips its waits and records their lengths. */
export function connect(hubUrl: string, settings: Partial<TransportSettings> = {}): Connected {
  const waits: number[] = [];
  const transport = new Transport({
    hubUrl,
    findToken: async () => token,
    fetch: fetchScripted,
    timeoutMs: 10_000,
    attempts: 4,
    wait: async (milliseconds) => void waits.push(milliseconds),
    random: () => 1,
    ...settings,
  });
  return {
    fetch: (path, init) => transport.fetch(path, init),
    webhooks: new HubWebhooks(transport),
    jobs: new HubJobs(transport),
    notifications: new HubNotifications(transport),
    settings: new HubSettings(transport),
    papers: new HubPapers(transport),
    organizations: new HubOrganizations(transport),
    waits,
  };
}

/** Collects all items of an iteration. */
export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Returns the error that a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail, but gave ${JSON.stringify(value)}.`);
    },
    (error: unknown) => error,
  );
}

/** Returns a URL with a port on which no server listens: `http://127.0.0.1:…`. */
export async function closedAddress(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

/* Responses of the Hub, written from the tables of the specification and not from the schemas. */

/** A webhook that posts to a URL. */
export const urlWebhook = {
  id: "65b2f0a1c3d4e5f60718293a",
  url: "https://acme-bot.hf.space/webhooks/retrain",
  disabled: false,
  watched: [
    { name: "acme/data", type: "dataset", avatarUrl: "https://cdn.example/acme.png" },
    { name: "acme", type: "org" },
  ],
  secret: "s3cret-of-acme",
  domains: ["repo", "discussion"],
  lastTriggerAt: "2026-01-31T09:15:27.123Z",
};

/** A valid call of each method of `hub.webhooks`. A missing method does not compile. */
export const webhookCalls: Readonly<
  Record<keyof HubWebhooks, (webhooks: HubWebhooks, options?: CallOptions) => Promise<unknown>>
> = {
  list: (webhooks, options) => webhooks.list(options),
  get: (webhooks, options) => webhooks.get(urlWebhook.id, options),
  create: (webhooks, options) =>
    webhooks.create({ watched: [{ type: "user", name: "ada" }], domains: ["repo"], url: urlWebhook.url }, options),
  update: (webhooks, options) => webhooks.update(urlWebhook.id, { domains: ["repo"] }, options),
  enable: (webhooks, options) => webhooks.enable(urlWebhook.id, options),
  disable: (webhooks, options) => webhooks.disable(urlWebhook.id, options),
  delete: (webhooks, options) => webhooks.delete(urlWebhook.id, options),
  replay: (webhooks, options) => webhooks.replay(urlWebhook.id, "log-1", options),
};

/** A webhook that runs a job: secrets by name only, and neither `arch` nor `attempts` nor `volumes`. */
export const jobWebhook = {
  id: "65b2f0a1c3d4e5f60718293b",
  job: {
    dockerImage: "python:3.13",
    command: ["python", "train.py"],
    environment: { EPOCHS: "3" },
    flavor: "a10g-small",
    timeoutSeconds: 3600,
    labels: { team: "vision" },
    secrets: ["HF_TOKEN", "WANDB_KEY"],
  },
  disabled: false,
  watched: [{ name: "acme/data", type: "dataset" }],
  domains: ["repo"],
};

/** A webhook that runs a copy of another job. The Hub returns that job in addition to its ID. */
export const sourceWebhook = {
  id: "65b2f0a1c3d4e5f60718293c",
  job: { environment: {}, flavor: "cpu-basic", timeoutSeconds: null, secrets: ["HF_TOKEN"] },
  jobSourceId: "job-source-1",
  disabled: true,
  watched: [{ name: "ada", type: "user" }],
  domains: ["discussion"],
};

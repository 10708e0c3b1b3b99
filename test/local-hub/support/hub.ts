import { join } from "node:path";
import { afterAll, expect, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { type Job, job } from "../../../src/hub/jobs/schemas.ts";
import { type AuditLogEvent, auditLogEvent } from "../../../src/hub/organizations/audit-log.ts";
import type { AuditLogType } from "../../../src/hub/organizations/audit-log-types.ts";
import { undocumentedBody } from "../../../src/hub/schemas.ts";
import { type Webhook, webhook } from "../../../src/hub/webhooks/schemas.ts";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import type { HubDelivery, HubDeliveryAttempt } from "../../../src/local-hub/delivery/hub-delivery.ts";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { openApiDocument } from "../../../src/local-hub/openapi.ts";
import { routes } from "../../../src/local-hub/routes/index.ts";
import { type HubEvent, LocalHub, type LocalHubOptions } from "../../../src/local-hub.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The secret of the webhooks here. No log line, log entry or control response may contain it. */
export const secret = "Planted-5ecret-19de04";

/** The repository of most events. */
export const data = { type: "dataset", name: "me/data" } as const;

/** A push to {@link data}. */
export const pushed = { repo: data, event: { scope: "repo.content", action: "update" } } as const;

const path = "/api/settings/webhooks";

/** A response of the local Hub. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON. */
  body: unknown;
  text: string;
}

/** Optional parts of a request. */
export interface RequestOptions {
  /** Default `hf_local`. `null` sends no token. */
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  /** A body to send unchanged. */
  text?: string;
  headers?: Record<string, string>;
}

const fired = z.object({ deliveries: z.array(z.custom<HubDelivery>()) });
const log = z.array(z.custom<HubDeliveryAttempt>());

interface RunOptions {
  namespace?: string;
  token?: string;
}

type Send = (url: string, init: RequestInit & { headers: Record<string, string> }) => Promise<Response>;

/** Returns a function that sends requests to a local Hub in memory, and follows redirects like `fetch`. */
function inMemory(hub: LocalHub): Send {
  const context = contextOf(hub);
  const app = createHubApp(context, { console: createHubConsole(context) });
  return async (url, init) => {
    for (let target = url; ; ) {
      const headers = { host: new URL(hub.url).host, "user-agent": "node", ...init.headers };
      const response = await app.fetch(new Request(target, { ...init, headers }));
      const location = response.headers.get("location");
      if (location === null) return response;
      target = new URL(location, target).href;
    }
  };
}

/** A local Hub with methods that send HTTP requests to it, in memory unless `overSocket` is set. */
export class TestHub {
  readonly hub: LocalHub;
  readonly url: string;
  readonly log: MemoryLogger;
  #send: Send | undefined;

  constructor({ hub, log, overSocket = false }: { hub: LocalHub; log: MemoryLogger; overSocket?: boolean }) {
    this.hub = hub;
    this.url = hub.url;
    this.log = log;
    // The fault tests run a built local Hub, which the sources cannot read.
    if (overSocket || process.env.FAULTS_ON === "dist") this.#send = fetch;
  }

  /** Sends a request such as `GET /api/settings/webhooks`. */
  async request(line: string, { token = "hf_local", body, text, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const [method, target] = line.split(" ");
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    this.#send ??= inMemory(this.hub);
    const response = await this.#send(`${this.url}${target}`, {
      ...(method !== undefined && { method }),
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    });
    const answered = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(answered) : undefined,
      text: answered,
    };
    checkAnswer(line, answer);
    return answer;
  }

  /** Returns the status of a request, and the code of an error. */
  async outcome(line: string, options?: RequestOptions): Promise<[status: number, code: string | null]> {
    const { status, headers } = await this.request(line, options);
    return [status, headers.get("x-error-code")];
  }

  /** Sends a request that must succeed, and returns its parsed response. */
  async read<Output>(
    line: string,
    schema: { parse(value: unknown): Output },
    options?: RequestOptions,
  ): Promise<Output> {
    const { status, body, text } = await this.request(line, options);
    expect(status, `${line}: ${text}`).toBe(200);
    return schema.parse(body);
  }

  /** Creates a webhook that watches {@link data}, with changes. */
  async create(changes: Record<string, unknown>, { token }: Pick<RequestOptions, "token"> = {}): Promise<Webhook> {
    const body = { watched: [data], domains: ["repo", "discussion"], ...changes };
    return this.#webhook(`POST ${path}`, { body, ...(token !== undefined && { token }) });
  }

  /** Starts a job, and returns its id. */
  async runJob(request: object = {}, { namespace = "local-user", ...options }: RunOptions = {}): Promise<string> {
    const body = { flavor: "cpu-basic", ...request };
    return (await this.read(`POST /api/jobs/${namespace}`, job, { ...options, body })).id;
  }

  get(id: string): Promise<Webhook> {
    return this.#webhook(`GET ${path}/${id}`);
  }

  update(id: string, changes: Record<string, unknown>): Promise<Webhook> {
    const body = { watched: [data], domains: ["repo", "discussion"], ...changes };
    return this.#webhook(`POST ${path}/${id}`, { body });
  }

  setState(id: string, action: "enable" | "disable"): Promise<Webhook> {
    return this.#webhook(`POST ${path}/${id}/${action}`);
  }

  async delete(id: string): Promise<void> {
    expect(await this.request(`DELETE ${path}/${id}`)).toMatchObject({ status: 200, body: {} });
  }

  replay(id: string, logId: string | undefined): Promise<unknown> {
    return this.read(`POST ${path}/${id}/replay/${logId}`, z.unknown());
  }

  /** Triggers an event, and by default waits for its deliveries. */
  async trigger(event: HubEvent = pushed, { wait = true }: { wait?: boolean } = {}): Promise<HubDelivery[]> {
    return (await this.read(`POST /_local/events?wait=${wait}`, fired, { token: null, body: event })).deliveries;
  }

  /** Returns the log of a webhook, newest first. */
  entries(id: string): Promise<HubDeliveryAttempt[]> {
    return this.read(`GET /_local/webhooks/${id}/deliveries`, log, { token: null });
  }

  async #webhook(line: string, options?: RequestOptions): Promise<Webhook> {
    return (await this.read(line, z.strictObject({ webhook }), options)).webhook;
  }
}

const document = openApiDocument({ serverUrl: "http://localhost" });
const refused = z.strictObject({
  error: z.string().min(1),
  // A conflict contains the URL of the repository, an invalid card all problems, and a failed batch the result of each operation.
  url: z.string().optional(),
  id: z.string().optional(),
  success: z.literal(false).optional(),
  processed: z.number().optional(),
  succeeded: z.number().optional(),
  failed: z.array(z.unknown()).optional(),
  errors: z.array(z.unknown()).optional(),
  warnings: z.array(z.unknown()).optional(),
});

const expressions = routes.map((route) => ({ route, expression: new RegExp(`^${toExpression(route.path)}$`) }));

/** Checks each response against the schema of its operation. */
function checkAnswer(line: string, { status, body, text }: Answer): void {
  const [method = "", target = ""] = line.split(" ");
  const path = target.replace(/\?.*$/, "");
  const operation = expressions.find(
    ({ route, expression }) => route.method === method.toLowerCase() && expression.test(path),
  )?.route;
  if (!operation || status === 302 || status === 307) return;
  const { responses } = document.paths[operation.path]?.[operation.method] ?? { responses: {} };
  expect(Object.keys(responses), `${line}: ${text}`).toContain(String(status));
  if (text.startsWith(": stream")) return;
  const schema = operation.response;
  // The content of a file has any type.
  if (status === 200 && schema === undocumentedBody && body === undefined) return;
  const expected = status !== 200 ? refused : schema === undocumentedBody ? z.strictObject({}) : schema;
  expect(expected.safeParse(body).error, `${line}: ${text.slice(0, 500)}`).toBeUndefined();
}

function toExpression(path: string): string {
  return path
    .replace("{repoType}", "(?:models|datasets|spaces)")
    .replace("{path}", ".+")
    .replace(/\{\w+\}/g, "[^/]+");
}

/** How to launch a local Hub for a test. */
export interface TestHubOptions extends LocalHubOptions {
  /** Replaces `Date.now` until the test ends. */
  now?: () => number;
  /** Sends requests over a socket instead of in memory. */
  overSocket?: boolean;
}

/**
 * Launches a local Hub in memory, on a free port, with 5 ms between attempts. It closes when the test is over.
 */
export async function openLocalHub({ now, ...options }: TestHubOptions = {}): Promise<TestHub> {
  if (now) {
    const clock = vi.spyOn(Date, "now").mockImplementation(now);
    onTestFinished(() => clock.mockRestore());
  }
  const hub = await launchLocalHub(options);
  onTestFinished(() => hub.hub.close());
  return hub;
}

/** Launches such a local Hub for all tests of a file, which must not change it or use names of their own. */
export async function shareLocalHub(options: Omit<TestHubOptions, "now"> = {}): Promise<TestHub> {
  const hub = await launchLocalHub(options);
  afterAll(() => hub.hub.close());
  return hub;
}

/** Launches such a local Hub. The caller closes it. */
async function launchLocalHub({ overSocket = false, ...options }: TestHubOptions = {}): Promise<TestHub> {
  const log = createMemoryLogger();
  return new TestHub({ hub: await LocalHub.launch({ backoff: 5, logger: log, ...options }), log, overSocket });
}

/** Returns the path of a file that does not exist yet. */
export function stateFile(): string {
  return join(createFolder(), "hub.sqlite");
}

/** Closes a local Hub and launches another one. */
export async function restart(before: TestHub, options: TestHubOptions): Promise<TestHub> {
  await before.hub.close();
  return openLocalHub(options);
}

/** Returns the jobs of a local Hub, newest first. */
export function jobs(hub: TestHub): Promise<Job[]> {
  return hub.read("GET /_local/jobs", z.array(job), { token: null });
}

/** Waits until every job has ended, and returns them, newest first. */
export async function waitForJobs(hub: TestHub, count = 1): Promise<Job[]> {
  return waitFor(
    async () => {
      const found = await jobs(hub);
      expect(found).toHaveLength(count);
      for (const { status } of found) expect(status.stage, JSON.stringify(status)).not.toMatch(/SCHEDULING|RUNNING/);
      return found;
    },
    { interval: 20 },
  );
}

/** Returns the output of the jobs, line by line. */
export function output(hub: TestHub): unknown[] {
  return hub.log.lines.filter(({ msg }) => msg === "job output").map(({ line }) => line);
}

/** Returns the events of one type in the audit log of an organization, newest first. */
export function auditEvents(
  hub: TestHub,
  { organization, type }: { organization: string; type: AuditLogType },
): Promise<AuditLogEvent[]> {
  return hub.read(`GET /api/organizations/${organization}/audit-log/export?q=type:${type}`, z.array(auditLogEvent));
}

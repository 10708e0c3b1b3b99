// @module-tag slow

import { createServer } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient, type WebhookRequest } from "../../src/client.ts";
import type { CheckResult } from "../../src/console/protocol/checks.ts";
import { type DoctorOptions, runDoctor, summarize } from "../../src/doctor/doctor.ts";
import { type EndpointOptions, WebhooksServer, type WebhooksServerOptions } from "../../src/index.ts";
import { webhookPayload } from "../../src/payload/samples.ts";
import type { FindingCode } from "../../src/receiver/checks/checks.ts";
import { serverControl } from "../../src/receiver/control.ts";
import { TemporaryWebhooks } from "../../src/registration/temporary.ts";
import { findServerFile } from "../../src/server-file/find-server-file.ts";
import { describeServerFile } from "../../src/server-file/server-process.ts";
import { openTestHub, secret, type TestHub } from "../registration/test-hub.ts";
import { listen } from "../support/listen.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";

const consoleToken = "Planted-console-t0ken";
const retrain = { watch: "dataset:local-user/data" } as const;
const repo = { type: "dataset", name: "local-user/data" } as const;

interface World {
  testHub: TestHub;
  url: string;
  /** The options of the next run. */
  options: DoctorOptions;
  /** Whether the handlers fail. */
  isBroken: boolean;
}

/** A server with a registered webhook, to which nothing is wrong. */
async function openWorld(
  endpoints: Readonly<Record<string, EndpointOptions>> = { retrain },
  optionsFor: (hubUrl: string) => WebhooksServerOptions = () => ({}),
  { isManaged = false }: { isManaged?: boolean } = {},
): Promise<World> {
  const testHub = await openTestHub({ suspendAfter: 1 });
  const hub = { hubUrl: testHub.hub.url, token: "hf_local" };
  const server = new WebhooksServer({
    secret,
    consoleToken,
    hub,
    logger: createMemoryLogger(),
    ...optionsFor(hub.hubUrl),
  });
  for (const [name, declared] of Object.entries(endpoints)) {
    server.webhook(name, declared, () => {
      if (world.isBroken) throw new Error("broken");
    });
  }
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  const { endpoints: declared } = server[serverControl].describe();
  // To hash the secret for the state file takes longer than the rest of a test.
  if (isManaged) await testHub.register(server, { publicUrl: url, secret });
  else {
    for (const { name, watch: watched, domains } of declared.filter(({ watch }) => watch.length > 0))
      await testHub.create({ url: `${url}/webhooks/${name}`, watched: [...watched], domains: [...domains], secret });
  }
  const { client, state } = testHub;
  const described = { describe: async () => server[serverControl].describe(), secret, consoleToken };
  const world: World = {
    testHub,
    url,
    isBroken: false,
    options: { client, state, url, version: "0.0.1", ...described },
  };
  return world;
}

async function examine(options: DoctorOptions): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for await (const result of runDoctor(options)) results.push(result);
  return results;
}

const codesOf = (results: readonly CheckResult[], status: CheckResult["status"] = "problem") =>
  results.flatMap((result) => (result.status === status ? [result.code] : []));

/** Changes the webhook of the server. */
async function change({ testHub }: World, changes: Partial<WebhookRequest>): Promise<void> {
  const [webhook] = await testHub.webhooks();
  await testHub.client.webhooks.update(String(webhook?.id), changes);
}

/** Answers one request of the doctor instead of the server. */
function intercept(
  method: string,
  path: string,
  answer: (request: Request) => Response | Promise<Response>,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    return request.method === method && new URL(request.url).pathname === path ? answer(request) : fetch(request);
  };
}

/** Sends the requests to another program. */
async function programAt(status: number): Promise<typeof fetch> {
  const program = createServer((_request, response) => void response.writeHead(status, { location: "/x" }).end("hi"));
  const { url } = await listen(program);
  return (input, init) => fetch(url + new URL(String(input)).pathname, init);
}

/** A client that sees a changed text. */
function clientOf(
  { testHub }: World,
  token: string,
  { from, to }: { from: string; to: string } = { from: "", to: "" },
) {
  const changed: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    return new Response((await response.text()).replace(from, to), response);
  };
  return new HubClient({ hubUrl: testHub.hub.url, token, attempts: 1, fetch: changed });
}

interface Breakage {
  code: FindingCode;
  /** What is wrong. */
  name: string;
  endpoints?: Record<string, EndpointOptions>;
  server?: (hubUrl: string) => WebhooksServerOptions;
  break?: (world: World) => unknown;
  options?: (world: World) => Partial<DoctorOptions> | Promise<Partial<DoctorOptions>>;
}

/** `--fix` repairs these. */
const repaired: readonly Breakage[] = [
  {
    ...{ code: "WEBHOOK_MISSING", name: "the webhook was deleted" },
    break: async ({ testHub }) => {
      for (const { id } of await testHub.webhooks()) await testHub.client.webhooks.delete(id);
    },
  },
  {
    ...{ code: "WEBHOOK_DIFFERS", name: "the webhook watches something else" },
    break: (world) => change(world, { watched: [{ type: "org", name: "acme" }] }),
  },
  {
    ...{ code: "WEBHOOK_DIFFERS", name: "the webhook points to another server" },
    break: (world) => change(world, { url: "https://old.example/webhooks/retrain" }),
  },
  {
    ...{ code: "WEBHOOK_SECRET_DIFFERS", name: "the webhook has an old secret" },
    break: (world) => change(world, { secret: "old-5ecret" }),
  },
  {
    ...{ code: "WEBHOOK_DISABLED", name: "the webhook is disabled" },
    break: async ({ testHub }) => {
      for (const { id } of await testHub.webhooks()) await testHub.client.webhooks.disable(id);
    },
  },
  {
    ...{ code: "WEBHOOK_SUSPENDED", name: "deliveries failed until the Hub gave up" },
    break: async (world) => {
      world.isBroken = true;
      await world.testHub.hub.push(repo);
      world.isBroken = false;
    },
  },
  {
    ...{ code: "WEBHOOK_DISABLED", name: "a webhook that a person created is disabled" },
    endpoints: { retrain, by_hand: {} },
    break: async ({ testHub, url }) => {
      const { id } = await testHub.create({ url: `${url}/webhooks/by_hand`, secret });
      await testHub.client.webhooks.disable(id);
    },
  },
  {
    ...{ code: "WEBHOOK_LEFTOVER", name: "a session of dev was killed" },
    break: async ({ testHub: { client, state } }) => {
      const session = { id: "killed", alive: { url: "http://127.0.0.1:1/alive", answer: "unguessable" } };
      const sessions = await TemporaryWebhooks.open({ client, state, session });
      const endpoint = { name: "dev", watch: [repo], domains: ["repo"] } as const;
      await sessions.reconcile({ endpoints: [endpoint], publicUrl: "http://127.0.0.1:7861", secret });
    },
  },
];

/** A person has to repair these. */
const explained: readonly Breakage[] = [
  {
    ...{ code: "HUB_UNREACHABLE", name: "the Hub is down" },
    options: () => ({ client: new HubClient({ hubUrl: "http://127.0.0.1:1", token: "hf_local", attempts: 1 }) }),
  },
  {
    ...{ code: "HUB_UNREACHABLE", name: "the Hub fails after the first request" },
    break: ({ testHub }) => {
      testHub.intercept = async (request, send) =>
        request.url.endsWith("/webhooks") ? new Response("{}", { status: 500 }) : send(request);
    },
  },
  {
    ...{ code: "TOKEN_MISSING", name: "no account signed in" },
    options: () => {
      for (const name of ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]) vi.stubEnv(name, "");
      vi.stubEnv("HF_HOME", createFolder());
      vi.stubEnv("HF_TOKEN_PATH", "");
      onTestFinished(() => void vi.unstubAllEnvs());
      return { client: new HubClient({ hubUrl: "https://hub.example", attempts: 1 }) };
    },
  },
  {
    ...{ code: "TOKEN_INVALID", name: "the token was revoked" },
    options: (world) => ({ client: clientOf(world, "hf_revoked") }),
  },
  {
    ...{ code: "TOKEN_READ_ONLY", name: "the token can only read" },
    options: (world) => ({ client: clientOf(world, "hf_read") }),
  },
  {
    ...{ code: "TOKEN_RIGHTS", name: "the token has no right to write webhooks" },
    options: (world) => ({ client: clientOf(world, "hf_fine", { from: "webhooks.write", to: "webhooks.read" }) }),
  },
  {
    ...{ code: "ADDRESS_UNREACHABLE", name: "nothing listens" },
    options: () => ({ fetch: () => Promise.reject(new TypeError("fetch failed")) }),
  },
  {
    ...{ code: "ADDRESS_UNREACHABLE", name: "a proxy has no server" },
    options: () => ({ fetch: intercept("GET", "/health", () => new Response("", { status: 502 })) }),
  },
  {
    ...{ code: "ADDRESS_REDIRECTS", name: "the address redirects" },
    options: async () => ({ fetch: await programAt(308) }),
  },
  {
    ...{ code: "ADDRESS_WRONG", name: "another program answers" },
    options: async () => ({ fetch: await programAt(200) }),
  },
  {
    ...{ code: "SERVER_NOT_READY", name: "the inbox is not open" },
    options: () => {
      const server = new WebhooksServer({ secret, consoleToken, logger: createMemoryLogger() });
      server.webhook("slow", { background: true }, () => {});
      return { fetch: intercept("GET", "/ready", (request) => server.fetch(request)) };
    },
  },
  {
    ...{ code: "SERVER_FILE_INVALID", name: "the server file is missing" },
    options: () => ({ describe: async () => describeServerFile(findServerFile({ file: "missing.ts" })) }),
  },
  {
    ...{ code: "ENDPOINT_NOT_SERVED", name: "the server runs an old version" },
    break: ({ testHub, url }) => testHub.create({ url: `${url}/webhooks/new`, watched: [repo], secret }),
    options: async ({ options }) => {
      const { endpoints } = await options.describe();
      const added = endpoints.map((endpoint) => ({ ...endpoint, name: "new", domains: ["repo"] as const }));
      return { describe: async () => ({ endpoints: [...endpoints, ...added] }) };
    },
  },
  {
    ...{ code: "ENDPOINT_FAILED", name: "a proxy refuses deliveries" },
    options: () => ({ fetch: intercept("POST", "/webhooks/retrain", () => new Response("", { status: 413 })) }),
  },
  { code: "SECRET_NOT_CHECKED", name: "the server has no secret", server: () => ({ secret: false }) },
  {
    ...{ code: "SECRET_REFUSED", name: "another secret is known here" },
    options: () => ({ secret: "another-5ecret" }),
  },
  {
    ...{ code: "WEBHOOK_DUPLICATE", name: "a person created a second webhook" },
    break: ({ testHub, url }) => testHub.create({ url: `${url}/webhooks/retrain`, secret }),
  },
  {
    ...{ code: "WEBHOOK_ORPHANED", name: "an endpoint was removed" },
    break: ({ testHub, url }) => testHub.create({ url: `${url}/webhooks/removed?secret=planted`, secret }),
  },
  {
    ...{ code: "SERVER_TOKEN_INVALID", name: "the server has a wrong token" },
    endpoints: { retrain: { ...retrain, paths: "*.csv" } },
    server: (hubUrl) => ({ hub: { token: "hf_revoked", hubUrl } }),
  },
  {
    ...{ code: "SERVER_TOKEN_INVALID", name: "the token of the server cannot read what an endpoint catches up" },
    endpoints: { retrain: { watch: "dataset:acme/unreadable", background: true, catchUp: true } },
    server: () => ({ inbox: `sqlite:${createFolder()}/inbox.db` }),
  },
  {
    ...{ code: "INBOX_NOT_DURABLE", name: "the inbox is in memory" },
    endpoints: { retrain: { ...retrain, background: true } },
    server: () => ({ inbox: "sqlite::memory:" }),
  },
  {
    ...{ code: "VERSION_OLD", name: "the server was not updated" },
    options: () => ({ version: "0.10.0" }),
  },
  {
    ...{ code: "BUDGET_LOW", name: "a repository is very active" },
    break: async ({ url }) => {
      const body = JSON.stringify(webhookPayload("repo.content", { repo }));
      const headers = { "x-webhook-secret": secret, "content-type": "application/json" };
      for (let count = 0; count < 800; count += 1) {
        await (await fetch(`${url}/webhooks/retrain`, { method: "POST", body, headers })).text();
      }
    },
  },
];

function expectOnly(code: FindingCode, results: readonly CheckResult[]): void {
  expect(codesOf(results)).toEqual([code]);
  const command = results.find(({ status }) => status === "problem")?.command;
  expect(command).toMatch(/^[\w-]+ [^{}]+$/);
  expect(JSON.stringify(results)).not.toMatch(/[Pp]lanted|5ecret/);
}

async function openBroken({ endpoints, server, ...breakage }: Breakage): Promise<World> {
  const isManaged = repaired.some(({ name }) => name === breakage.name);
  const world = await openWorld(endpoints, server, { isManaged });
  await breakage.break?.(world);
  return { ...world, options: { ...world.options, ...(await breakage.options?.(world)) } };
}

describe("The doctor", () => {
  test("finds nothing wrong with a healthy server", async () => {
    const inbox = `sqlite:${createFolder()}/inbox.db`;
    const { options } = await openWorld({ retrain, slow: { ...retrain, background: true } }, () => ({ inbox }));
    const results = await examine(options);
    expect(results.flatMap(({ check, status }) => (status === "ok" ? [] : [check]))).toEqual(["space", "stage"]);
    expect(summarize(results)).toBe("12 passed, 0 fixed, 2 skipped, 0 problems");
  });

  test.each(repaired)("finds $code, and nothing else, if $name, and repairs it", async (breakage) => {
    const { options, testHub } = await openBroken(breakage);
    const before = testHub.writes.length;
    expectOnly(breakage.code, await examine(options));
    expect(testHub.writes).toHaveLength(before);
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) > 0;
    const results = await examine({ ...options, confirm });
    expect([codesOf(results, "fixed"), codesOf(results)]).toEqual([[breakage.code], []]);
    expect(questions).toHaveLength(1);
    expect(codesOf(await examine(options))).toEqual([]);
    expect((await testHub.hub.push(repo)).map(({ status }) => status)).toContain(200);
  });

  test.each(explained)("finds $code, and nothing else, if $name, and changes nothing", async (breakage) => {
    const { options, testHub } = await openBroken(breakage);
    const before = testHub.writes.length;
    expectOnly(breakage.code, await examine({ ...options, confirm: async () => true }));
    expect(testHub.writes).toHaveLength(before);
  });

  test("counts an endpoint that watches nothing yet as a next step, not as a problem", async () => {
    const { options } = await openWorld({ retrain, by_hand: {} });
    const results = await examine(options);
    expect([codesOf(results, "next"), codesOf(results)]).toEqual([["ENDPOINT_UNWATCHED"], []]);
    expect(summarize(results)).toBe("11 passed, 0 fixed, 2 skipped, 1 next step, 0 problems");
  });

  test("repairs nothing that is declined, and shows why a repair failed", async () => {
    const { options, testHub } = await openBroken({ ...repaired[4], code: "WEBHOOK_DISABLED", name: "" });
    expect(codesOf(await examine({ ...options, confirm: async () => false }))).toEqual(["WEBHOOK_DISABLED"]);
    testHub.intercept = async (request, send) =>
      request.url.endsWith("/enable") ? Response.json({ error: "no" }, { status: 403 }) : send(request);
    const results = await examine({ ...options, confirm: async () => true });
    expectOnly("WEBHOOK_DISABLED", results);
    expect(JSON.stringify(results)).toContain("The repair failed: ");
  });

  test("does not change a webhook for a server that refuses its secret", async () => {
    const { options, testHub } = await openBroken({ ...repaired[0], code: "WEBHOOK_MISSING", name: "missing" });
    const unknown = {
      ...options,
      secret: undefined,
      describe: async () => ({ ...(await options.describe()), secret: undefined }),
    };
    for (const target of [{ ...options, secret: "another-5ecret" }, unknown]) {
      const results = await examine({ ...target, confirm: async () => true });
      expect(codesOf(results)).toContain("WEBHOOK_MISSING");
    }
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("skips what needs a check with a problem", async () => {
    const { options } = await openWorld();
    const results = await examine({ ...options, fetch: () => Promise.reject(new TypeError("fetch failed")) });
    expect(results.flatMap(({ check, status }) => (status === "skipped" ? [check] : []))).toEqual([
      ...["space", "stage", "delivery", "version", "serverToken", "inbox", "budget"],
    ]);
  });

  test("shows why a server is not ready, with its console token", async () => {
    const breakage = explained.find(({ code }) => code === "SERVER_NOT_READY");
    const { options } = await openBroken({ ...breakage, code: "SERVER_NOT_READY", name: "" });
    const shown = async (consoleToken: string | undefined) =>
      JSON.stringify(await examine({ ...options, consoleToken }));
    expect(await shown(consoleToken)).toContain("The inbox is not open yet.");
    expect(await shown(undefined)).toContain("GET /ready was answered with 503");
  });

  test("checks a server also if the Hub is down", async () => {
    const { options } = await openWorld();
    const client = new HubClient({ hubUrl: "http://127.0.0.1:1", token: "hf_local", attempts: 1 });
    const results = await examine({ ...options, client });
    expect(results.flatMap(({ check, status }) => (status === "ok" ? [check] : []))).toEqual([
      ...["address", "file", "delivery", "version", "serverToken", "inbox", "budget"],
    ]);
  });

  test("skips the webhooks of a Space that has no address yet", async () => {
    const { options, testHub } = await openWorld();
    const body = JSON.stringify({ name: "new", organization: "local-user", type: "space", sdk: "docker" });
    await (await testHub.client.fetch("/api/repos/create", { method: "POST", body })).text();
    testHub.intercept = async (request, send) =>
      request.url.endsWith("/spaces/local-user/new") ? Response.json({ private: false }) : send(request);
    const results = await examine({ ...options, url: undefined, space: "local-user/new" });
    expect(codesOf(results)).toEqual(["SPACE_STOPPED"]);
    expect(results.filter(({ check }) => check === "webhooks")).toMatchObject([{ status: "skipped" }]);
  });

  test("accepts a server without endpoints", async () => {
    const { options } = await openWorld({});
    expect(codesOf(await examine(options))).toEqual([]);
  });

  test("sends no secret over an unencrypted connection", async () => {
    const { options } = await openWorld();
    const sent: string[] = [];
    const results = await examine({
      ...{ ...options, url: "http://bot.example" },
      async fetch(input, init) {
        const headers = [...new Headers(init?.headers)];
        sent.push(...headers.map(([, value]) => value + Buffer.from(value.replace("Basic ", ""), "base64")));
        return fetch(String(options.url) + new URL(String(input)).pathname, init);
      },
    });
    expect(sent.join("")).not.toMatch(/[Pp]lanted/);
    expect(results.filter(({ check }) => check === "delivery")).toMatchObject([{ status: "skipped" }]);
  });
});

import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { CheckResult } from "../../../src/console/protocol/checks.ts";
import { type EndpointOptions, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { explain } from "../../../src/receiver/checks/checks.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { openTestHub, secret, type TestHub } from "../../registration/test-hub.ts";
import { ConsoleClient } from "../../support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openReceiverConsole } from "./open-receiver-console.ts";

const consoleToken = "Planted-console-t0ken";
const retrain = { watch: "dataset:local-user/data" } as const;

interface World {
  testHub: TestHub;
  url: string;
  isBroken: boolean;
  run: () => Promise<readonly CheckResult[]>;
  read: ConsoleClient["read"];
}

interface Breakage {
  name: string;
  endpoints?: Record<string, EndpointOptions>;
  server?: WebhooksServerOptions;
  token?: string;
  break?: (world: World, webhookId: string) => unknown;
}

/** Launches a server whose webhooks are registered, with what is wrong, and a client of its console. */
async function openWorld({ endpoints = { retrain }, server: options, token = "hf_local", ...rest }: Partial<Breakage>) {
  const testHub = await openTestHub({ suspendAfter: 1 });
  const hub = { hubUrl: testHub.hub.url, token };
  const inbox = `sqlite:${createFolder()}/inbox.db`;
  const server = new WebhooksServer({ secret, consoleToken, hub, inbox, logger: createMemoryLogger(), ...options });
  const world: World = { testHub, url: "", isBroken: false, run: async () => [], read: (path) => client.read(path) };
  for (const [name, declared] of Object.entries(endpoints)) {
    server.webhook(name, declared, () => {
      if (world.isBroken) throw new Error("broken");
    });
  }
  onTestFinished(() => server.close());
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const [{ watch = [], domains = [] } = {}] = server[serverControl].describe().endpoints;
  const { id } = await testHub.create({
    url: `${url}/webhooks/retrain`,
    watched: [...watch],
    domains: [...domains],
    secret,
  });
  const client = new ConsoleClient((path, init) => fetch(`${url}/_console/${path}`, init));
  await client.signIn({ token: consoleToken });
  world.url = url;
  world.run = async () => {
    const response = await client.post("checks", {});
    const results: CheckResult[] = await response.json();
    expect(JSON.stringify(results)).not.toMatch(/Planted|5ecret|hf_local/);
    return results;
  };
  await rest.break?.(world, id);
  return world;
}

const foundIn = (results: readonly CheckResult[]) =>
  results.flatMap(({ code, status }) => (code === undefined ? [] : [`${code} ${status}`]));

const webhooks = ({ testHub }: World) => testHub.client.webhooks;

/** What a server finds about itself, and nothing else. */
const found: readonly (Breakage & { code: string })[] = [
  { code: "WEBHOOK_MISSING", name: "was deleted", break: (world, id) => webhooks(world).delete(id) },
  { code: "WEBHOOK_DISABLED", name: "is disabled", break: (world, id) => webhooks(world).disable(id) },
  {
    code: "WEBHOOK_DIFFERS",
    name: "delivers to another server",
    break: (world, id) => webhooks(world).update(id, { url: "https://old.example/webhooks/retrain" }),
  },
  {
    code: "WEBHOOK_SECRET_DIFFERS",
    name: "has an old secret",
    break: (world, id) => webhooks(world).update(id, { secret: "old-5ecret" }),
  },
  {
    code: "WEBHOOK_SUSPENDED",
    name: "was suspended",
    async break(world) {
      world.isBroken = true;
      await world.testHub.hub.push({ type: "dataset", name: "local-user/data" });
    },
  },
  {
    code: "SERVER_TOKEN_INVALID",
    name: "is for an endpoint that cannot read what it catches up",
    endpoints: { retrain: { watch: "dataset:acme/unreadable", background: true, catchUp: true } },
  },
  {
    code: "SERVER_TOKEN_INVALID",
    name: "is for an endpoint that cannot read the bucket that it catches up",
    endpoints: { retrain: { watch: "bucket:acme/unreadable", background: true, catchUp: true } },
  },
  { code: "SERVER_TOKEN_INVALID", name: "cannot be read with a revoked token", token: "hf_revoked" },
  {
    code: "SECRET_NOT_CHECKED",
    name: "delivers to a server that checks no secret",
    server: { secret: false },
    break: (world, id) => webhooks(world).update(id, { secret: "" }),
  },
  {
    code: "INBOX_NOT_DURABLE",
    name: "delivers to an inbox in memory",
    endpoints: { retrain: { ...retrain, background: true } },
    server: { inbox: "sqlite::memory:" },
  },
];

describe("A server that checks itself", () => {
  test("finds nothing wrong if it is healthy, an endpoint that watches nothing yet, and lists no refused delivery", async () => {
    const { run, read } = await openWorld({ endpoints: { retrain, new: { background: true } } });
    const results = await run();
    expect(results.map(({ check, status }) => `${check} ${status}`)).toEqual([
      ...["address ok", "delivery ok", "serverToken ok", "webhooks next"],
      ...["inbox ok", "budget ok", "version ok"],
    ]);
    expect(results[3]).toMatchObject({ code: "ENDPOINT_UNWATCHED", command: expect.stringContaining("/webhooks/new") });
    expect((await read("endpoints")).refused).toEqual([]);
  });

  test.each(found)("finds $code, and nothing else, if its webhook $name", async ({ code, ...breakage }) => {
    const { run } = await openWorld(breakage);
    const results = await run();
    expect(foundIn(results)).toEqual([`${code} problem`]);
    expect(results.find(({ status }) => status === "problem")?.command).toMatch(/^[\w-]+ [^{}]+$/);
  });

  test("needs neither a token nor a public address, and skips what it cannot find out", async () => {
    for (const name of ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"]) vi.stubEnv(name, "");
    vi.stubEnv("HF_HOME", createFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client } = await openReceiverConsole((server) => server.webhook("retrain", retrain, () => {}));
    const results: CheckResult[] = await (await client.post("checks", {})).json();
    expect(results.map(({ check, status }) => `${check} ${status}`)).toEqual([
      ...["address skipped", "delivery skipped", "serverToken ok", "webhooks skipped"],
      ...["inbox ok", "budget ok", "version ok"],
    ]);
  });

  test("shows a Hub that does not answer as unreachable", async () => {
    const hanging = () => new Promise<Response>(() => {});
    const send: typeof fetch = async (input) => (String(input).includes("whoami") ? hanging() : Response.json([]));
    const hub = { hubUrl: "https://hub.example", token: "hf_any", fetch: send };
    const { client } = await openReceiverConsole(() => {}, { hub });
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let results: CheckResult[] = [];
    void client.change("checks", {}).then(({ body }) => {
      results = body;
    });
    while (results.length === 0) {
      await vi.advanceTimersByTimeAsync(1_000);
      await new Promise(setImmediate);
    }
    expect(foundIn(results)).toEqual(["HUB_UNREACHABLE problem"]);
  });

  test.each([
    ["a sign-in", (client: ConsoleClient) => Object.assign(client, { cookie: "" }), 401],
    ["its CSRF token", (client: ConsoleClient) => Object.assign(client, { csrfToken: "" }), 403],
  ])("refuses a request without %s", async (_what, change, status) => {
    const { client } = await openReceiverConsole(() => {});
    expect((await change(client).post("checks", {})).status).toBe(status);
  });
});

const url = "https://bot.example";

test.each([
  ["SECRET_REFUSED", "on a Space", { space: "me/bot", url }, "npx hub-webhooks deploy rotate-secret me/bot"],
  ["SECRET_REFUSED", "elsewhere", { url }, `env WEBHOOK_SECRET=SECRET npx hub-webhooks doctor --url ${url}`],
  [
    ...(["SECRET_REFUSED", "elsewhere, of a file"] as const),
    { url, file: "my bot.ts" },
    `env WEBHOOK_SECRET=SECRET npx hub-webhooks doctor 'my bot.ts' --url ${url}`,
  ],
  ["TOKEN_INVALID", "on the Hub", {}, "hf auth login --force"],
  ["TOKEN_INVALID", "on a local Hub", { localToken: "hf_local" }, "export HF_TOKEN=hf_local"],
  ["SERVER_TOKEN_INVALID", "elsewhere", { url }, "env HF_TOKEN=TOKEN npm start"],
  ["ENDPOINT_NOT_SERVED", "elsewhere", { url }, "npm start"],
  ["INBOX_NOT_DURABLE", "elsewhere", { url }, "env INBOX_URL=sqlite:.hub-webhooks/inbox.db npm start"],
] as const)("The command of %s fits a server %s", (code, _where, values, command) => {
  expect(explain({ code, values }).command).toBe(command);
});

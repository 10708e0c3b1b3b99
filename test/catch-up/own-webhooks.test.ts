// @module-tag slow

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { StateReader } from "../../src/catch-up/repository-state.ts";
import { HubClient, HubError } from "../../src/client.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { ServerCatchUp } from "../../src/receiver/catch-up.ts";
import { WebhooksServer } from "../../src/receiver/server.ts";
import { freePort } from "../support/free-port.ts";
import { createMemoryLogger, type MemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const secret = "a-secret-of-the-test";
const minute = 60_000;

let hub: LocalHub;
let client: HubClient;
let inbox: string;
let port: number;
let logger: MemoryLogger;
let now: number;
/** The origins of the deliveries that the handler received. */
let received: string[];
/** The requests to the webhooks on the Hub, and the statuses that answer them instead of the Hub. */
let calls: string[];
let refusals: Record<string, number>;

beforeEach(async () => {
  hub = await LocalHub.launch({ suspendAfter: 1, attempts: 1 });
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  inbox = `sqlite:${join(createFolder(), "inbox.db")}`;
  port = await freePort();
  logger = createMemoryLogger();
  now = Date.now();
  [received, calls, refusals] = [[], [], {}];
  const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
  const body = JSON.stringify({ name: "data", type: "dataset" });
  await fetch(`${hub.url}/api/repos/create`, { method: "POST", headers, body });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
});

afterEach(async () => {
  vi.useRealTimers();
  await hub.close();
});

async function launch(every: "1m" | "6h" = "6h", publicUrl?: () => string): Promise<WebhooksServer> {
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const { method, url } = new Request(input, init);
    const [path = ""] = /\/api\/settings\/webhooks.*/.exec(url) ?? [];
    const call = `${method} ${path.replace(/[0-9a-f]{24}/, "{id}")}`;
    if (path !== "") calls.push(call);
    const status = path === "" ? undefined : refusals[call];
    return status === undefined ? fetch(input, init) : new Response("{}", { status });
  };
  // The requests do not pass as fast as the timers.
  const options = { hubUrl: hub.url, token: "hf_local", fetch: send, timeout: "24h" } as const;
  const server = new WebhooksServer({ secret, inbox, logger, now: () => now, hub: options });
  onTestFinished(() => server.close());
  server.webhook(
    "bot",
    { watch: "dataset:local-user/data", scope: "repo.content", background: true, catchUp: { every } },
    async (_payload, { delivery }) => void received.push(delivery.origin),
  );
  await server.launch({ port, handleSignals: false, ...(publicUrl && { publicUrl }) });
  return server;
}

/** Lets timers run, and the clock of the server. */
async function pass(ms: number): Promise<void> {
  now += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

/** Registers the webhook of the endpoint, and returns its ID. */
async function register(path = "/webhooks/bot"): Promise<string> {
  const watched = [{ type: "dataset", name: "local-user/data" }] as const;
  const url = `http://127.0.0.1:${port}${path}`;
  return (await client.webhooks.create({ watched: [...watched], domains: ["repo"], url, secret })).id;
}

let pushes = 0;
async function push(): Promise<void> {
  pushes += 1;
  const commit = { message: "Write", files: { "data.csv": String(pushes) } };
  await client.repo({ type: "dataset", name: "local-user/data" }).commit(commit);
}

const stateOf = async (id: string) => (await client.webhooks.get(id)).disabled;
const comparisons = () => logger.lines.filter(({ msg }) => /^Catch-up (?:found|accepted)/.test(msg)).length;
const untilCompared = (count: number) => waitFor(() => expect(comparisons()).toBe(count));

/** Runs the server once, and lets its webhook fail while it is stopped. */
async function suspend(): Promise<string> {
  const server = await launch();
  await untilCompared(1);
  await server.close();
  logger.lines.splice(0);
  const id = await register();
  await push();
  await waitFor(async () => expect(await stateOf(id)).toBe("suspended-after-failure"));
  calls = [];
  return id;
}

describe("A webhook that the Hub has suspended", () => {
  test("is enabled at the start, and what it missed is delivered once", async () => {
    const id = await suspend();
    await launch();
    await waitFor(() => expect(received).toEqual(["catch-up"]));
    expect(await stateOf(id)).toBe(false);
    await push();
    await waitFor(() => expect(received).toEqual(["catch-up", "webhook"]));
    expect(calls).toEqual(["GET /api/settings/webhooks", "POST /api/settings/webhooks/{id}/enable"]);
  });

  test("stays suspended if it delivers to another server", async () => {
    await suspend();
    await client.webhooks.delete((await client.webhooks.list())[0]?.id ?? "");
    port += 1;
    const other = await register();
    port -= 1;
    await push();
    await waitFor(async () => expect(await stateOf(other)).toBe("suspended-after-failure"));
    await launch();
    await untilCompared(1);
    expect(await stateOf(other)).toBe("suspended-after-failure");
  });

  test("stays disabled if a person disabled it", async () => {
    const id = await suspend();
    await client.webhooks.disable(id);
    await launch();
    await untilCompared(1);
    expect(await stateOf(id)).toBe(true);
  });

  test("is enabled at most every ten minutes if it fails again, and not more often than it is compared", async () => {
    const id = await suspend();
    await launch("1m");
    await untilCompared(1);
    const own = { url: `http://127.0.0.1:${port}/webhooks/bot`, secret };
    await client.webhooks.update(id, { ...own, url: "http://127.0.0.1:1/" });
    await push();
    await waitFor(async () => expect(await stateOf(id)).toBe("suspended-after-failure"));
    await client.webhooks.update(id, own);
    for (const count of [2, 3]) {
      await pass(minute);
      await untilCompared(count);
    }
    expect(await stateOf(id)).toBe("suspended-after-failure");
    now += 10 * minute;
    await pass(minute);
    await waitFor(async () => expect(await stateOf(id)).toBe(false));
  });

  test("is reported once if the token cannot enable it, and the comparison goes on", async () => {
    const id = await suspend();
    refusals = { "POST /api/settings/webhooks/{id}/enable": 403 };
    await launch("1m");
    await waitFor(() => expect(received).toEqual(["catch-up"]));
    await untilCompared(1);
    now += 10 * minute;
    await pass(minute);
    await untilCompared(2);
    const warnings = logger.lines.filter(({ msg }) => msg.includes("could not enable it"));
    expect(warnings).toMatchObject([{ level: "warn", code: "HUB_FORBIDDEN", endpoint: "bot", webhookId: id }]);
    expect(warnings[0]?.msg).toContain(`npx hub-webhooks enable ${id}`);
  });
});

describe("A webhook that could not be enabled because the Hub failed", () => {
  test("is enabled in a later comparison that starts soon, and what it missed is delivered", async () => {
    const id = await suspend();
    refusals = { "POST /api/settings/webhooks/{id}/enable": 400 };
    await launch();
    await waitFor(() => expect(received).toEqual(["catch-up"]));
    await untilCompared(1);
    await pass(10 * minute);
    await untilCompared(2);
    const warnings = logger.lines.filter(({ msg }) => msg.includes("could not enable it"));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]?.msg).toMatch(/tries again in 10 ?m.*To enable the webhook now, run `npx hub-webhooks enable/);
    refusals = {};
    await push();
    await pass(10 * minute);
    await pass(10 * minute);
    await waitFor(async () => expect(await stateOf(id)).toBe(false));
    await waitFor(() => expect(received).toEqual(["catch-up", "catch-up"]));
  });
});

describe("A webhook that is enabled while the server runs", () => {
  test.each([
    ["was disabled", async (id: string) => void (await client.webhooks.enable(id))],
    ["was missing", async () => void (await register())],
  ])("starts a comparison within ten minutes if it %s", async (name, enable) => {
    const id = name === "was disabled" ? await register() : "";
    if (id) await client.webhooks.disable(id);
    await launch();
    await untilCompared(1);
    await pass(10 * minute);
    await untilCompared(2);
    await push();
    await enable(id);
    expect(received).toEqual([]);
    await pass(10 * minute);
    await waitFor(() => expect(received).toEqual(["catch-up"]));
    await untilCompared(3);
    await pass(20 * minute);
    expect(comparisons()).toBe(3);
  });
});

describe("A token that cannot list webhooks", () => {
  test.each([401, 403])("is used for this only once (%i)", async (status) => {
    refusals = { "GET /api/settings/webhooks": status };
    await launch();
    await untilCompared(1);
    await pass(10 * minute);
    await untilCompared(2);
    await pass(20 * minute);
    expect(calls).toEqual(["GET /api/settings/webhooks"]);
    expect(logger.lines.filter(({ msg }) => msg.includes("could not be listed"))).toMatchObject([{ level: "debug" }]);
  });
});

test("The webhooks are listed once in ten minutes between the comparisons", async () => {
  await register();
  await launch();
  await untilCompared(1);
  await pass(10 * minute);
  await untilCompared(2);
  calls = [];
  for (const count of [1, 2, 3]) {
    await pass(11 * minute);
    await waitFor(() => expect(calls).toHaveLength(count));
  }
});

describe("Catch-up", () => {
  test("compares again soon after the Hub has failed for a repository", async () => {
    await register();
    await launch();
    await untilCompared(1);
    const failure = new HubError("Broken", { code: "HUB_FAILED" });
    const reading = vi.spyOn(StateReader.prototype, "refs").mockRejectedValue(failure);
    onTestFinished(() => reading.mockRestore());
    await push();
    await pass(10 * minute);
    await untilCompared(2);
    reading.mockRestore();
    await pass(5 * minute);
    await untilCompared(3);
  });

  test("does not run in a server that is closed while catch-up starts", async () => {
    const { start } = ServerCatchUp.prototype;
    let closing: Promise<void> | undefined;
    const starting = vi.spyOn(ServerCatchUp.prototype, "start").mockImplementation(function (
      this: ServerCatchUp,
      ...given
    ) {
      const started = start.apply(this, given);
      closing = this.close();
      return started;
    });
    onTestFinished(() => starting.mockRestore());
    await register();
    calls = [];
    await launch("1m");
    await closing;
    await pass(5 * minute);
    expect([calls, comparisons()]).toEqual([[], 0]);
  });

  test("goes on when the public URL of the server is not available, and the server can be closed", async () => {
    let isKnown = true;
    const server = await launch("6h", () => {
      if (!isKnown) throw new Error("The tunnel is not open.");
      return `http://127.0.0.1:${port}`;
    });
    await untilCompared(1);
    isKnown = false;
    await pass(11 * minute);
    await expect(server.close()).resolves.toBeUndefined();
  });
});

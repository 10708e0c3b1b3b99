import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, settled, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

const payload = webhookPayload("repo.content");
const token = "0wners-long-token";
const asOwner = { authorization: `Basic ${btoa(`me:${token}`)}` };

function openServer(options: WebhooksServerOptions = { metrics: true }) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger, secret: false, consoleToken: token, ...options });
  onTestFinished(() => server.close());
  const send = (endpoint: string, id?: string) =>
    server.fetch(deliveryRequest({ endpoint, payload, ...(id !== undefined && { id }) }));
  const scrape = async () => {
    const response = await server.request("/metrics", { headers: asOwner });
    expect(response.status).toBe(200);
    return series(await response.text());
  };
  return { server, logger, send, scrape };
}

/** Parses the metrics as Prometheus does: each line is a series with its value, or a comment. */
function series(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, name = line, value] = /^([a-z0-9_]+(?:\{[^{}]*\})?) ([-+.\deNaInf]+)$/.exec(line) ?? [];
      expect(value, line).toBeDefined();
      return [name, Number(value)];
    }),
  );
}

function named(all: ReadonlyMap<string, number>, prefix: string): Record<string, number> {
  return Object.fromEntries([...all].filter(([name]) => name.startsWith(prefix)));
}

describe("GET /metrics", () => {
  test.each([
    ["is 404 by default", {}, undefined, 404],
    ["is 404 if METRICS is 0", {}, "0", 404],
    ["is 404 if the option is false and METRICS is set", { metrics: false }, "1", 404],
    ["is 200 with the option", { metrics: true }, undefined, 200],
    ["is 200 with METRICS", {}, "1", 200],
  ])("%s", async (_how, options, variable, status) => {
    vi.stubEnv("METRICS", variable);
    const { server } = openServer(options);
    expect((await server.request("/metrics", { headers: asOwner })).status).toBe(status);
  });

  test("fails at startup if METRICS is invalid, not at import", async () => {
    vi.stubEnv("METRICS", "perhaps");
    const { server } = openServer({});
    expect((await server.request("/metrics", { headers: asOwner })).status).toBe(404);
    await expect(server.ready()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  test("answers 500 to an unexpected error, whose stack is only logged", async () => {
    const { server, logger } = openServer({ metrics: true });
    const { Registry } = await import("prom-client");
    const metrics = vi.spyOn(Registry.prototype, "metrics").mockRejectedValue(new TypeError("planted"));
    onTestFinished(() => metrics.mockRestore());
    const response = await server.request("/metrics", { headers: asOwner });
    expect([response.status, await response.json()]).toMatchObject([500, { code: "INTERNAL" }]);
    expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([{ err: { message: "planted" } }]);
  });

  test("is only for the owner", async () => {
    const { server, logger } = openServer();
    const stranger = await server.request("/metrics");
    expect([stranger.status, stranger.headers.has("www-authenticate")]).toEqual([401, true]);
    expect(await stranger.text()).not.toContain("hub_webhooks_");
    const guess = { authorization: `Basic ${btoa("me:guess")}` };
    expect((await server.request("/metrics", { headers: guess })).status).toBe(401);
    expect(logger.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { code: "CONSOLE_TOKEN_INVALID", path: "/metrics" },
    ]);
  });

  test("has the format of Prometheus and must not be cached", async () => {
    const { server } = openServer();
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const response = await fetch(`${url}/metrics`, { headers: asOwner });
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const all = series(await response.text());
    expect(all.get("process_start_time_seconds")).toBeGreaterThan(0);
    expect(all.has("nodejs_eventloop_lag_seconds")).toBe(true);
  });

  test("counts deliveries by endpoint and outcome, starting with zeros", async () => {
    const { server, send, scrape } = openServer();
    server.webhook("retrain", () => "done");
    server.webhook("failing", () => {
      throw new Error("no GPU");
    });
    server.webhook("picky", { scope: "discussion" }, () => "done");
    const zero = named(await scrape(), "hub_webhooks_deliveries_total");
    expect(Object.keys(zero)).toHaveLength(9);
    expect(new Set(Object.values(zero))).toEqual(new Set([0]));
    for (const endpoint of ["retrain", "retrain", "failing", "picky", "none"]) await send(endpoint);
    const all = await scrape();
    const counted = Object.entries(named(all, "hub_webhooks_deliveries_total")).filter(([, value]) => value > 0);
    expect(Object.fromEntries(counted)).toEqual({
      'hub_webhooks_deliveries_total{endpoint="retrain",outcome="succeeded"}': 2,
      'hub_webhooks_deliveries_total{endpoint="failing",outcome="failed"}': 1,
      'hub_webhooks_deliveries_total{endpoint="picky",outcome="ignored"}': 1,
    });
    expect(named(all, "hub_webhooks_received_total")).toEqual({
      'hub_webhooks_received_total{endpoint="retrain"}': 2,
      'hub_webhooks_received_total{endpoint="failing"}': 1,
      'hub_webhooks_received_total{endpoint="picky"}': 1,
    });
    const again = await scrape();
    for (const name of ["hub_webhooks_received_total", "hub_webhooks_deliveries_total"]) {
      expect(named(again, name)).toEqual(named(all, name));
    }
  });

  test("counts failed background attempts as retrying, and the last one as dead", async () => {
    const { server, send, scrape } = openServer();
    server.webhook("retrain", { background: true, attempts: 2, backoff: ["1ms"] }, () => {
      throw new Error("no GPU");
    });
    await send("retrain");
    await settled(server);
    expect(named(await scrape(), "hub_webhooks_deliveries_total")).toEqual({
      'hub_webhooks_deliveries_total{endpoint="retrain",outcome="succeeded"}': 0,
      'hub_webhooks_deliveries_total{endpoint="retrain",outcome="ignored"}': 0,
      'hub_webhooks_deliveries_total{endpoint="retrain",outcome="retrying"}': 1,
      'hub_webhooks_deliveries_total{endpoint="retrain",outcome="dead"}': 1,
    });
  });

  test("measures the duration of handlers from the start", async () => {
    const { server, send, scrape } = openServer();
    server.webhook("retrain", () => {
      const begun = performance.now();
      while (performance.now() - begun < 2);
    });
    await server.ready();
    await send("retrain");
    await send("retrain");
    const durations = named(await scrape(), "hub_webhooks_handler_duration_seconds");
    expect(durations['hub_webhooks_handler_duration_seconds_count{endpoint="retrain"}']).toBe(2);
    expect(durations['hub_webhooks_handler_duration_seconds_bucket{le="3600",endpoint="retrain"}']).toBe(2);
    const sum = durations['hub_webhooks_handler_duration_seconds_sum{endpoint="retrain"}'];
    expect(sum).toBeGreaterThanOrEqual(0.004);
    expect(sum).toBeLessThan(60);
  });

  test("counts the deliveries in the open inbox for the endpoints of this server", async () => {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
    const { server, send, scrape } = openServer();
    const work = Promise.withResolvers<void>();
    server.webhook("retrain", { background: true, concurrency: 1 }, () => work.promise);
    server.webhook("inline", () => "done");
    expect(named(await scrape(), "hub_webhooks_inbox")).toEqual({});
    await send("retrain", "a");
    await send("retrain", "b");
    await waitFor(async () => expect(await server.inbox.counts()).toMatchObject({ retrain: { running: 1 } }));
    expect(named(await scrape(), "hub_webhooks_inbox")).toEqual({
      hub_webhooks_inbox_up: 1,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="queued"}': 1,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="running"}': 1,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="succeeded"}': 0,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="ignored"}': 0,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="dead"}': 0,
      'hub_webhooks_inbox_deliveries{endpoint="retrain",status="cancelled"}': 0,
    });
    work.resolve();
  });

  test("reports an unavailable inbox along with the other metrics", async () => {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
    let now = 1_000_000;
    const { server, scrape } = openServer({ metrics: true, now: () => now });
    server.webhook("retrain", { background: true }, () => {});
    await server.ready();
    expect(Object.keys(named(await scrape(), "hub_webhooks_inbox_deliveries"))).toHaveLength(6);
    now += 1_000;
    const { SqliteInbox } = await import("../../../src/inbox/sqlite/sqlite-inbox.ts");
    const counts = vi.spyOn(SqliteInbox.prototype, "counts").mockRejectedValue(new Error("the disk is gone"));
    onTestFinished(() => counts.mockRestore());
    const all = await scrape();
    expect(named(all, "hub_webhooks_inbox")).toEqual({ hub_webhooks_inbox_up: 0 });
    expect(all.get('hub_webhooks_received_total{endpoint="retrain"}')).toBe(0);
  });

  test("has series only for endpoints, so that senders cannot create any", async () => {
    const { server, send, scrape } = openServer();
    server.webhook("retrain", () => "done");
    await server.ready();
    await send("retrain");
    const before = [...(await scrape()).keys()].filter((name) => name.startsWith("hub_webhooks_"));
    for (let number = 0; number < 20; number += 1) {
      await send(`stranger-${number}`);
      await server.receive(
        { ...payload, event: { action: "update", scope: `repo.${number}` } },
        { endpoint: "retrain" },
      );
      await send("retrain", `${number}`);
    }
    const after = [...(await scrape()).keys()].filter((name) => name.startsWith("hub_webhooks_"));
    expect(after).toEqual(before);
  });

  test("is separate for each server in one process", async () => {
    const one = openServer();
    const other = openServer();
    one.server.webhook("one", () => "done");
    other.server.webhook("other", () => "done");
    await one.send("one");
    expect(Object.keys(named(await other.scrape(), "hub_webhooks_received"))).toEqual([
      'hub_webhooks_received_total{endpoint="other"}',
    ]);
    expect(named(await one.scrape(), "hub_webhooks_received")).toEqual({
      'hub_webhooks_received_total{endpoint="one"}': 1,
    });
  });
});

test("The package prom-client is loaded at startup only if metrics are enabled, and is named in errors while it is missing", {
  tags: "slow",
}, async () => {
  const script = `
    import { createRequire, registerHooks } from "node:module";
    import { WebhooksServer } from "./src/index.ts";
    let isInstalled = false;
    registerHooks({
      resolve(name, context, next) {
        if (name !== "prom-client" || isInstalled) return next(name, context);
        throw Object.assign(new Error("Cannot find package 'prom-client'"), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });
    const errors = [];
    const logger = { debug() {}, info() {}, warn() {}, error: ({ code }) => errors.push(code), child: () => logger };
    const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("prom-client"));
    const statusOf = async (server) =>
      (await server.request("/metrics", { headers: ${JSON.stringify(asOwner)} })).status;
    const off = new WebhooksServer({ logger });
    await off.ready();
    const disabled = { isLoaded: isLoaded(), status: await statusOf(off) };
    const server = new WebhooksServer({ logger, metrics: true });
    const { code, message } = await server.ready().catch((error) => error);
    const missing = { code, message, status: await statusOf(server), errors };
    isInstalled = true;
    await server.ready();
    console.log(JSON.stringify({ disabled, missing, installed: { isLoaded: isLoaded(), status: await statusOf(server) } }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL("../../../", import.meta.url)),
    env: { ...process.env, METRICS: "", CONSOLE_TOKEN: token },
  });
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    disabled: { isLoaded: false, status: 404 },
    missing: {
      code: "OPTION_INVALID",
      message: expect.stringContaining("npm install prom-client"),
      status: 503,
      errors: ["OPTION_INVALID"],
    },
    installed: { isLoaded: true, status: 200 },
  });
});

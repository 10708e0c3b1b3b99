import { createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { type LaunchOptions, WebhooksServer } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { listenOnPort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

const local = { port: 0, host: "127.0.0.1" };

/** Creates a server with a background endpoint and an inbox in memory. */
function createBackgroundServer() {
  const logger = createMemoryLogger();
  const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  const server = new WebhooksServer({ secret: "s3cret", inbox, logger });
  server.webhook("retrain", { background: true }, () => {});
  onTestFinished(() => server.close());
  return { server, inbox, logger };
}

/** Returns a port on which another server listens. */
async function takenPort(): Promise<number> {
  const other = createServer();
  onTestFinished(() => void other.close());
  return listenOnPort(other);
}

describe("A launch that fails", () => {
  test("keeps an inbox open that was open before", async () => {
    const { server, inbox } = createBackgroundServer();
    const close = vi.spyOn(inbox, "close");
    await server.ready();
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(close).not.toHaveBeenCalled();
  });

  test("closes the inbox that it has opened", async () => {
    const { server, inbox } = createBackgroundServer();
    const close = vi.spyOn(inbox, "close");
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(close).toHaveBeenCalledOnce();
  });

  test("is the result of a launch before it has closed the inbox, and not of a later one", async () => {
    const { server, inbox } = createBackgroundServer();
    const failed = vi.fn();
    vi.spyOn(inbox, "close").mockImplementationOnce(async () => {
      server.launch(local).catch(failed);
      return { interrupted: 0 };
    });
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await waitFor(() => expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: "PORT_IN_USE" })));
    await expect(server.launch(local)).resolves.toMatchObject({ port: expect.any(Number) });
  });

  test("has its own error if the inbox cannot be closed either, and can be tried again", async () => {
    const { server, inbox } = createBackgroundServer();
    vi.spyOn(inbox, "close").mockRejectedValueOnce(new Error("The disk was removed."));
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await expect(server.launch(local)).resolves.toMatchObject({ port: expect.any(Number) });
  });

  test("removes its process handlers if the process goes on", async () => {
    const { server, inbox } = createBackgroundServer();
    const countListeners = () =>
      ["SIGTERM", "SIGINT", "unhandledRejection"].map((event) => process.listenerCount(event));
    const before = countListeners();
    vi.spyOn(inbox, "startWorker").mockImplementation(() => {
      throw new TypeError("The worker cannot start.");
    });
    await expect(server.launch({ ...local, handleSignals: true })).rejects.toThrow(TypeError);
    expect(countListeners()).toEqual(before);
  });

  test("is logged, and exits the process if the server handles its signals", async () => {
    const exit = vi.spyOn(process, "exit").mockImplementation(() => {
      throw new Error("exited");
    });
    onTestFinished(() => exit.mockRestore());
    const { server, logger } = createBackgroundServer();
    const launched = server.launch({ ...local, port: await takenPort(), handleSignals: true });
    await expect(launched).rejects.toThrow("exited");
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "PORT_IN_USE" }));
  });

  test("rejects in a dev session, which goes on", async () => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    const { server } = createBackgroundServer();
    const launched = server[serverControl].launch({ ...local, port: await takenPort(), handleSignals: true });
    await expect(launched).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(exit).not.toHaveBeenCalled();
  });
});

test("A launch after one of two concurrent closes is not affected by the other close", async () => {
  const { server, inbox } = createBackgroundServer();
  await server.launch(local);
  const closeInbox = inbox.close.bind(inbox);
  const held = Promise.withResolvers<void>();
  const close = vi.spyOn(inbox, "close").mockImplementation(async (graceMs) => {
    const isSecond = close.mock.calls.length === 2;
    const closed = await closeInbox(graceMs);
    if (isSecond) await held.promise;
    return closed;
  });
  const closes = [server.close(), server.close()];
  await closes[0];
  const before = process.listenerCount("SIGTERM");
  const launched = await server.launch({ ...local, handleSignals: true });
  held.resolve();
  await closes[1];
  expect(await server.launch(local)).toMatchObject({ port: launched.port });
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
});

test.each<[string, ("launch" | "close" | "ready")[]]>([
  ["closes", ["close"]],
  ["closes, launches, and closes again", ["close", "launch", "close"]],
  ["closes, gets ready, and closes again", ["close", "ready", "close"]],
])("A launch of a server that %s at the same time listens again, and runs deliveries", async (_what, earlier) => {
  const logger = createMemoryLogger();
  const inbox = `sqlite:${createFolder()}/inbox.db`;
  const server = new WebhooksServer({ secret: false, inbox, logger });
  onTestFinished(() => server.close());
  const ran = vi.fn();
  server.webhook("retrain", { background: true }, () => ran());
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  server.webhook("slow", () => {
    started.resolve();
    return released.promise;
  });
  const payload = webhookPayload("repo.content");
  const first = await server.launch(local);
  const slow = fetch(deliveryRequest({ endpoint: "slow", payload, baseUrl: first.url }));
  await started.promise;
  const others = earlier.map(
    (action): Promise<unknown> => (action === "launch" ? server.launch(local) : server[action]()),
  );
  const launching = server.launch(local);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  released.resolve();
  expect((await slow).status).toBe(200);
  const { url, port } = await launching;
  await Promise.all(others);
  const { status } = await fetch(deliveryRequest({ endpoint: "retrain", payload, baseUrl: url }));
  expect(status).toBe(202);
  await waitFor(() => expect(ran).toHaveBeenCalledOnce(), { interval: 5 });
  expect(port).not.toBe(first.port);
  server.webhook("late", () => {});
  expect(logger.lines).toContainEqual(expect.objectContaining({ endpoint: "late", url: `${url}/webhooks/late` }));
  await server.close();
  await expect(fetch(url)).rejects.toThrow();
});

test("A launch after an inbox could not be closed opens an inbox again", async () => {
  const inbox = `sqlite:${createFolder()}/inbox.db`;
  const server = new WebhooksServer({ secret: false, inbox, logger: createMemoryLogger() });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  await server.launch(local);
  const { close } = SqliteInbox.prototype;
  const closes = vi.spyOn(SqliteInbox.prototype, "close");
  // Otherwise, it is also a spy in the tests that run later.
  onTestFinished(() => closes.mockRestore());
  closes.mockImplementationOnce(async function (this: SqliteInbox, graceMs) {
    await close.call(this, graceMs);
    throw new Error("The disk was removed.");
  });
  await expect(server.close()).rejects.toThrow("The disk was removed.");
  const { url } = await server.launch(local);
  const payload = webhookPayload("repo.content");
  const { status } = await fetch(deliveryRequest({ endpoint: "retrain", payload, baseUrl: url }));
  expect(status).toBe(202);
});

test.each([
  ["An empty WEBHOOK_SECRET", "WEBHOOK_SECRET", "", "/webhooks/none"],
  ["A short CONSOLE_TOKEN", "CONSOLE_TOKEN", "t0ken-with-15-c", "/_console/api/session"],
  ["A short CONSOLE_TOKEN", "CONSOLE_TOKEN", "t0ken-with-15-c", "/metrics"],
])("%s ends ready() with OPTION_INVALID, and its pages answer 503", async (_what, name, value, path) => {
  vi.stubEnv(name, value);
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger, metrics: true });
  server.webhook("none", () => {});
  await expect(server.ready()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  const mounted = new WebhooksServer({ logger, metrics: true });
  mounted.webhook("none", () => {});
  const method = path.startsWith("/webhooks") ? "POST" : "GET";
  const response = await mounted.request(path, { method, headers: { authorization: `Bearer ${value}` } });
  expect([response.status, await response.json()]).toMatchObject([503, { code: "OPTION_INVALID" }]);
  expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "OPTION_INVALID" }));
  if (value) expect(logger.text()).not.toContain(value);
});

test("A server that was launched with a public URL does not trust requests of its machine, unlike the launches before and after", async () => {
  const server = new WebhooksServer({ logger: createMemoryLogger(), secret: false, metrics: true });
  const read = async (options: LaunchOptions) => {
    const { url } = await server.launch({ ...local, ...options });
    const { status } = await fetch(`${url}/metrics`);
    await server.close();
    return status;
  };
  expect([await read({}), await read({ publicUrl: "https://bot.example.com" }), await read({})]).toEqual([
    200, 403, 200,
  ]);
});

const createReceiver = () => new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });

/**
 * Reimplements the conditions under which Bun 1.4 and Deno 2.9 serve a default export. `npm run runtimes` tests the
 * real runtimes.
 */
const isServedByBun = (exported: WebhooksServer) =>
  typeof exported.fetch === "function" && typeof Reflect.get(exported, "stop") !== "function";
const isServedByDeno = (exported: WebhooksServer) => Object.hasOwn(exported, "fetch");

describe("A server as the default export", () => {
  test("is served by the runtime if it is not launched", async () => {
    const server = createReceiver();
    await server.ready();
    expect([isServedByBun(server), isServedByDeno(server)]).toEqual([true, true]);
    await server.close();
  });

  test("loses only its fetch key when launch() is called, even without await, so that the runtime does not serve it", async () => {
    await using server = createReceiver();
    const keys = Object.keys(server);
    const launching = server.launch({ port: 0 });
    expect([isServedByBun(server), isServedByDeno(server)]).toEqual([false, false]);
    await launching;
    expect(Object.keys(server)).toEqual(keys.filter((key) => key !== "fetch"));
    const { fetch } = server;
    expect((await fetch(new Request("http://localhost/health"))).status).toBe(200);
  });

  test("closes when the runtime calls stop()", async () => {
    const server = createReceiver();
    const { url } = await server.launch({ port: 0 });
    await Reflect.apply(Reflect.get(server, "stop"), server, []);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});

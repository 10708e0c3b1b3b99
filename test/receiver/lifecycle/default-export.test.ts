import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const createServer = () => new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });

/**
 * Reimplements the conditions under which Bun 1.4 and Deno 2.9 serve a default export. `npm run runtimes` tests the
 * real runtimes.
 */
const isServedByBun = (exported: WebhooksServer) =>
  typeof exported.fetch === "function" && typeof Reflect.get(exported, "stop") !== "function";
const isServedByDeno = (exported: WebhooksServer) => Object.hasOwn(exported, "fetch");

describe("A server as the default export", () => {
  test("is served by the runtime if it is not launched", async () => {
    const server = createServer();
    await server.ready();
    expect([isServedByBun(server), isServedByDeno(server)]).toEqual([true, true]);
    await server.close();
  });

  test("is not served by the runtime after launch() is called, even without await", async () => {
    await using server = createServer();
    const launching = server.launch({ port: 0 });
    expect([isServedByBun(server), isServedByDeno(server)]).toEqual([false, false]);
    await launching;
    const { fetch } = server;
    expect((await fetch(new Request("http://localhost/health"))).status).toBe(200);
  });

  test("loses only its fetch key when it is launched", async () => {
    await using server = createServer();
    const keys = Object.keys(server);
    await server.launch({ port: 0 });
    expect(Object.keys(server)).toEqual(keys.filter((key) => key !== "fetch"));
  });

  test("closes when the runtime calls stop()", async () => {
    const server = createServer();
    const { url } = await server.launch({ port: 0 });
    await Reflect.apply(Reflect.get(server, "stop"), server, []);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});

import { afterEach, expect, test, vi } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { hostLaunches, launchHost } from "../../src/receiver/launch-host.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

let stopHosting = () => {};
afterEach(() => stopHosting());

const reachedAt = { port: 7860, url: "http://localhost:7860", publicUrl: "https://quiet-owl-12.loca.lt" };

function host() {
  const launched: object[] = [];
  const selfLaunching: object[] = [];
  stopHosting = hostLaunches({
    launched(server) {
      launched.push(server);
      return reachedAt;
    },
    selfLaunching: (server) => void selfLaunching.push(server),
  });
  return { launched, selfLaunching };
}

test("A server that is hosted does not listen when it is launched, and is told what its host says", async () => {
  const { launched } = host();
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  expect(await server.launch({ port: -1, publicUrl: "no address" })).toEqual(reachedAt);
  expect(launched).toEqual([server]);
  expect(logger.lines).toEqual([]);
});

test("A server that is hosted no longer listens", async () => {
  const { launched } = host();
  await using server = new WebhooksServer({ logger: createMemoryLogger() });
  await server.launch();
  stopHosting();
  expect(launchHost()).toBeUndefined();
  const { url } = await server.launch({ port: 0 });
  expect((await fetch(url)).status).toBe(200);
  expect(launched).toEqual([server]);
});

test("The server of webhookEndpoint is told to its host, and does not launch itself at the end of the script", async () => {
  const { launched, selfLaunching } = host();
  const listenersBefore = process.listenerCount("beforeExit");
  vi.resetModules();
  const { webhookEndpoint } = await import("../../src/receiver/webhook-endpoint.ts");
  webhookEndpoint("retrain", () => {});
  expect(process.listenerCount("beforeExit")).toBe(listenersBefore);
  expect(selfLaunching).toMatchObject([{ endpointNames: ["retrain"] }]);
  expect(launched).toEqual([]);
});

test("Something else under the host's name is no host", () => {
  const key = Symbol.for("hub-webhooks.launchHost");
  for (const value of [null, "host", { launched: () => {} }]) {
    Reflect.set(globalThis, key, value);
    expect(launchHost()).toBeUndefined();
  }
  Reflect.deleteProperty(globalThis, key);
});

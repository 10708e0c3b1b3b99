import { afterEach, expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { interceptLaunches, launchInterceptor } from "../../../src/receiver/control.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

let stopIntercepting = () => {};
afterEach(() => stopIntercepting());

const launchResult = { port: 7860, url: "http://localhost:7860", publicUrl: "https://quiet-owl-12.loca.lt" };

function intercept() {
  const launched: object[] = [];
  const shared: object[] = [];
  stopIntercepting = interceptLaunches({
    onLaunch(server) {
      launched.push(server);
      return launchResult;
    },
    onSharedServer: (server) => void shared.push(server),
  });
  return { launched, shared };
}

test("launch() does not listen, and returns the result of the interceptor", async () => {
  const { launched } = intercept();
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  expect(await server.launch({ port: -1, publicUrl: "no address" })).toEqual(launchResult);
  expect(launched).toEqual([server]);
  expect(logger.lines).toEqual([]);
});

test("launch() listens again after the interception ended", async () => {
  const { launched } = intercept();
  await using server = new WebhooksServer({ logger: createMemoryLogger() });
  await server.launch();
  stopIntercepting();
  expect(launchInterceptor()).toBeUndefined();
  const { url } = await server.launch({ port: 0 });
  expect((await fetch(url)).status).toBe(200);
  expect(launched).toEqual([server]);
});

test("webhookEndpoint() passes its shared server to the interceptor and does not launch it at the end of the script", async () => {
  const { launched, shared } = intercept();
  const listenersBefore = process.listenerCount("beforeExit");
  vi.resetModules();
  const { webhookEndpoint } = await import("../../../src/receiver/server.ts");
  webhookEndpoint("retrain", () => {});
  expect(process.listenerCount("beforeExit")).toBe(listenersBefore);
  expect(shared).toMatchObject([{ endpointNames: ["retrain"] }]);
  expect(launched).toEqual([]);
});

test("A value without both methods is not an interceptor", () => {
  const key = Symbol.for("hub-webhooks.launchInterceptor");
  for (const value of [null, "host", { onLaunch: () => {} }]) {
    Reflect.set(globalThis, key, value);
    expect(launchInterceptor()).toBeUndefined();
  }
  Reflect.deleteProperty(globalThis, key);
});

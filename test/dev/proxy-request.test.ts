import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { requestBytes } from "../support/raw-socket.ts";
import {
  deliveryBytes,
  openProxy,
  openProxyTo,
  openRecorded,
  openSocket,
  reachabilityCheck,
  recorder,
  startServer,
} from "./open-proxy.ts";

const headers = { Host: "localhost" };
const delivery = deliveryBytes();

describe("A client that half-closes its connection after the request", () => {
  test("still gets its response, and then the connection closes", async () => {
    const { requests, proxy, publicUrl } = await openRecorded();
    for (const url of [proxy.url, publicUrl]) {
      const socket = await openSocket(url);
      const { status, text } = await socket.send(delivery).finish().answer();
      expect([status, text]).toEqual([200, "recorded"]);
      await socket.ended;
      expect(socket.rest).toBe("");
    }
    expect(requests).toHaveLength(2);
  });

  test("receives 100 Continue as a probe during a slow response", async () => {
    const finish = Promise.withResolvers<void>();
    const requests: IncomingMessage[] = [];
    const { proxy } = await openProxyTo(
      async (incoming, outgoing) => {
        requests.push(incoming);
        await finish.promise;
        outgoing.end(`destroyed: ${incoming.socket.destroyed}`);
      },
      { probeIntervalMs: 10 },
    );
    const socket = (await openSocket(proxy.url)).send(delivery).finish();
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    // The probe is sent before the server responds.
    await expect.poll(() => requests).toHaveLength(1);
    finish.resolve();
    await socket.ended;
    expect(socket.rest.replaceAll("HTTP/1.1 100 Continue\r\n\r\n", "")).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(socket.rest).toContain("destroyed: false");
  });

  test("gets the response of a server that starts later", async () => {
    const { requests, listener } = recorder();
    const { port } = await startServer(listener);
    const asked = Promise.withResolvers<void>();
    const next = Promise.withResolvers<number>();
    const { proxy } = await openProxy({
      serverPort() {
        asked.resolve();
        return next.promise;
      },
      probeIntervalMs: 10,
    });
    const socket = (await openSocket(proxy.url)).send(delivery).finish();
    await asked.promise;
    // The probe is sent after the end of the request has arrived.
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    next.resolve(port);
    await socket.ended;
    expect(socket.rest).toContain("recorded");
    expect(requests.map(({ body }) => body)).toEqual(["{}"]);
  });
});

describe("A client that waits for 100 Continue", () => {
  const secret = "s3cret-of-ours";
  const body = JSON.stringify(webhookPayload("repo.content"));
  const server = new WebhooksServer({ secret, logger: createMemoryLogger() });
  server.webhook("retrain", () => ({ done: true }));
  server.app.post("/ignored", (context) => context.json({ ignored: true }));
  let port: number;
  beforeAll(async () => {
    ({ port } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false }));
  });
  afterAll(() => server.close());

  async function announce(path: string, { given = {}, serverPort = async () => port } = {}) {
    const opened = await openProxy({ serverPort });
    const socket = await openSocket(opened.proxy.url);
    const all = {
      ...headers,
      Expect: "100-continue",
      "Content-Type": "application/json",
      "X-Webhook-Secret": secret,
      "Content-Length": String(Buffer.byteLength(body)),
      ...given,
    };
    return { ...opened, socket: socket.send(requestBytes({ path, headers: all, body: "" })) };
  }

  test("gets 100 Continue once the server reads the body, and its delivery can be replayed", async () => {
    const { proxy, socket, deliveries } = await announce("/webhooks/retrain");
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    expect((await socket.send(body).answer()).text).toBe('{"done":true}');
    expect(deliveries).toMatchObject([{ endpoint: "retrain", status: 200 }]);
    expect(await proxy.replay()).toMatchObject({ status: 200 });
  });

  test("gets 100 Continue even if its Connection header lists Expect", async () => {
    const { socket } = await announce("/webhooks/retrain", { given: { Connection: "Expect" } });
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    expect((await socket.send(body).answer()).text).toBe('{"done":true}');
  });

  test("can send its body without waiting", async () => {
    const { socket } = await announce("/webhooks/retrain");
    await socket.send(body).ended;
    expect(socket.rest).toContain('{"done":true}');
  });

  test.each([
    ["without the secret", "/webhooks/retrain", { "X-Webhook-Secret": undefined }, 401],
    ["with a wrong secret", "/webhooks/retrain", { "X-Webhook-Secret": "wrong" }, 403],
    ["for another host", "/webhooks/retrain", { Host: "evil.example" }, 403],
    ["for an unknown endpoint", "/webhooks/none", {}, 404],
    ["with another media type", "/webhooks/retrain", { "Content-Type": "text/plain" }, 415],
    ["for a route that ignores the body", "/ignored", {}, 200],
  ])("gets its response without 100 Continue %s", async (_what, path, given, status) => {
    const { socket } = await announce(path, { given });
    expect((await socket.answer()).status).toBe(status);
    await socket.ended;
    expect(socket.rest).toBe("");
  });

  test("gets 503 without 100 Continue while there is no server", async () => {
    const { socket } = await announce("/webhooks/retrain", { serverPort: () => Promise.reject(new Error("none")) });
    expect((await socket.answer()).status).toBe(503);
    await socket.ended;
    expect(socket.rest).toBe("");
  });

  test("gets the reachability check without 100 Continue", async () => {
    const { proxy } = await openProxy();
    const socket = await openSocket(proxy.url);
    const given = { ...headers, Expect: "100-continue", "Content-Length": "2" };
    socket.send(requestBytes({ method: "GET", path: reachabilityCheck.path, headers: given, body: "" }));
    expect((await socket.answer()).text).toBe(reachabilityCheck.answer);
  });
});

import { stream } from "hono/streaming";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { answered, openListener, openSocket } from "../receiver/node/open-listener.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const delivery = requestBytes({ path: "/webhooks/retrain", headers, body: "{}" });
const page = requestBytes({ method: "GET", path: "/", headers: { ...headers, "Content-Length": undefined } });

/** Opens a listener whose deliveries and pages finish when the test allows it. */
async function openWaiting({ probeMs = 10 } = {}) {
  const finish = Promise.withResolvers<void>();
  const started = Promise.withResolvers<AbortSignal>();
  const opened = await openListener({
    probeMs,
    fetch: async ({ signal }) => {
      started.resolve(signal);
      await finish.promise;
      return Response.json({ way: "long" });
    },
    deliver: async (request) => {
      await request.readBody(1_000);
      started.resolve(request.signal);
      await finish.promise;
      return answered;
    },
  });
  onTestFinished(() => finish.resolve());
  const socket = await openSocket(opened.url);
  return { ...opened, finish, socket, started };
}

describe.each([
  ["short", delivery, answered.content],
  ["long", page, '{"way":"long"}'],
])("On the %s path, a client", (_way, request, text) => {
  test("that ends its side after the request gets its response, and then the connection closes", async () => {
    const { listener, finish, socket, started } = await openWaiting();
    socket.send(request).finish();
    const signal = await started.promise;
    finish.resolve();
    expect((await socket.answer()).text).toBe(text);
    await socket.ended;
    expect([signal.aborted, socket.rest]).toEqual([false, ""]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("that ends its side and waits for a long time gets 100 Continue before its response", async () => {
    const { finish, socket, started } = await openWaiting();
    socket.send(request).finish();
    const signal = await started.promise;
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    finish.resolve();
    await expect.poll(() => socket.rest).toContain(text);
    expect(socket.rest.replaceAll("HTTP/1.1 100 Continue\r\n\r\n", "")).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(signal.aborted).toBe(false);
  });

  test("that disconnects aborts the request", async () => {
    const { listener, socket, started } = await openWaiting();
    socket.send(request);
    const signal = await started.promise;
    socket.close();
    await expect.poll(() => signal.aborted).toBe(true);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });
});

describe("The probe of a half-closed client", () => {
  afterEach(() => void vi.useRealTimers());

  test("is sent after a second, until the connection has ended", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { socket, started } = await openWaiting({ probeMs: 1_000 });
    const others = vi.getTimerCount();
    socket.send(delivery);
    const signal = await started.promise;
    socket.close();
    await expect.poll(() => vi.getTimerCount()).toBe(others + 1);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    // The first probe causes a reset, and the second probe fails because of it.
    vi.advanceTimersByTime(1_001);
    await expect.poll(() => signal.aborted).toBe(true);
    await expect.poll(() => vi.getTimerCount()).toBe(others);
  });
});

test("A half-closed client that uses HTTP/1.0 receives no 100 Continue, which it would take for the response", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { finish, socket, started } = await openWaiting({ probeMs: 1_000 });
  const others = vi.getTimerCount();
  socket.send(requestBytes({ path: "/webhooks/retrain", version: "HTTP/1.0", headers, body: "{}" })).finish();
  await started.promise;
  await expect.poll(() => vi.getTimerCount()).toBe(others + 1);
  vi.advanceTimersByTime(5_000);
  finish.resolve();
  await socket.ended;
  expect(socket.rest).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("Every pipelined request of a client that has ended its side gets a response", async () => {
  const { url } = await openListener();
  const socket = await openSocket(url);
  socket.send(Buffer.concat([delivery, page, delivery])).finish();
  const answers = [await socket.answer(), await socket.answer(), await socket.answer()];
  // After the page, Node's server reads the connection.
  expect(answers.map((answer) => answer.text)).toEqual([answered.content, '{"way":"long"}', '{"way":"long"}']);
  await socket.ended;
});

test("A connection that ends without a request, or after its answer, is closed", async () => {
  const { listener, url } = await openListener();
  const silent = await openSocket(url);
  silent.finish();
  await silent.ended;
  const done = await openSocket(url);
  await done.send(page).answer();
  done.finish();
  await done.ended;
  await expect.poll(() => listener.connectionCount).toBe(0);
});

describe("A request that waits for 100 Continue", () => {
  const secret = "s3cret";
  const server = new WebhooksServer({ secret, bodyLimit: 10_000, logger: createMemoryLogger() });
  server.webhook("own", () => ({ done: true }));
  server.app.post("/upload", async (context) => context.json({ length: (await context.req.text()).length }));
  server.app.post("/ignored", (context) => context.json({ ignored: true }));
  let startReading = Promise.withResolvers<void>();
  server.app.post("/streamed", (context) => {
    const { body } = context.req.raw;
    return stream(context, async (answer) => {
      await answer.write("started ");
      await startReading.promise;
      if (body) await answer.pipe(body);
    });
  });

  let url: string;
  beforeAll(async () => {
    ({ url } = await server.launch({ port: 0, host: "127.0.0.1" }));
  });
  afterAll(() => server.close());

  const body = JSON.stringify(webhookPayload("repo.content"));

  /** Sends the headers of a request that waits for 100 Continue before its body. */
  async function announce(path: string, headers: Record<string, string | undefined> = {}, method = "POST") {
    const socket = await openSocket(url);
    const all = {
      Host: "receiver.example",
      Expect: "100-continue",
      "Content-Type": "application/json",
      "X-Webhook-Secret": secret,
      "Content-Length": String(Buffer.byteLength(body)),
      ...headers,
    };
    return socket.send(requestBytes({ method, path, headers: all, body: "" }));
  }

  describe.each([
    ["short", ""],
    ["long", "?"],
  ])("On the %s path, a request with Expect: 100-continue", (_way, query) => {
    test("gets 100 Continue if its body is read", async () => {
      const socket = await announce(`/webhooks/own${query}`);
      expect((await socket.answer({ toHead: true })).status).toBe(100);
      expect((await socket.send(body).answer()).text).toBe('{"done":true}');
    });

    test("may send its body without waiting", async () => {
      const socket = await announce(`/webhooks/own${query}`);
      socket.send(body);
      await expect.poll(() => socket.rest).toContain('{"done":true}');
      // If the body has already arrived, the server does not request it.
      expect(socket.rest.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")).toMatch(/^HTTP\/1\.1 200/);
    });

    test.each([
      ["without the secret", "own", { "X-Webhook-Secret": undefined }, "POST", 401],
      ["with a wrong secret", "own", { "X-Webhook-Secret": "wrong" }, "POST", 403],
      ["for no endpoint", "none", {}, "POST", 404],
      ["with another method", "own", {}, "PUT", 405],
      ["with too large a body", "own", { "Content-Length": "10001" }, "POST", 413],
      ["with another media type", "own", { "Content-Type": "text/plain" }, "POST", 415],
      ["that is compressed", "own", { "Content-Encoding": "gzip" }, "POST", 415],
    ])("%s is refused before it sends its body", async (_what, endpoint, headers, method, status) => {
      const socket = await announce(`/webhooks/${endpoint}${query}`, headers, method);
      expect((await socket.answer()).status).toBe(status);
      await socket.ended;
      expect(socket.rest).toBe("");
    });
  });

  describe("A route of your own", () => {
    test("that reads the body sends 100 Continue", async () => {
      const socket = await announce("/upload");
      expect((await socket.answer({ toHead: true })).status).toBe(100);
      expect((await socket.send(body).answer()).text).toBe(JSON.stringify({ length: body.length }));
    });

    test("that does not read it answers immediately", async () => {
      const socket = await announce("/ignored");
      expect((await socket.answer()).text).toBe('{"ignored":true}');
      await socket.ended;
      expect(socket.rest).toBe("");
    });

    test("that has started its response does not send 100 Continue in the middle of it", async () => {
      startReading = Promise.withResolvers();
      const socket = await announce("/streamed", { Connection: "close" });
      expect((await socket.answer({ toHead: true })).status).toBe(200);
      startReading.resolve();
      await socket.send(body).ended;
      expect(socket.rest).toContain("started ");
      expect(socket.rest).toContain(body);
      expect(socket.rest).not.toContain("100 Continue");
    });
  });
});

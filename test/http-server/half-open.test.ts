import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { answered, openListener, openSocket } from "../receiver/node/open-listener.ts";
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
    socket.send(delivery);
    const signal = await started.promise;
    socket.close();
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    // The first probe causes a reset, and the second probe fails because of it.
    vi.advanceTimersByTime(1_001);
    await expect.poll(() => signal.aborted).toBe(true);
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });
});

test("A half-closed client that uses HTTP/1.0 receives no 100 Continue, which it would take for the response", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { finish, socket, started } = await openWaiting({ probeMs: 1_000 });
  socket.send(requestBytes({ path: "/webhooks/retrain", version: "HTTP/1.0", headers, body: "{}" })).finish();
  await started.promise;
  await expect.poll(() => vi.getTimerCount()).toBe(1);
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
  expect(answers.map((answer) => answer.text)).toEqual([answered.content, '{"way":"long"}', answered.content]);
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

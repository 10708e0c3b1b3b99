import type { IncomingMessage } from "node:http";
import { Server, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { requestBytes } from "../support/raw-socket.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const headers = { Host: "receiver.example" };

/** Opens a connection whose first request is refused before its body arrives. Later requests are read. */
async function openRefused(path: string, bodyLength: number) {
  let isFirst = true;
  const refuses = () => {
    const wasFirst = isFirst;
    isFirst = false;
    return wasFirst;
  };
  const { listener, url } = await openListener({
    // These timeouts are too long to end a connection during a test.
    timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 },
    async fetch(request) {
      if (refuses()) return new Response(null, { status: 413, headers: { "content-length": "0" } });
      return new Response(String((await request.text()).length));
    },
    async deliver(request) {
      if (refuses()) return { status: 413, content: null };
      return { status: 200, content: String((await request.readBody(1_000_000)).length) };
    },
  });
  const socket = await openSocket(url);
  const length = String(bodyLength);
  socket.send(requestBytes({ path, headers: { ...headers, "Content-Length": length } }));
  expect((await socket.answer()).status).toBe(413);
  await expect.poll(() => vi.getTimerCount()).toBe(1);
  return { listener, socket };
}

describe.each([
  ["direct", "/webhooks/x"],
  ["routed", "/x"],
])("After a %s request that is refused early, the connection", (_way, path) => {
  test("is kept and read to the end of a body that is still arriving", async () => {
    const { socket } = await openRefused(path, 1_000);
    socket.send("x".repeat(1_000));
    await expect.poll(() => vi.getTimerCount()).toBe(0);
    const body = "y".repeat(600_000);
    expect((await socket.send(requestBytes({ path, headers, body })).answer()).text).toBe("600000");
  });

  test("is closed if more than 256 KiB of a body arrive", async () => {
    const ended = vi.spyOn(Socket.prototype, "end");
    onTestFinished(() => ended.mockRestore());
    const { socket } = await openRefused(path, 10_000_000);
    socket.send("x".repeat(300_000));
    await socket.ended;
    expect(ended.mock.contexts.map((socket) => socket instanceof Socket && socket.isPaused())).toEqual([true]);
  });

  test("is closed half a second later if the body does not arrive", async () => {
    const { listener, socket } = await openRefused(path, 1_000);
    vi.advanceTimersByTime(499);
    expect(listener.connectionCount).toBe(1);
    vi.advanceTimersByTime(1);
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("has no more listeners and no timer after the body has arrived late, or the client has disconnected", async () => {
    const listening = vi.spyOn(Server.prototype, "listen");
    const accepted: Socket[] = [];
    listening.mockImplementationOnce(function (this: Server, ...given: unknown[]) {
      listening.mockRestore();
      this.on("connection", (connection: Socket) => void accepted.push(connection));
      return Reflect.apply(this.listen, this, given);
    });
    const { socket } = await openRefused(path, 10);
    const listeners = () => ["data", "close"].map((event) => accepted[0]?.listenerCount(event));
    const [data = 0, close = 0] = listeners();
    socket.send("x".repeat(10));
    const added = path === "/x" ? 1 : 0;
    await expect.poll(listeners).toEqual([data - added, close - added]);
    await expect.poll(() => vi.getTimerCount()).toBe(0);

    const left = await openRefused(path, 10);
    left.socket.close();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });
});

test("A reader of a body is rejected if the connection closes after the response, before the body arrives", async () => {
  const read = Promise.withResolvers<string>();
  const { url } = await openListener({
    timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 },
    fetch(request) {
      read.resolve(request.text());
      read.promise.catch(() => {});
      return new Response("answered");
    },
  });
  const socket = await openSocket(url);
  socket.send(requestBytes({ path: "/", headers: { ...headers, "Content-Length": "2" }, body: "x" }));
  expect((await socket.answer()).text).toBe("answered");
  await expect.poll(() => vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(500);
  await socket.ended;
  await expect(read.promise).rejects.toThrow();
});

describe("A request whose body stream is cancelled", () => {
  /** Opens a connection whose request is answered after its body stream was cancelled. Later requests are read. */
  async function openCancelled() {
    const { listener, url } = await openListener({
      timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 },
      async fetch(request) {
        if (request.method === "GET") return new Response("next");
        for await (const _chunk of request.body ?? []) break;
        return new Response("stopped");
      },
    });
    const socket = await openSocket(url);
    socket.send(requestBytes({ path: "/", headers: { ...headers, "Content-Length": "200000" }, body: "x" }));
    expect((await socket.answer()).text).toBe("stopped");
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    return { listener, socket };
  }

  test("does not end the process if more of the body is buffered", async () => {
    const uncaught = vi.fn();
    process.on("uncaughtException", uncaught);
    onTestFinished(() => void process.off("uncaughtException", uncaught));
    const { url } = await openListener({
      async fetch(request, bindings) {
        const { incoming }: { incoming: IncomingMessage } = Object(bindings);
        const reader = request.body?.getReader();
        await expect.poll(() => incoming.readableLength).toBeGreaterThan(0);
        // Node resumes the request for the next chunk after the stream was canceled.
        void reader?.read();
        await reader?.cancel();
        return new Response("stopped");
      },
    });
    const socket = await openSocket(url);
    const chunked = { ...headers, "Transfer-Encoding": "chunked" };
    socket.send(requestBytes({ path: "/", headers: chunked, body: "1\r\nx\r\n1\r\ny\r\n1\r\nz\r\n" }));
    expect((await socket.answer()).text).toBe("stopped");
    expect(uncaught).not.toHaveBeenCalled();
  });

  test("keeps its connection if the rest of the body arrives", async () => {
    const { socket } = await openCancelled();
    socket.send("x".repeat(100_000), "x".repeat(99_999));
    const next = requestBytes({ method: "GET", path: "/", headers: { ...headers, "Content-Length": undefined } });
    expect((await socket.send(next).answer()).text).toBe("next");
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });

  test("closes its connection half a second after the response if the body does not arrive", async () => {
    const { listener, socket } = await openCancelled();
    socket.send("x".repeat(100_000));
    vi.advanceTimersByTime(500);
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
  });
});

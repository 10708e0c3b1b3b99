import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, Server } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ListenOptions } from "../../../src/receiver/node/listen.ts";
import type { DeliveryRequest } from "../../../src/receiver/request.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type RawRequest, requestBytes } from "../../support/raw-socket.ts";
import { answered, openListener as open, openSocket } from "./open-listener.ts";

describe("A listener", () => {
  test("leaves no timer after it is closed", async () => {
    const { listener, url } = await open();
    const socket = await openSocket(url);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = listener.close(60_000);
    expect(vi.getTimerCount()).toBe(2);
    socket.close();
    expect(await closed).toBe(true);
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });

  test("logs connections that cannot be accepted, and keeps listening", async () => {
    const listening = vi.spyOn(Server.prototype, "listen");
    const { ask, log } = await open();
    const [server] = listening.mock.contexts;
    listening.mockRestore();
    if (!(server instanceof Server)) throw new Error("A listener listens by a server.");
    const errors = [new Error("accept EMFILE"), new Error("accept ENFILE")];
    for (const error of errors) server.emit("error", error);
    const msg = expect.stringContaining("ulimit -n");
    expect(log.lines).toEqual(errors.map((err) => ({ level: "error", msg, err })));
    expect((await ask({ body: "{}" })).status).toBe(200);
  });
});

describe("The direct path", () => {
  test("is used for requests that look like deliveries of the Hub", async () => {
    const { ask, delivered } = await open();
    expect((await ask({ body: "{}" })).text).toBe(answered.content);
    expect(delivered.map(({ endpointName, method, url }) => [endpointName, method, url])).toEqual([
      ["retrain", "POST", "http://receiver.example/webhooks/retrain"],
    ]);
  });

  test.each<[string, Partial<RawRequest>, ListenOptions["deliver"]?]>([
    ["an unknown endpoint", {}, () => undefined],
    ["another method", { method: "PUT" }],
    ["another path", { path: "/health" }],
    ["a whole address", { path: "http://receiver.example/webhooks/retrain" }],
    ["two media types", { headers: { Host: "receiver.example", "Content-Type": ["application/json", "text/plain"] } }],
    ["an address of IPv6", { headers: { Host: "[::1]" } }],
  ])("is not taken by %s", async (_what, request, deliver) => {
    const { ask, delivered } = await open(deliver && { deliver });
    expect((await ask(request)).text).toBe('{"way":"long"}');
    expect(delivered).toEqual([]);
  });

  test.each(["localhost:99999", "a b"])("is not used with the invalid host %s", async (host) => {
    const { ask, delivered, log } = await open();
    expect((await ask({ headers: { Host: host } })).status).toBe(400);
    expect(delivered).toEqual([]);
    expect(log.lines).toMatchObject([{ level: "warn", status: 400, reason: expect.stringMatching(/./) }]);
  });

  test.each<[string, ListenOptions["deliver"]]>([
    ["fails", () => Promise.reject(new Error("not shown"))],
    ["answers with what HTTP cannot carry", async () => ({ status: 99, content: null })],
  ])("answers 500 also where the receiver %s", async (_what, deliver) => {
    const { ask, log } = await open({ deliver });
    const { status, text } = await ask();
    expect([status, JSON.parse(text)]).toEqual([
      500,
      { code: "INTERNAL", error: expect.stringContaining("the server's log") },
    ]);
    expect(log.lines).toMatchObject([{ level: "error", msg: "The response to a request could not be sent." }]);
  });

  test("answers 500 even if the logger throws", async () => {
    const broken = () => {
      throw new Error("The disk is full.");
    };
    const { ask } = await open({
      deliver: () => Promise.reject(new Error("not shown")),
      log: { ...createMemoryLogger(), error: broken },
    });
    expect((await ask()).status).toBe(500);
  });

  const host = { Host: "receiver.example" };

  /** Closes a listener while a delivery arrives, then sends another request on the same connection. */
  async function closeWith(next: Buffer) {
    const { url, listener, delivered } = await open();
    const socket = await openSocket(url);
    // Hold back the last byte of the first request, so that its connection stays open while the socket closes.
    const first = requestBytes({ path: "/webhooks/retrain", headers: host, body: "{}" });
    socket.send(first.subarray(0, -1));
    await expect.poll(() => delivered.length).toBe(1);
    const closed = listener.close(5_000);
    socket.send(first.subarray(-1), next);
    return { socket, closed, delivered };
  }

  test("answers 503 on open connections while the listener closes", async () => {
    const { socket, closed, delivered } = await closeWith(
      requestBytes({ path: "/webhooks/retrain", headers: host, body: "{}" }),
    );
    expect((await socket.answer()).text).toBe(answered.content);
    const refused = await socket.answer();
    expect([refused.status, refused.headers.get("connection")]).toEqual([503, "close"]);
    expect(await closed).toBe(true);
    expect(delivered.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  test.each([
    ["a browser", "text/html", "text/html; charset=utf-8"],
    ["any other client", "*/*", "application/json"],
  ])("answers %s with 503 in the accepted format while the listener closes", async (_client, accept, type) => {
    const headers = { ...host, Accept: accept };
    const { socket, closed } = await closeWith(requestBytes({ method: "GET", path: "/", headers }));
    await socket.answer();
    const answer = await socket.answer();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, type]);
    expect(answer.text).toContain("CLOSING");
    expect(await closed).toBe(true);
  });
});

describe("A body on the direct path", () => {
  /** Opens a listener that records each body that it has read, or the code of the error. */
  async function openReading() {
    const read: unknown[] = [];
    const { url, log } = await open({
      deliver: async (request) => {
        const reading = read.push("nothing yet") - 1;
        read[reading] = await request.readBody(1_000).catch(({ code }) => code);
        return answered;
      },
    });
    const socket = await openSocket(url);
    return { log, read, socket };
  }

  const headers = { Host: "receiver.example" };
  const bytes = requestBytes({ path: "/webhooks/x", headers, body: '{"Grüße":"🪝"}' });

  test.each([
    ["with its headers", [bytes]],
    ["after its headers", [bytes.subarray(0, -18), bytes.subarray(-18)]],
    ["in two parts, the first with its headers", [bytes.subarray(0, -5), bytes.subarray(-5)]],
    ["empty", [requestBytes({ path: "/webhooks/x", headers })]],
  ])("is read whole that comes %s, and so is the next on that connection", async (how, parts) => {
    const { read, socket } = await openReading();
    const whole = how === "empty" ? "" : '{"Grüße":"🪝"}';
    for (const index of [0, 1]) {
      for (const part of parts) {
        socket.send(part);
        await expect.poll(() => read.length).toBe(index + 1);
      }
      expect((await socket.answer()).status).toBe(200);
      expect(read[index]).toBe(whole);
    }
  });

  test("is complete for each of two requests in one packet", async () => {
    const { read, socket } = await openReading();
    socket.send(Buffer.concat([bytes, requestBytes({ path: "/webhooks/x", headers, body: "second" })]));
    expect([await socket.answer(), await socket.answer()].map(({ status }) => status)).toEqual([200, 200]);
    expect(read).toEqual(['{"Grüße":"🪝"}', "second"]);
  });

  test("is read after the response to the request before it, also of thousands in one packet", async () => {
    const first = Promise.withResolvers<void>();
    const read: string[] = [];
    const { url } = await open({
      deliver: async (request) => {
        const content = await request.readBody(1_000);
        read.push(content);
        await first.promise;
        return { status: 200, content };
      },
    });
    const socket = await openSocket(url);
    const bodies = Array.from({ length: 900 }, (_, index) => String(index));
    socket.send(Buffer.concat(bodies.map((body) => requestBytes({ path: "/webhooks/x", headers, body }))));
    await expect.poll(() => read).toEqual(["0"]);
    first.resolve();
    for (const body of bodies) expect((await socket.answer()).text).toBe(body);
    expect(read).toEqual(bodies);
  });
});

test("A route that ends Node's response during the answer is logged, and the process keeps running", async () => {
  const { log, url } = await open({
    fetch: (_request, bindings) => {
      const { outgoing }: { outgoing: ServerResponse } = Object(bindings);
      const pull = (stream: ReadableStreamDefaultController) => {
        if (outgoing.headersSent) outgoing.end();
        stream.enqueue(new Uint8Array(10));
      };
      return new Response(new ReadableStream({ pull }));
    },
  });
  const socket = await openSocket(url);
  socket.send(requestBytes({ method: "GET", path: "/", headers: { Host: "receiver.example" } }));
  expect(await socket.answer()).toMatchObject({ status: 200 });
  await expect.poll(() => log.lines).toMatchObject([{ level: "error", err: { code: "ERR_STREAM_WRITE_AFTER_END" } }]);
});

test("A listener that closes does not wait for a client that has sent no request", async () => {
  const { listener, url } = await open({
    timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 },
  });
  const socket = await openSocket(url);
  await expect.poll(() => listener.connectionCount).toBe(1);
  expect(await listener.close(60_000)).toBe(true);
  await socket.ended;
});

test("Code that ends Node's response during a delivery is logged, and the process keeps running", async () => {
  const endAtHead = (message: unknown) => {
    const { response }: { response: ServerResponse } = Object(message);
    const { writeHead } = response;
    response.writeHead = (...args: unknown[]) => {
      Reflect.apply(writeHead, response, args);
      return response.end();
    };
  };
  const { log, url } = await open();
  subscribe("http.server.request.start", endAtHead);
  onTestFinished(() => void unsubscribe("http.server.request.start", endAtHead));
  const socket = await openSocket(url);
  socket.send(requestBytes({ path: "/webhooks/x", headers: { Host: "receiver.example" }, body: "{}" }));
  await expect.poll(() => log.lines).toMatchObject([{ level: "error", err: { code: "ERR_STREAM_WRITE_AFTER_END" } }]);
});

test("A listener that closes with requests in progress resolves to false", async () => {
  const started = Promise.withResolvers<void>();
  const { listener, url } = await open({
    deliver: () => {
      started.resolve();
      return new Promise(() => {});
    },
  });
  const socket = await openSocket(url);
  socket.send(requestBytes({ path: "/webhooks/x", headers: { Host: "receiver.example" } }));
  await started.promise;
  expect(await listener.close(10)).toBe(false);
  await socket.ended;
});

test("The signal of a request is aborted even if it is first read after the client has disconnected", async () => {
  const received = Promise.withResolvers<DeliveryRequest>();
  const { listener, url } = await open({
    probeMs: 10,
    deliver: (request) => {
      received.resolve(request);
      return new Promise(() => {});
    },
  });
  const socket = await openSocket(url);
  socket.send(requestBytes({ path: "/webhooks/x", headers: { Host: "receiver.example" } }));
  const request = await received.promise;
  socket.close();
  await expect.poll(() => listener.connectionCount).toBe(0);
  expect(request.signal.aborted).toBe(true);
});

test("A client that keeps sending after an early response gets the response and a FIN, not a reset", async () => {
  const { url } = await open({ deliver: async () => ({ status: 413, content: "{}" }) });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const size = 600_000;
  const head = requestBytes({ path: "/webhooks/x", headers: { Host: "h", "Content-Length": String(size) } });
  socket.write(Buffer.concat([head, Buffer.alloc(size - 1, 0x20)]));
  // The "end" event shows a FIN. A reset would emit an error, which rejects.
  await once(socket, "end");
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("A client that sends nothing after an early response is disconnected soon", async () => {
  // These timeouts are too long to close the connection during the test.
  const timeouts = { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000 };
  const { url } = await open({ timeouts, deliver: async () => ({ status: 413, content: "{}" }) });
  const socket = connect(Number(new URL(url).port), "127.0.0.1").resume();
  socket.write(requestBytes({ path: "/webhooks/x", headers: { Host: "h", "Content-Length": "100" } }));
  await once(socket, "close");
});

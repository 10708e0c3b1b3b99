import { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { chunk, type RawRequest, requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const garbage = "no HTTP at all\r\n\r\n";

/** Opens a listener that answers requests with a body only after `finish` resolves. */
async function openHolding() {
  const finish = Promise.withResolvers<void>();
  const listener = await openListener({
    fetch: async (request) => {
      if (request.method === "GET") return new Response("{}");
      await request.text();
      await finish.promise;
      return new Response("{}");
    },
    deliver: async (request) => {
      await request.readBody(1_000);
      await finish.promise;
      return { status: 200, content: "{}" };
    },
  });
  return { ...listener, finish };
}

describe("Invalid HTTP", () => {
  test("is answered with 400 and logged once, and its connection is closed, even if the client keeps it open", async () => {
    const { listener, log, url } = await openListener();
    const socket = await openSocket(url);
    expect((await socket.send(garbage).answer()).status).toBe(400);
    await expect.poll(() => listener.connectionCount).toBe(0);
    expect(log.lines).toMatchObject([{ level: "warn", status: 400, code: expect.stringMatching(/^HPE_/) }]);
  });

  test.each([
    ["routed", "/x", 1],
    ["direct", "/webhooks/x", 0],
  ])(
    "that keeps arriving during a %s request is answered once, after the response, and adds one listener to it",
    async (_way, path, listeners) => {
      const { ask, log, url, finish } = await openHolding();
      const onceListener = vi.spyOn(ServerResponse.prototype, "once");
      onTestFinished(() => onceListener.mockRestore());
      const socket = await openSocket(url);
      socket.send(requestBytes({ path, headers, body: "{}" }));
      for (let count = 0; count < 3; count += 1) {
        socket.send(garbage);
        // When this request is answered, the garbage has arrived.
        await ask({ method: "GET", path: "/" });
      }
      finish.resolve();
      expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 400]);
      await socket.ended;
      expect(onceListener.mock.calls.filter(([event]) => event === "close")).toHaveLength(listeners);
      expect(log.lines).toMatchObject([{ level: "warn", status: 400 }]);
    },
  );

  test("after a request that closes its connection is neither answered nor logged", async () => {
    const { ask, log, url, finish } = await openHolding();
    const socket = await openSocket(url);
    socket.send(
      requestBytes({ path: "/webhooks/x", headers: { ...headers, Connection: "close" }, body: "{}" }),
      garbage,
    );
    // When this request is answered, the garbage has arrived.
    await ask({ method: "GET", path: "/" });
    finish.resolve();
    expect((await socket.answer()).status).toBe(200);
    await socket.ended;
    expect(log.lines).toEqual([]);
  });

  test("in the body of a pipelined request is answered after the request before it", async () => {
    const { ask, log, url, finish } = await openHolding();
    const socket = await openSocket(url);
    const chunked = { ...headers, "Transfer-Encoding": "chunked" };
    socket.send(
      requestBytes({ path: "/x", headers, body: "{}" }),
      requestBytes({ path: "/x", headers: chunked, body: "no length\r\n" }),
    );
    // When this request is answered, both have arrived.
    await ask({ method: "GET", path: "/" });
    finish.resolve();
    expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 400]);
    await socket.ended;
    expect(log.lines).toMatchObject([{ level: "error", err: { code: "BODY_INCOMPLETE" } }]);
  });

  test("in a body closes the connection if the route has cancelled the body and is still running", async () => {
    const [cancelled, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { listener, url } = await openListener({
      async fetch(request) {
        for await (const _chunk of request.body ?? []) break;
        cancelled.resolve();
        await finish.promise;
        return new Response("late");
      },
    });
    const socket = await openSocket(url);
    socket.send(
      requestBytes({ path: "/", headers: { ...headers, "Transfer-Encoding": "chunked" }, body: "1\r\nx\r\n" }),
    );
    await cancelled.promise;
    socket.send("no length\r\n");
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
    finish.resolve();
  });

  test("in a body that a running route does not read is answered with 400 and logged once", async () => {
    const started = Promise.withResolvers<void>();
    const { listener, log, url } = await openListener({
      fetch: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const socket = await openSocket(url);
    socket.send(requestBytes({ path: "/", headers: { ...headers, "Transfer-Encoding": "chunked" } }));
    await started.promise;
    socket.send("no length\r\n");
    expect((await socket.answer()).status).toBe(400);
    await socket.ended;
    expect(log.lines).toMatchObject([{ level: "warn", status: 400, code: "HPE_INVALID_CHUNK_SIZE" }]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("in a body that arrives after the response is neither answered nor logged", async () => {
    const { log, url } = await openListener({ fetch: () => new Response(null, { status: 413 }) });
    const socket = await openSocket(url);
    socket.send(requestBytes({ path: "/webhooks/x", headers: { ...headers, "Transfer-Encoding": "chunked" } }));
    expect((await socket.answer()).status).toBe(413);
    socket.send("no length\r\n");
    await socket.ended;
    expect([socket.rest, log.lines]).toEqual(["", []]);
  });

  test("in a body closes the connection if the response has started", async () => {
    const { listener, log, url } = await openListener({
      fetch: () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) })),
    });
    const socket = await openSocket(url);
    const chunked = { ...headers, "Transfer-Encoding": "chunked" };
    socket.send(requestBytes({ path: "/", headers: chunked }));
    expect((await socket.answer({ toHead: true })).status).toBe(200);
    socket.send("no length\r\n");
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
    // An error response would become part of the other response's body.
    expect(log.lines).toEqual([]);
  });
});

test("An unknown Expect header is answered with 417, logged, and its connection is closed", async () => {
  const { log, url } = await openListener();
  const socket = await openSocket(url);
  socket.send(requestBytes({ path: "/webhooks/x", headers: { ...headers, Expect: "200-ok" } }));
  expect((await socket.answer()).status).toBe(417);
  await socket.ended;
  expect(log.lines).toMatchObject([{ level: "warn", status: 417 }]);
});

const host = { Host: "receiver.example" };
const chunked = { "Transfer-Encoding": "chunked" };
const chunksIn10 = "Transfer-Encoding in HTTP/1.0";
const coded = (coding: string | string[]) => ({ headers: { ...host, "Transfer-Encoding": coding }, body: chunk("") });

describe.each([
  ["short", "/webhooks/retrain"],
  ["long", "/elsewhere"],
])("On the %s path, a request", (_way, path) => {
  test.each<[string, Partial<RawRequest>, string]>([
    ["of HTTP/2.0", { version: "HTTP/2.0" }, "Unsupported HTTP version"],
    ["of HTTP/0.9", { version: "HTTP/0.9" }, "Unsupported HTTP version"],
    ["with two hosts", { headers: { Host: ["receiver.example", "other.example"] } }, "Multiple Host headers"],
    ["with the same host twice", { headers: { Host: ["a.example", "a.example"] } }, "Multiple Host headers"],
    ["with chunks inside gzip", coded("gzip, chunked"), "Unsupported Transfer-Encoding"],
    ["with chunks inside gzip, in two headers", coded(["gzip", "chunked"]), "Unsupported Transfer-Encoding"],
    ["of HTTP/1.0 with chunks", { version: "HTTP/1.0", headers: { ...host, ...chunked }, body: chunk("") }, chunksIn10],
  ])("%s is answered 400, and the connection is closed", async (_what, request, reason) => {
    const { url, delivered, log } = await openListener();
    const socket = await openSocket(url);
    const answer = await socket.send(requestBytes({ path, ...request })).answer();
    expect([answer.status, answer.headers.get("connection"), answer.text]).toEqual([400, "close", ""]);
    expect(log.lines).toEqual([{ level: "warn", msg: "malformed HTTP request refused", status: 400, reason }]);
    expect(delivered).toEqual([]);
    await socket.ended;
  });

  test.each(["chunked", "Chunked"])("with Transfer-Encoding: %s is accepted", async (coding) => {
    const { ask } = await openListener();
    expect((await ask({ path, headers: { ...host, "Transfer-Encoding": coding }, body: chunk("") })).status).toBe(200);
  });
});

test.each(["127.0.0.1.0.1", "1.2.3.256"])("A request with the invalid host %s is answered 400", async (host) => {
  const fetch = vi.fn((request: Request) => new Response(request.url));
  const { ask, delivered, log } = await openListener({ fetch });
  for (const path of ["/elsewhere", "/webhooks/retrain"]) {
    const answer = await ask({ path, headers: { Host: host } });
    expect([answer.status, answer.headers.get("connection")]).toEqual([400, "close"]);
  }
  const refused = { level: "warn", msg: "malformed HTTP request refused", status: 400, reason: "Invalid host header" };
  expect([log.lines, delivered, fetch.mock.calls]).toEqual([[refused, refused], [], []]);
});

test.each([
  "http://user@receiver.example/webhooks/retrain",
  "http://user:@x/",
  "http://:word@x/",
  "https://user:word@x/",
])("A request to %s is answered 400, and the connection is closed", async (path) => {
  const fetch = vi.fn((request: Request) => new Response(new Request(request).url));
  const { ask, log } = await openListener({ fetch });
  const answer = await ask({ path, headers: host });
  expect([answer.status, answer.headers.get("connection")]).toEqual([400, "close"]);
  expect(log.lines).toMatchObject([{ level: "warn", status: 400, reason: "Credentials in the URL" }]);
  expect(fetch).not.toHaveBeenCalled();
});

test("A request to an absolute URL with an @ in its path is accepted", async () => {
  const { ask } = await openListener();
  expect((await ask({ path: "http://receiver.example/a@b?c@d", headers: host })).status).toBe(200);
});

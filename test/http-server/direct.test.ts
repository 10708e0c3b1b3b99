import { once } from "node:events";
import { Server } from "node:http";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Answer } from "../../src/http/answer.ts";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { type RawAnswer, type RawSocket, requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const delivery = requestBytes({ path: "/webhooks/x", headers, body: "{}" });
const page = requestBytes({ method: "GET", path: "/", headers: { ...headers, "Content-Length": undefined } });

/** Opens a connection whose unsent bytes can be counted. */
async function openSender(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Returns what a server has read of a request. */
const describeRequest = (url: string, given: Headers, body: string) =>
  JSON.stringify({ url, headers: [...given].filter(([name]) => name !== "connection"), body });

/** Opens a listener that answers with what it has read: directly, or with Node's server. */
function openEcho({ isDirect }: { isDirect: boolean }) {
  return openListener({
    fetch: async (request) => {
      const bytes = await request.arrayBuffer();
      try {
        const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        return new Response(describeRequest(request.url, request.headers, body), { status: 202 });
      } catch {
        return new Response(null, { status: 400 });
      }
    },
    deliver: (request) => {
      if (!isDirect) return undefined;
      const { url, headers } = request;
      return request.readBody(100_000).then(
        (body) => ({ status: 202, content: describeRequest(url, headers, body) }),
        ({ status = 500 }) => ({ status, content: null }),
      );
    },
  });
}

describe("A request that is read directly", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constant("x".repeat(50_000)));
  const value = fc.oneof(
    fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
    fc.constantFrom("", " padded\t", "a:b", "\x7f", "\xe9", "a\rb", "a\nX-Planted: b", "a\r\n folded", "\0"),
  );
  const name = fc.constantFrom(
    ...["Accept", "x-a", "X-A", "X-B", "Webhook-Id", "Content-Type", "Connection", "Keep-Alive", "Expect", "Upgrade"],
    ...["Transfer-Encoding", "Content-Length", "Host", "x a", "x-\xe9", "", " x", "Proxy-Connection", "__proto__"],
  );
  const lines = fc.array(fc.tuple(name, value), { maxLength: 2 });
  const plainStart = "POST /webhooks/x HTTP/1.1\r\n";
  const otherStarts = [
    ...["POST /webhooks/x?q HTTP/1.1\r\n", "POST /webhooks/x  HTTP/1.1\r\n", "POST /webhooks/x HTTP/1.1\n"],
    ...["PUT /webhooks/x HTTP/1.1\r\n", "POST /webhooks/x HTTP/1.0\r\n", "POST /webhooks/../x HTTP/1.1\r\n"],
    ...["POST http://a/webhooks/x HTTP/1.1\r\n", "POST /webhooks/%78 HTTP/1.1\r\n", "POST /webhooks/x\r\n", "\r\n"],
    ...["GET /x HTTP/1.1\r\n", "POST /webhooks/.x HTTP/1.1\r\n", "PINGPING\r\n"],
  ];
  const otherLengths = ["0", "+2", "2 ", "0002", "0x2", "1e1", "-1", "", "none"];
  const request = fc.record({
    start: fc.oneof(fc.constant(plainStart), fc.constantFrom(...otherStarts)),
    before: lines,
    after: lines,
    body: text,
    length: fc.oneof(fc.constant("right"), fc.constantFrom(...otherLengths)),
    cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 3 }),
    /** Whether a delivery precedes the request in the same packet. */
    isSecond: fc.boolean(),
    /** Whether the client ends its side after the request, without another delivery. */
    isLast: fc.boolean(),
  });
  type Generated = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

  const plain = {
    ...{ start: plainStart, before: [], after: [], body: "{}", length: "right" },
    cuts: [],
    isSecond: false,
    isLast: false,
  };
  /** Headers with which a request must be left to Node's server. */
  const headersOfNode: [string, string][] = [
    ["Transfer-Encoding", "chunked"],
    ["Transfer-Encoding", "identity"],
    ["Content-Length", "2"],
    ["Host", "other.example"],
    ["Connection", "close"],
    ["Proxy-Connection", "close"],
    ["Expect", "100-continue"],
    ["Expect", "other"],
    ["Upgrade", "h2c"],
    ["X-Twice", "a\r\nX-Twice: b"],
    ["X-Control", "\x7f"],
    ["X-Text", "\xe9"],
  ];
  const examples: Generated[] = [
    ...headersOfNode.map((line) => ({ ...plain, before: [line] })),
    ...otherStarts.map((start) => ({ ...plain, start })),
    ...otherLengths.map((length) => ({ ...plain, length })),
    ...["GET /x HTTP/1.1\r\n", "GET / HT", "POST /webh", plainStart].map((start) => ({
      ...{ ...plain, start },
      ...{ isSecond: true, isLast: true },
    })),
    { ...plain, length: "5", isSecond: true, isLast: true },
  ];

  function bytesOf({ start, before, after, body, length }: Generated): Buffer {
    const bytes = Buffer.from(body);
    const given = length === "right" ? String(bytes.length) : length;
    const all = [
      ...before,
      ["Host", "receiver.example"],
      ...(given === "none" ? [] : [["Content-Length", given]]),
      ...after,
    ];
    const head = `${start}${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
  }

  /** Sends a request in pieces. Returns the responses, until the connection ends. */
  async function ask(url: string, generated: Generated) {
    const bytes = Buffer.concat([...(generated.isSecond ? [delivery] : []), bytesOf(generated)]);
    const socket = await openSocket(url);
    const ends = [...new Set(generated.cuts)].filter((cut) => cut < bytes.length).sort((left, right) => left - right);
    for (const [index, end] of [...ends, bytes.length].entries()) {
      socket.send(bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
      if (!generated.isLast) await wait(1);
    }
    const answers: RawAnswer[] = [];
    if (!generated.isLast) socket.send(delivery);
    socket.finish();
    await socket.ended;
    for (;;) {
      const answer = await socket.answer().catch(() => undefined);
      if (!answer) break;
      if (answer.status >= 200) answers.push(answer);
    }
    socket.close();
    return answers.map(({ status, text }) => (status === 202 ? `202 ${text}` : status));
  }

  test("is understood like by Node's server, whatever its bytes are and however they are split", async () => {
    const [direct, routed] = [await openEcho({ isDirect: true }), await openEcho({ isDirect: false })];
    await fc.assert(
      fc.asyncProperty(request, async (generated) => {
        const [answers, expected] = await Promise.all([ask(direct.url, generated), ask(routed.url, generated)]);
        expect(answers).toEqual(expected);
      }),
      { numRuns: examples.length + 150, examples: examples.map((example): [Generated] => [example]) },
    );
  });

  test("is read directly also if its head and body arrive in pieces", async () => {
    const { delivered, url } = await openListener();
    const socket = await openSocket(url);
    for (const at of [1, 20, delivery.length - 4, delivery.length - 1]) {
      socket.send(delivery.subarray(0, at));
      await wait(5);
      expect((await socket.send(delivery.subarray(at)).answer()).text).toBe('{"way":"short"}');
    }
    expect(delivered).toHaveLength(4);
  });

  test("does not read a body without a reader", async () => {
    const finish = Promise.withResolvers<Answer>();
    const { url } = await openListener({ deliver: () => finish.promise });
    const socket = await openSender(url);
    const size = 24 * 1024 * 1024;
    socket.write(requestBytes({ path: "/webhooks/x", headers: { ...headers, "Content-Length": String(size) } }));
    socket.write(Buffer.alloc(size));
    await wait(100);
    expect(socket.writableLength).toBeGreaterThan(0);
    finish.resolve({ status: 200, content: null });
  });
});

describe("The timeouts of a connection without Node's server", () => {
  const timeouts = { headersMs: 4_000, requestMs: 6_000, keepAliveMs: 5_000 };
  const head = delivery.subarray(0, 30);

  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  /** Sends bytes, and waits until the server has read them. */
  async function send(socket: RawSocket, bytes: Uint8Array) {
    socket.send(bytes);
    await wait(10);
  }

  test.each([
    ["before its first request", Buffer.alloc(0)],
    ["within the head of a request", head],
  ])("answer 408 to a client that stops %s", async (_when, bytes) => {
    const { listener, log, url } = await openListener({ timeouts });
    const socket = await openSocket(url);
    await send(socket, bytes);
    vi.advanceTimersByTime(3_000);
    expect(log.lines).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect((await socket.answer()).status).toBe(408);
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
    expect(log.lines).toMatchObject([{ level: "warn", status: 408, code: "ERR_HTTP_REQUEST_TIMEOUT" }]);
  });

  test("answer 408 to a client that stops within the head of a later request", async () => {
    const { url } = await openListener({ timeouts: { ...timeouts, keepAliveMs: 60_000 } });
    const socket = await openSocket(url);
    expect((await socket.send(delivery).answer()).status).toBe(200);
    vi.advanceTimersByTime(5_000);
    await send(socket, head);
    vi.advanceTimersByTime(2_000);
    expect((await socket.send(delivery.subarray(30)).answer()).status).toBe(200);
    await send(socket, head);
    vi.advanceTimersByTime(5_000);
    expect((await socket.answer()).status).toBe(408);
    await socket.ended;
  });

  test("include the head in the time for a request", async () => {
    const { delivered, url } = await openListener({ timeouts });
    const socket = await openSocket(url);
    await send(socket, head);
    vi.advanceTimersByTime(3_000);
    socket.send(delivery.subarray(30, -1));
    await expect.poll(() => delivered.length).toBe(1);
    vi.advanceTimersByTime(4_000);
    expect((await socket.answer()).status).toBe(500);
  });

  test("end the reading of a body, whose answer closes the connection", async () => {
    const codes: unknown[] = [];
    const { listener, url } = await openListener({
      timeouts,
      deliver: (request) =>
        request.readBody(1_000).then(
          (content) => ({ status: 200, content }),
          ({ code, status }) => {
            codes.push(code);
            return { status, content: "late" };
          },
        ),
    });
    const socket = await openSocket(url);
    await send(socket, delivery.subarray(0, -1));
    vi.advanceTimersByTime(7_000);
    const answer = await socket.answer();
    expect([answer.status, answer.headers.get("connection"), answer.text]).toEqual([408, "close", "late"]);
    socket.send("}");
    await socket.ended;
    expect(codes).toEqual(["BODY_INCOMPLETE"]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("close a connection that is idle after a response, but not one that waits for its response", async () => {
    const finish = Promise.withResolvers<void>();
    const { listener, url } = await openListener({
      timeouts,
      deliver: async (request) => {
        await request.readBody(1_000);
        await finish.promise;
        return { status: 200, content: "{}" };
      },
    });
    const socket = await openSocket(url);
    await send(socket, delivery);
    vi.advanceTimersByTime(60_000);
    expect(listener.connectionCount).toBe(1);
    finish.resolve();
    expect((await socket.answer()).headers.get("keep-alive")).toBe("timeout=5, max=1000");
    vi.advanceTimersByTime(5_000);
    await wait(10);
    expect(socket.isEnded).toBe(false);
    // Like Node's server, a second later than announced.
    vi.advanceTimersByTime(2_000);
    await socket.ended;
  });

  test.each([5_000, 0])(
    "leave a connection open while its client reads a response: keep-alive of %i ms",
    async (keepAliveMs) => {
      const content = "x".repeat(12 * 1024 * 1024);
      const { url } = await openListener({
        timeouts: { ...timeouts, keepAliveMs },
        deliver: async () => ({ status: 200, content }),
      });
      const socket = (await openSocket(url)).pause();
      await send(socket, delivery);
      vi.advanceTimersByTime(60_000);
      await wait(10);
      expect((await socket.resume().answer()).text).toHaveLength(content.length);
      if (keepAliveMs === 0) vi.advanceTimersByTime(60_000);
      await wait(10);
      expect(socket.isEnded).toBe(false);
    },
  );

  test("are not checked after the listener has closed", async () => {
    const before = vi.getTimerCount();
    const { listener } = await openListener({ timeouts });
    expect(vi.getTimerCount()).toBe(before + 1);
    await listener.close(1_000);
    expect(vi.getTimerCount()).toBe(before);
  });
});

test.each([
  ["garbage that starts like POST", "PINGPING\r\n", 400],
  ["a line that ends without a carriage return", "POST /webhooks/x HTTP/1.1\nHost: a\n", 400],
  ["a head that is too long", `POST /webhooks/x HTTP/1.1\r\nX-Long: ${"x".repeat(20_000)}`, 431],
])("A client that sends %s is answered immediately", async (_what, text, status) => {
  const { url } = await openListener();
  expect((await (await openSocket(url)).send(text).answer()).status).toBe(status);
});

test.each([
  ["a delivery", delivery, '{"way":"short"}'],
  ["a page", page, '{"way":"long"}'],
])(
  "A client that ends its side while it waits is answered, and then %s in the same packet",
  async (_what, next, text) => {
    const finish = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const { url } = await openListener({
      deliver: async (request) => {
        await request.readBody(1_000);
        started.resolve();
        await finish.promise;
        return { status: 200, content: '{"way":"short"}' };
      },
    });
    const socket = await openSocket(url);
    socket.send(Buffer.concat([delivery, next])).finish();
    await started.promise;
    await wait(20);
    finish.resolve();
    const [first, second] = [await socket.answer(), await socket.answer()];
    expect([first.headers.get("connection"), second.text]).toEqual(["keep-alive", text]);
    await socket.ended;
  },
);

test("A client that ends its side before it reads its responses gets all of them", async () => {
  const { url } = await openListener({
    deliver: async () => ({ status: 200, content: "x".repeat(8 * 1024 * 1024) }),
  });
  const socket = (await openSocket(url)).pause();
  socket.send(Buffer.concat([delivery, delivery])).finish();
  await wait(50);
  socket.resume();
  expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 200]);
  await socket.ended;
});

test("A Response on a direct connection is framed by its body, and can close the connection", async () => {
  const { url } = await openListener({
    deliver: async () =>
      new Response("hello", {
        headers: { "transfer-encoding": "chunked", connection: "close", date: "Mon, 01 Jan 2024 00:00:00 GMT" },
      }),
  });
  const socket = await openSocket(url);
  const { headers, text } = await socket.send(delivery).answer();
  expect([text, headers.get("content-length"), headers.get("transfer-encoding")]).toEqual(["hello", "5", null]);
  expect([headers.get("connection"), headers.get("date")]).toEqual(["close", "Mon, 01 Jan 2024 00:00:00 GMT"]);
  await socket.ended;
});

test.each(["a\u0001", "\u010d\u010aX-Planted: 1"])(
  "A header with a character that is not valid is not sent",
  async (value) => {
    const { log, url } = await openListener({
      deliver: async () => ({ status: 200, content: "{}", extraHeaders: { "x-a": value } }),
    });
    const { status, headers } = await (await openSocket(url)).send(delivery).answer();
    expect([status, headers.get("x-planted")]).toEqual([500, null]);
    expect(log.lines).toMatchObject([{ level: "error" }]);
  },
);

test("A body that is read after an early answer is incomplete", async () => {
  const codes: unknown[] = [];
  const { url } = await openListener({
    deliver: async (request) => {
      setTimeout(() => {
        for (const reading of [request.readBody(1_000), request.readBody(1_000)])
          reading.catch(({ code }) => codes.push(code));
      }, 10);
      return { status: 413, content: null };
    },
  });
  const socket = await openSocket(url);
  expect((await socket.send(delivery.subarray(0, -1)).answer()).status).toBe(413);
  await expect.poll(() => codes).toEqual(["BODY_INCOMPLETE", "BODY_INCOMPLETE"]);
});

test("A client that sends more during a slow delivery is not read", async () => {
  const finish = Promise.withResolvers<Answer>();
  const { url } = await openListener({ deliver: () => finish.promise });
  const socket = await openSender(url);
  socket.write(delivery);
  await wait(20);
  socket.write(Buffer.alloc(24 * 1024 * 1024));
  await wait(100);
  expect(socket.writableLength).toBeGreaterThan(0);
  finish.resolve({ status: 200, content: null });
});

test("A client that ends its side within a head is answered 400", async () => {
  const { log, url } = await openListener();
  const socket = await openSocket(url);
  socket.send(delivery.subarray(0, 30)).finish();
  expect((await socket.answer()).status).toBe(400);
  await socket.ended;
  expect(log.lines).toMatchObject([{ level: "warn", status: 400, code: "HPE_INVALID_EOF_STATE" }]);
});

test("A client that ends its side within a body is answered, and its connection closes", async () => {
  const { listener, url } = await openListener({
    deliver: (request) =>
      request.readBody(1_000).then(
        () => ({ status: 200, content: null }),
        ({ status }) => ({ status, content: null }),
      ),
  });
  const socket = await openSocket(url);
  socket.send(delivery.subarray(0, -1)).finish();
  expect((await socket.answer()).status).toBe(400);
  await socket.ended;
  await expect.poll(() => listener.connectionCount).toBe(0);
});

test("The signal of a request that was answered early is not aborted if the client disconnects", async () => {
  const received = Promise.withResolvers<AbortSignal>();
  const { listener, url } = await openListener({
    deliver: async (request) => {
      received.resolve(request.signal);
      return { status: 413, content: null };
    },
  });
  const socket = await openSocket(url);
  expect((await socket.send(delivery.subarray(0, -1)).answer()).status).toBe(413);
  socket.close();
  await expect.poll(() => listener.connectionCount).toBe(0);
  expect((await received.promise).aborted).toBe(false);
});

test("The requests of a connection are counted before and after Node's server reads it", async () => {
  const { url } = await openListener({ limits: { maxRequestsPerSocket: 4 } });
  const socket = await openSocket(url);
  const connections: unknown[] = [];
  for (const request of [delivery, delivery, page, page]) {
    connections.push((await socket.send(request).answer()).headers.get("connection"));
  }
  expect(connections).toEqual(["keep-alive", "keep-alive", "keep-alive", "close"]);
  await socket.ended;
});

test("A client that does not read its responses has no more requests read", async () => {
  let count = 0;
  const { listener, log, url } = await openListener({
    limits: { maxRequestsPerSocket: Number.POSITIVE_INFINITY, writeTimeoutMs: 100 },
    deliver: async () => {
      count += 1;
      return { status: 200, content: "x".repeat(1024 * 1024) };
    },
  });
  const socket = (await openSocket(url)).pause();
  socket.send(Buffer.concat(new Array(200).fill(delivery)));
  await expect.poll(() => listener.connectionCount).toBe(0);
  expect(count).toBeLessThan(100);
  expect(log.lines).toMatchObject([{ msg: "connection closed: the client does not read the response" }]);
});

describe("A tracing library that observes Node's requests", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("by replacing a method of Node's server, observes deliveries too", async () => {
    const observed: unknown[] = [];
    const { emit } = Server.prototype;
    vi.spyOn(Server.prototype, "emit").mockImplementation(function (this: Server, ...given: Parameters<typeof emit>) {
      observed.push(given[0]);
      return Reflect.apply(emit, this, given);
    });
    const { ask } = await openListener();
    expect((await ask({ body: "{}" })).text).toBe('{"way":"long"}');
    expect(observed).toContain("request");
  });
});

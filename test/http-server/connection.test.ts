import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Connections } from "../../src/http-server/exchange.ts";
import { defaultLimits, limitConnections } from "../../src/http-server/server.ts";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { type RawSocket, requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const page = requestBytes({ method: "GET", path: "/", headers: { ...headers, "Content-Length": undefined } });

describe("Open connections", () => {
  test("are counted until they end", async () => {
    const { listener, url } = await openListener();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(url)));
    await expect.poll(() => listener.connectionCount).toBe(20);
    for (const [index, socket] of sockets.entries()) {
      if (index % 2 === 0) await socket.send(page).answer();
      socket.close();
    }
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  /** A delivery whose head and body are complete, and the parts of an incomplete one. */
  const delivery = requestBytes({ path: "/webhooks/x", headers, body: "{}" });
  const halfHead = delivery.subarray(0, 30);
  const whole = delivery.subarray(30);
  const withoutBody = delivery.subarray(30, -1);

  /** A client's connection in the model: `idle` includes an incomplete head, `sending` an incomplete body. */
  interface Modeled {
    socket: RawSocket;
    state: "idle" | "sending" | "waiting";
    isHeadStarted: boolean;
    answer: PromiseWithResolvers<void>;
  }

  /** Opens a listener with `maxConnections` whose deliveries wait until the test answers them. */
  async function openLimited(maxConnections: number) {
    const started: { isReading: () => void; hasRead: () => void; answer: Promise<void> }[] = [];
    const answerAfter = async (read: () => Promise<string>) => {
      const expected = started.shift();
      expected?.isReading();
      await read().catch(() => {});
      expected?.hasRead();
      await expected?.answer;
    };
    const { log, url } = await openListener({
      limits: { maxConnections },
      timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 },
      // After an incomplete head, Node's server reads the connection.
      async fetch(request) {
        await answerAfter(() => request.text());
        return new Response("{}");
      },
      async deliver(request) {
        await answerAfter(() => request.readBody(1_000));
        return { status: 200, content: "{}" };
      },
    });
    return { log, url, started };
  }

  test("at the limit are closed as in a model: the oldest idle one, or of those with incomplete requests, if they are more", async () => {
    const step = fc.record({
      on: fc.nat(),
      doing: fc.constantFrom("open", "open", "head", "body", "body", "request", "answer"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { minLength: 20, maxLength: 50, size: "max" }),
        async (limit, todo) => {
          const { log, url, started } = await openLimited(limit);
          const open: Modeled[] = [];
          const send = async (modeled: Modeled, bytes: Uint8Array, event: "isReading" | "hasRead") => {
            const happened = Promise.withResolvers<void>();
            const ignored = () => {};
            const isReading = event === "isReading" ? happened.resolve : ignored;
            started.push({ isReading, hasRead: happened.resolve, answer: modeled.answer.promise });
            modeled.socket.send(bytes);
            await happened.promise;
          };
          for (const { on, doing } of todo) {
            const modeled = open[on % open.length];
            if (doing === "open") {
              const socket = await openSocket(url);
              const [idle, sending] = (["idle", "sending"] as const).map((state) =>
                open.filter((one) => one.state === state),
              );
              const [closed] = (idle?.length ?? 0) < (sending?.length ?? 0) ? (sending ?? []) : (idle ?? []);
              const added: Modeled = { socket, state: "idle", isHeadStarted: false, answer: Promise.withResolvers() };
              if (open.length < limit) open.push(added);
              else if (!closed) await socket.ended;
              else {
                await closed.socket.ended;
                closed.answer.resolve();
                open.splice(open.indexOf(closed), 1);
                open.push(added);
              }
            } else if (modeled?.state === "idle" && doing !== "answer") {
              if (!modeled.isHeadStarted) modeled.socket.send(halfHead);
              modeled.isHeadStarted = true;
              if (doing === "head") continue;
              await send(modeled, doing === "body" ? withoutBody : whole, doing === "body" ? "isReading" : "hasRead");
              modeled.state = doing === "body" ? "sending" : "waiting";
            } else if (modeled?.state === "waiting" && doing === "answer") {
              modeled.answer.resolve();
              expect((await modeled.socket.answer()).status).toBe(200);
              Object.assign(modeled, { state: "idle", isHeadStarted: false, answer: Promise.withResolvers() });
            }
            expect(open.map(({ socket }) => socket.isEnded)).toEqual(open.map(() => false));
          }
          // Each warning is logged at most once a minute.
          expect(log.lines.filter(({ maxConnections }) => maxConnections === limit).length).toBeLessThanOrEqual(2);
          for (const { answer, socket } of open) {
            answer.resolve();
            socket.close();
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  test("at the limit are each closed for one new connection, also if several arrive before a `close` event", () => {
    const server = createServer();
    const connections: Connections = new Map();
    limitConnections(server, { connections, limits: { ...defaultLimits, maxConnections: 2 }, warn() {} });
    const sockets = Array.from({ length: 6 }, () => new Duplex());
    for (const socket of sockets) server.emit("connection", socket);
    expect([...connections.keys()]).toEqual(sockets.slice(-2));
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, false, false]);
  });

  test("above the limit are reported once a minute: idle ones that are closed, and new ones that are refused", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { log, started, url } = await openLimited(1);
    const lines: unknown[] = [];
    const expectLogged = (...messages: readonly string[]) => {
      lines.push(...messages.map((msg) => ({ level: "warn", msg, maxConnections: 1 })));
      expect(log.lines).toEqual(lines);
    };
    const [first, second] = [await openSocket(url), await openSocket(url)];
    await first.ended;
    expectLogged("Connections without a whole request closed: the limit maxConnections is reached.");
    const [isRunning, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onTestFinished(() => finish.resolve());
    started.push({ isReading() {}, hasRead: isRunning.resolve, answer: finish.promise });
    second.send(delivery);
    await isRunning.promise;
    const expectRefused = async () => (await openSocket(url)).ended;
    await expectRefused();
    const refused = "Connections refused: the limit maxConnections is reached.";
    expectLogged(refused);
    vi.advanceTimersByTime(59_999);
    await expectRefused();
    expectLogged();
    vi.advanceTimersByTime(1);
    await expectRefused();
    expectLogged(refused);
  });

  test.each([
    ["the keep-alive timeout is 0", page, 0],
    ["the keep-alive timeout is 0, after a direct delivery", delivery, 0],
    ["it is longer than the write timeout, after a direct delivery", delivery, 10_000],
  ])("stay open while they are idle if %s", async (_when, request, keepAliveMs) => {
    const { url } = await openListener({
      limits: { writeTimeoutMs: 20 },
      timeouts: { headersMs: 15_000, requestMs: 30_000, keepAliveMs },
    });
    const socket = await openSocket(url);
    await socket.send(request).answer();
    // The write timeout passes several times.
    await wait(100);
    expect((await socket.send(request).answer()).status).toBe(200);
  });
});

describe("Requests on one connection", () => {
  /** The timeout is too long to close idle connections during the test. */
  const timeouts = { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 60_000 };

  test("are limited by maxRequestsPerSocket: the connection closes after the last response", async () => {
    const { url } = await openListener({ limits: { maxRequestsPerSocket: 2 }, timeouts });
    const socket = await openSocket(url);
    const answers = [await socket.send(page).answer(), await socket.send(page).answer()];
    expect(answers.map(({ status, headers }) => [status, headers.get("connection")])).toEqual([
      [200, "keep-alive"],
      [200, "close"],
    ]);
    await socket.ended;
  });

  test("are limited by maxRequestsPerSocket if they are pipelined", async () => {
    const { delivered, url } = await openListener({ limits: { maxRequestsPerSocket: 2 }, timeouts });
    const socket = await openSocket(url);
    const request = requestBytes({ path: "/webhooks/x", headers, body: "{}" });
    socket.send(Buffer.concat(new Array(4).fill(request)));
    expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 200]);
    await socket.ended;
    expect(delivered).toHaveLength(2);
  });

  test("have no limit with Infinity, also if they are pipelined", async () => {
    const { url } = await openListener({ limits: { maxRequestsPerSocket: Number.POSITIVE_INFINITY } });
    const socket = await openSocket(url);
    for (let round = 0; round < 5; round += 1) {
      socket.send(Buffer.concat(new Array(10).fill(page)));
      for (let count = 0; count < 10; count += 1) expect((await socket.answer()).status).toBe(200);
    }
  });

  test("are closed after the responses before a pipelined response that breaks off", async () => {
    // Hono's adapter prints the error of the stream.
    vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const first = Promise.withResolvers<Response>();
    const broken = Promise.withResolvers<void>();
    const { listener, url } = await openListener({
      fetch: (request, bindings) => {
        if (request.url.endsWith("/first")) return first.promise;
        const { outgoing }: { outgoing: ServerResponse } = Object(bindings);
        outgoing.once("close", broken.resolve);
        const pull = (stream: ReadableStreamDefaultController) => {
          if (outgoing.headersSent) stream.error(new Error("The stream failed."));
          else stream.enqueue(new Uint8Array(10));
        };
        return new Response(new ReadableStream({ pull }));
      },
    });
    const socket = await openSocket(url);
    socket.send(requestBytes({ method: "GET", path: "/first", headers }), page);
    await broken.promise;
    first.resolve(new Response("first"));
    expect((await socket.answer()).text).toBe("first");
    await socket.ended;
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("close it and are not read if too many wait for their responses", async () => {
    const wait = vi.fn(() => new Promise<never>(() => {}));
    const { listener, log, url } = await openListener({ fetch: wait });
    const socket = await openSocket(url);
    socket.send(Buffer.concat(new Array(2_000).fill(page)));
    await socket.ended;
    expect(socket.rest).toBe("");
    expect(wait.mock.calls.length).toBeLessThan(50);
    expect(log.lines).toEqual([{ level: "warn", msg: "connection closed", reason: "Too many pipelined requests" }]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });
});

describe("An answer", () => {
  const large = "x".repeat(8 * 1024 * 1024);

  /** Opens a client that requests a large response and does not read it. */
  async function openUnread(url: string) {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).pause();
    await once(socket, "connect");
    socket.write(page);
    return socket;
  }

  test("that is not read before the timeout closes its connection", async () => {
    const { listener, log, url } = await openListener({
      fetch: () => new Response(large),
      limits: { writeTimeoutMs: 100 },
    });
    await openUnread(url);
    await expect
      .poll(() => log.lines)
      .toEqual([{ level: "warn", msg: "connection closed: the client does not read the response", timeoutMs: 100 }]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("whose connection the route has ended closes the connection after the timeout", async () => {
    const { listener, url } = await openListener({
      fetch(_request, bindings) {
        const { incoming }: { incoming: IncomingMessage } = Object(bindings);
        incoming.socket.end();
        return new Response("never sent");
      },
      limits: { writeTimeoutMs: 50 },
    });
    (await openSocket(url)).send(page);
    await expect.poll(() => listener.connectionCount).toBe(1);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("may take longer than the write timeout", async () => {
    const made = Promise.withResolvers<Response>();
    const { listener, url } = await openListener({ fetch: () => made.promise, limits: { writeTimeoutMs: 20 } });
    const socket = await openSocket(url);
    const noticed = await openListener({
      limits: { writeTimeoutMs: 20 },
      timeouts: { headersMs: 60, requestMs: 60, keepAliveMs: 9_000 },
    });
    socket.send(page);
    // An incomplete request to another listener has a longer timeout.
    await (await openSocket(noticed.url)).send(page.subarray(0, 10)).ended;
    made.resolve(new Response("made"));
    expect((await socket.answer()).text).toBe("made");
    expect(listener.connectionCount).toBe(1);
  });
});

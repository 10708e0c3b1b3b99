import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { defaultLimits, limitConnections } from "../../src/http-server/connection.ts";
import { openListener } from "../receiver/node/open-listener.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const page = requestBytes({ method: "GET", path: "/", headers: { ...headers, "Content-Length": undefined } });

async function openSocket(url: string): Promise<RawSocket> {
  const socket = await RawSocket.open(url);
  onTestFinished(() => socket.close());
  return socket;
}

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

  test("are limited by maxConnections: additional ones are closed, and reported once", async () => {
    const { listener, log, url } = await openListener({ limits: { maxConnections: 2 } });
    const open = [await openSocket(url), await openSocket(url)];
    await expect.poll(() => listener.connectionCount).toBe(2);
    const refused = [await openSocket(url), await openSocket(url)];
    await Promise.all(refused.map(({ ended }) => ended));
    expect(log.lines).toEqual([
      { level: "warn", msg: "Connections refused: the limit maxConnections is reached.", maxConnections: 2 },
    ]);
    expect((await open[0]?.send(page).answer())?.status).toBe(200);
    open[1]?.close();
    await expect.poll(() => listener.connectionCount).toBe(1);
    expect((await (await openSocket(url)).send(page).answer()).status).toBe(200);
  });

  test("that are refused are reported at most once a minute", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = createServer();
    const warn = vi.fn();
    limitConnections(server, { connections: new Map(), limits: defaultLimits, warn });
    server.emit("drop");
    vi.advanceTimersByTime(59_999);
    server.emit("drop");
    expect(warn).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    server.emit("drop");
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test("stay open while they are idle if the keep-alive timeout is 0", async () => {
    const { url } = await openListener({
      limits: { writeTimeoutMs: 20 },
      timeouts: { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 0 },
    });
    const socket = await openSocket(url);
    await socket.send(page).answer();
    // The write timeout passes several times.
    await wait(100);
    expect((await socket.send(page).answer()).status).toBe(200);
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

  test("have no limit with Infinity", async () => {
    const { url } = await openListener({ limits: { maxRequestsPerSocket: Number.POSITIVE_INFINITY } });
    const socket = await openSocket(url);
    for (let count = 0; count < 20; count += 1) expect((await socket.send(page).answer()).status).toBe(200);
  });

  test("may be pipelined, and are all answered", async () => {
    const { url } = await openListener();
    const socket = await openSocket(url);
    for (let round = 0; round < 5; round += 1) {
      socket.send(Buffer.concat(new Array(10).fill(page)));
      for (let count = 0; count < 10; count += 1) expect((await socket.answer()).status).toBe(200);
    }
  });

  test.each([
    ["the long way", { fetch: () => new Promise<Response>(() => {}) }, page],
    [
      "the short way",
      { deliver: () => new Promise<never>(() => {}) },
      requestBytes({ path: "/webhooks/x", headers, body: "{}" }),
    ],
  ])("end it where too many wait for their answers: %s", async (_way, options, request) => {
    const { listener, log, url } = await openListener(options);
    const socket = await openSocket(url);
    socket.send(Buffer.concat(new Array(2_000).fill(request)));
    await socket.ended;
    expect(socket.rest).toBe("");
    expect(log.lines).toEqual([{ level: "warn", msg: "connection closed", reason: "Too many pipelined requests" }]);
    await expect.poll(() => listener.connectionCount).toBe(0);
  });

  test("are no longer read if too many wait for their responses", async () => {
    let asked = 0;
    const { url } = await openListener({
      fetch: () => {
        asked += 1;
        return new Promise(() => {});
      },
    });
    const socket = await openSocket(url);
    socket.send(Buffer.concat(new Array(2_000).fill(page)));
    await socket.ended;
    expect(asked).toBeLessThan(50);
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

  test("may take longer than the write timeout", async () => {
    const made = Promise.withResolvers<Response>();
    const { listener, url } = await openListener({ fetch: () => made.promise, limits: { writeTimeoutMs: 20 } });
    const socket = await openSocket(url);
    const noticed = await openListener({
      limits: { writeTimeoutMs: 20 },
      timeouts: { headersMs: 9_000, requestMs: 9_000, keepAliveMs: 60 },
    });
    socket.send(page);
    // An idle connection of another listener has a longer timeout.
    const idle = await openSocket(noticed.url);
    await idle.send(page).answer();
    await idle.ended;
    made.resolve(new Response("made"));
    expect((await socket.answer()).text).toBe("made");
    expect(listener.connectionCount).toBe(1);
  });
});

import { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { requestBytes } from "../support/raw-socket.ts";

const headers = { Host: "receiver.example" };
const garbage = "no HTTP at all\r\n\r\n";

/** Opens a listener that answers deliveries only after `finish` resolves. */
async function openHolding() {
  const finish = Promise.withResolvers<void>();
  const listener = await openListener({
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

  test("that keeps arriving during a request is answered once, after the response, and adds one listener to it", async () => {
    const { ask, log, url, finish } = await openHolding();
    const onceListener = vi.spyOn(ServerResponse.prototype, "once");
    onTestFinished(() => onceListener.mockRestore());
    const socket = await openSocket(url);
    socket.send(requestBytes({ path: "/webhooks/x", headers, body: "{}" }));
    for (let count = 0; count < 3; count += 1) {
      socket.send(garbage);
      // When this request is answered, the garbage has arrived.
      await ask({ method: "GET", path: "/" });
    }
    finish.resolve();
    expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 400]);
    await socket.ended;
    expect(onceListener.mock.calls.filter(([event]) => event === "close")).toHaveLength(1);
    expect(log.lines).toMatchObject([{ level: "warn", status: 400 }]);
  });

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
      requestBytes({ path: "/webhooks/x", headers, body: "{}" }),
      requestBytes({ path: "/webhooks/x", headers: chunked, body: "no length\r\n" }),
    );
    // When this request is answered, both have arrived.
    await ask({ method: "GET", path: "/" });
    finish.resolve();
    expect([(await socket.answer()).status, (await socket.answer()).status]).toEqual([200, 400]);
    await socket.ended;
    expect(log.lines).toMatchObject([{ err: { code: "BODY_INCOMPLETE" } }]);
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
    const { log, url } = await openListener({ deliver: async () => ({ status: 413, content: null }) });
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

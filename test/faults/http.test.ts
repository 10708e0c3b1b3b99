import { describe, expect, onTestFinished, test } from "vitest";
import { openLocalHub } from "../local-hub/support/hub.ts";
import { chunk, RawSocket, requestBytes } from "../support/raw-socket.ts";
import { createDevProcess } from "./faulty-process.ts";
import { openReceiver, type Receiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("http");

const broken = { msg: "malformed HTTP request refused" };
const brokenParse = { ...broken, status: 400, code: /^HPE_/ };
const brokenBody = { code: "BODY_INCOMPLETE", status: 400 };

/** The start of a TLS connection: a handshake record with a ClientHello. */
const clientHello = Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, ...new Array(64).fill(0xa5)]);

describe("Bytes that are not HTTP", () => {
  test.each([
    { what: "garbage", bytes: `\0\x01\x02 ${secret}\r\n\r\n` },
    { what: "text of another protocol", bytes: `EHLO ${secret}\r\n` },
    { what: "a TLS ClientHello", bytes: clientHello },
    { what: "the preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
    { what: "a request line cut short", bytes: "POST\r\n\r\n" },
    { what: "a header name with a space", bytes: `POST / HTTP/1.1\r\nX Webhook Secret: ${secret}\r\n\r\n` },
    { what: "a NUL in a header", bytes: `POST / HTTP/1.1\r\nX-Webhook-Secret: ${secret}\0\r\n\r\n` },
    { what: "a method that does not exist", bytes: "DELIVER /webhooks/target HTTP/1.1\r\n\r\n" },
  ])("H1: $what is answered 400", async ({ bytes }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.send(bytes), { status: 400, logged: brokenParse });
  });

  test.each([
    { what: "no host", changes: { headers: { Host: undefined } } },
    { what: "a host with a space", changes: { headers: { Host: "a b" } } },
    { what: "a host with a path", changes: { headers: { Host: "a/../b" } } },
    { what: "a star for a path", changes: { path: "*" } },
    { what: "a path with a backslash", changes: { path: "/webhooks\\target" } },
    { what: "a path that is no path", changes: { path: "webhooks/target" } },
    { what: "an absolute path without a host", changes: { path: "http:///" } },
  ])("H1: $what is answered 400", async ({ changes }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post(changes), { status: 400, logged: { ...broken, status: 400 } });
  });

  test("H1: headers above the limit are answered 431", async () => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ headers: { "X-Long": "x".repeat(20_000) } }), {
      status: 431,
      logged: { ...broken, status: 431 },
    });
  });
});

describe("A body with an ambiguous length", () => {
  test.each([
    {
      what: "Content-Length with Transfer-Encoding",
      headers: { "Content-Length": "3", "Transfer-Encoding": "chunked" },
    },
    {
      what: "Transfer-Encoding with Content-Length",
      headers: { "Transfer-Encoding": "chunked", "Content-Length": "3" },
    },
    { what: "two lengths that differ", headers: { "Content-Length": ["3", "4"] } },
    { what: "the same length twice", headers: { "Content-Length": ["3", "3"] } },
    { what: "a list of lengths", headers: { "Content-Length": "3, 3" } },
    { what: "a negative length", headers: { "Content-Length": "-3" } },
    { what: "a length with a sign", headers: { "Content-Length": "+3" } },
    { what: "a length in hexadecimal", headers: { "Content-Length": "0x10" } },
    { what: "a length beyond all numbers", headers: { "Content-Length": "9".repeat(30) } },
    { what: "an empty length", headers: { "Content-Length": "" } },
    { what: "chunks inside another encoding", headers: { "Transfer-Encoding": "chunked, identity" } },
  ])("H2: $what is answered 400", async ({ headers }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ headers }), { status: 400, logged: { level: "warn", status: 400 } });
  });

  test.each([
    { what: "no size", chunks: "zz\r\n" },
    { what: "a negative size", chunks: "-3\r\nabc\r\n" },
    { what: "a size beyond all numbers", chunks: `${"f".repeat(20)}\r\n` },
    { what: "more data than its size", chunks: "3\r\nabcdef\r\n0\r\n\r\n" },
  ])("H2: a chunk with $what is answered 400", async ({ chunks }) => {
    const receiver = await openReceiver();
    const headers = { "Transfer-Encoding": "chunked" };
    await receiver.survives(() => receiver.post({ headers, body: chunks }), { status: 400, logged: brokenBody });
  });

  test("H2: an invalid chunk after a valid one is answered 400", async () => {
    const receiver = await openReceiver();
    await receiver.survives(
      async () => {
        const socket = await openBody(receiver, { "Transfer-Encoding": "chunked" });
        return socket.send(chunk('{"event":'), "zz\r\n").answer();
      },
      { status: 400, logged: brokenBody },
    );
  });
});

describe("An incomplete body", () => {
  test.each([
    { what: "a short body", headers: { "Content-Length": "2000" }, part: '{"event":' },
    { what: "no body at all", headers: { "Content-Length": "2000" }, part: "" },
    { what: "a valid payload with more announced", headers: { "Content-Length": "2000" }, part: undefined },
    { what: "chunks without a last one", headers: { "Transfer-Encoding": "chunked" }, part: chunk('{"event":') },
    { what: "half a chunk", headers: { "Transfer-Encoding": "chunked" }, part: "40\r\n{" },
  ])("H3: $what, then FIN, is answered 400 and not handled", async ({ headers, part }) => {
    const receiver = await openReceiver();
    await receiver.survives(
      async () => {
        const socket = await receiver.connect();
        return socket
          .send(receiver.delivery({ headers, ...(part !== undefined && { body: part }) }))
          .finish()
          .answer();
      },
      { status: 400, logged: brokenBody },
    );
  });

  test("H3: half a header, then FIN, is answered 400", async () => {
    const receiver = await openReceiver();
    await receiver.survives(
      async () => (await receiver.connect()).send(receiver.delivery().subarray(0, 60)).finish().answer(),
      { status: 400, logged: brokenParse },
    );
  });

  test.each([
    { what: "a short body", headers: { "Content-Length": "2000" }, body: '{"event":' },
    { what: "no body at all", headers: { "Content-Length": "2000" }, body: "" },
    { what: "chunks without a last one", headers: { "Transfer-Encoding": "chunked" }, body: chunk('{"event":') },
  ])("H4: $what, then silence, is answered 408", async ({ headers, body }) => {
    const receiver = await openReceiver({ timeouts: { headers: 150, request: 150 } });
    await receiver.survives(() => receiver.post({ headers, body }), {
      status: 408,
      logged: { code: "BODY_INCOMPLETE", status: 408 },
    });
  });

  test("H5: a reset in the body does not run the handler", async () => {
    const receiver = await openReceiver();
    await receiver.survives(
      async () => {
        const socket = await openBody(receiver, { "Content-Length": "2000" });
        socket.send('{"event":').reset();
        return undefined;
      },
      { logged: brokenBody },
    );
  });
});

describe("A slow client", () => {
  const timeouts = { headers: 150, request: 300, keepAlive: 100 };

  test("H6: headers that stop are answered 408", async () => {
    const receiver = await openReceiver({ timeouts });
    await receiver.survives(() => receiver.send(receiver.delivery().subarray(0, 90)), {
      status: 408,
      logged: { ...broken, status: 408 },
    });
  });

  test("H6: headers sent byte by byte are answered 408", async () => {
    const receiver = await openReceiver({ timeouts });
    await receiver.survives(async () => drip(await receiver.connect(), receiver.delivery()), {
      status: 408,
      logged: { ...broken, status: 408 },
    });
  });

  test("H6: a body sent byte by byte is answered 408", async () => {
    const receiver = await openReceiver({ timeouts });
    const body = Buffer.from(JSON.stringify({ event: "slow".repeat(500) }));
    await receiver.survives(
      async () => drip(await openBody(receiver, { "Content-Length": String(body.length) }), body),
      { status: 408, logged: { code: "BODY_INCOMPLETE", status: 408 } },
    );
  });

  test("H6: a connection without a request is answered 408", async () => {
    const receiver = await openReceiver({ timeouts });
    await receiver.survives(() => receiver.send(), { status: 408, logged: { ...broken, status: 408 } });
  });

  test("H6: a connection that is idle after its answer is closed silently", async () => {
    const receiver = await openReceiver({ timeouts });
    const socket = await receiver.connect();
    await receiver.survives(() => socket.send(receiver.delivery()).answer(), {
      status: 200,
      logged: { msg: "delivery succeeded" },
      runs: 1,
    });
    await socket.ended;
    expect(socket.rest).toBe("");
  });

  test("H7: a delivery is answered while 1,000 connections are idle", async () => {
    const receiver = await openReceiver();
    const idle = await Promise.all(Array.from({ length: 1_000 }, () => receiver.connect()));
    await receiver.survives(() => receiver.post(), { status: 200, logged: { msg: "delivery succeeded" }, runs: 1 });
    expect(idle.filter(({ isEnded }) => isEnded)).toEqual([]);
  });
});

describe("A request with another method or path", () => {
  const unknownEndpoint = {
    status: 404,
    code: "ENDPOINT_UNKNOWN",
    logged: { code: "ENDPOINT_UNKNOWN", status: 404 },
  } as const;

  test("H8: CONNECT is answered 405 with Allow", async () => {
    const receiver = await openReceiver();
    const answer = await receiver.survives(() => receiver.send("CONNECT hub:443 HTTP/1.1\r\nHost: hub\r\n\r\n"), {
      status: 405,
      logged: { ...broken, status: 405, method: "CONNECT" },
    });
    expect(answer?.headers.get("allow")).toBe("POST");
  });

  test("H8: CONNECT with a reset before the answer ends no process", async () => {
    const receiver = await openReceiver();
    const connect = "CONNECT hub:443 HTTP/1.1\r\nHost: hub\r\n\r\n";
    // Below the number of lines that the server logs per second.
    const sockets = await Promise.all(Array.from({ length: 8 }, () => receiver.connect()));
    for (const socket of sockets) socket.send(connect, "x".repeat(99)).reset();
    await Promise.all(sockets.map(({ ended }) => ended));
    await receiver.page("/health");
    await receiver.survives(() => receiver.send(connect), { status: 405, logged: { ...broken, method: "CONNECT" } });
  });

  test.each([
    "..%5ctarget",
    "target%0d%0aX-Injected:%20yes",
    "target//",
    "target%2f",
    "target%20",
    "target.json",
    "*",
    "%",
    "%zz",
    "%c0%ae",
    "%f0%9f%a4%97",
  ])("H9: endpoint name %j is answered 404", async (name) => {
    const receiver = await openReceiver();
    const answer = await receiver.survives(() => receiver.post({ path: `/webhooks/${name}` }), unknownEndpoint);
    expect(answer?.headers.has("x-injected")).toBe(false);
  });

  test("H9: an endpoint name of 8,000 letters is answered 404", async () => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ path: `/webhooks/${"t".repeat(8_000)}` }), unknownEndpoint);
    expect(JSON.stringify(receiver.log).length).toBeLessThan(4_000);
  });
});

describe("A route that does not read a body to its end", () => {
  const body = "x".repeat(300_000);
  const ways = ["returns", "stops", "cancels", "destroys", "throws"];

  /** Sends a body to each route on four connections, which the server must close, as they do not send the rest. */
  async function expectClosed(receiver: Receiver): Promise<void> {
    const sockets = await Promise.all(
      ways
        .flatMap((way) => [way, way, way, way])
        .map(async (way) => {
          const socket = await receiver.connect();
          const headers = { "Content-Length": String(2 * body.length) };
          return socket.send(receiver.delivery({ path: `/stop/${way}`, headers, body }));
        }),
    );
    await Promise.all(sockets.map(({ ended }) => ended));
    expect((await receiver.post()).status).toBe(200);
    await receiver.keepsSecret();
  }

  test("H18: ends no receiver", async () => {
    const receiver = await openReceiver({ declared: "stopping" });
    await expectClosed(receiver);
  });

  test("H18: ends no session of dev, and not its server", async () => {
    const { child, receiver } = await createDevProcess();
    await expectClosed(receiver);
    expect(child.lines.filter(({ msg }) => /exited/.test(msg))).toEqual([]);
  });

  test("H18: ends no local Hub, for example at a line of a commit that is too long", async () => {
    const hub = await openLocalHub();
    const headers = { Host: "localhost", Authorization: "Bearer hf_local", "Content-Type": "application/x-ndjson" };
    const path = "/api/datasets/me/data/commit/main";
    await hub.trigger();
    for (const line of ["x".repeat(69 * 1024 * 1024), `not JSON\n${"x".repeat(300_000)}`]) {
      const socket = await RawSocket.open(hub.url);
      onTestFinished(() => socket.close());
      const length = { "Content-Length": String(2 * line.length) };
      const answer = await socket.send(requestBytes({ path, headers: { ...headers, ...length }, body: line })).answer();
      expect([400, 413], answer.text).toContain(answer.status);
      await socket.ended;
    }
    await hub.trigger();
  });
});

describe("HTTP/1.0 with Transfer-Encoding", () => {
  test.each(["/webhooks/target", "/health"])(
    "H19: to %s is answered 400, and the connection is closed",
    async (path) => {
      const receiver = await openReceiver();
      const socket = await receiver.connect();
      const headers = { "Transfer-Encoding": "chunked", Connection: "keep-alive" };
      const request = receiver.delivery({ path, version: "HTTP/1.0", headers, body: chunk("{}") });
      await receiver.survives(() => socket.send(request).answer(), {
        status: 400,
        logged: { ...broken, reason: "Transfer-Encoding in HTTP/1.0" },
      });
      await socket.ended;
    },
  );
});

describe("A path with dot segments", () => {
  test.each([
    "../_console/",
    "%2e%2e/_console/",
    ".%2E/health",
    "./target",
    "%2e/target",
    "target/%2e%2e/target",
    "..",
  ])("H20: /webhooks/%s is answered 404", async (name) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ path: `/webhooks/${name}` }), {
      status: 404,
      code: "NOT_FOUND",
      logged: { status: 404, reason: "Dot segments in the path" },
    });
    const page = await receiver.page(`/webhooks/${name}`);
    expect([page.status, JSON.parse(page.text).code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("10,000 idle connections of one client", () => {
  const head = "POST /webhooks/target HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  const sent = ["", `${head}X-Slow: `, `${head}Content-Length: 9\r\n\r\n{`];

  test.each([
    { what: "with a secret", options: {} },
    { what: "without a secret, which reads bodies", options: { secret: false } },
  ] as const)("H21: do not keep deliveries out of a receiver $what", async ({ options }) => {
    const receiver = await openReceiver(options);
    for (let round = 0; round < 20; round += 1) {
      const opening = Array.from({ length: 500 }, async () => {
        const socket = await receiver.connect();
        void socket.send(sent[round % sent.length] ?? "").ended.then(() => socket.close());
      });
      await Promise.all(opening);
      const answer = await receiver.post();
      expect(answer.status, answer.text).toBe(200);
    }
    await receiver.keepsSecret();
  });
});

describe("Garbage after a valid request", () => {
  const garbage = `garbage ${secret}\r\n\r\n`;

  test("H10: does not prevent the answers to pipelined requests before it", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    await receiver.survives(
      async () => {
        socket.send(Buffer.concat([receiver.delivery(), receiver.delivery(), Buffer.from(garbage)]));
        expect((await socket.answer()).status).toBe(200);
        return socket.answer();
      },
      { status: 200, logged: brokenParse, runs: 2 },
    );
    expect((await socket.answer()).status).toBe(400);
  });

  test("H10: of any length is answered 400 once", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    await receiver.survives(() => socket.send(garbage, garbage.repeat(1_000)).answer(), {
      status: 400,
      logged: brokenParse,
    });
    await socket.ended;
    expect(socket.rest).toBe("");
  });
});

/** Sends the headers of a delivery and waits until the receiver has read them, which `100 Continue` confirms. */
async function openBody(receiver: Receiver, headers: Record<string, string>): Promise<RawSocket> {
  const socket = await receiver.connect();
  socket.send(receiver.delivery({ headers: { ...headers, Expect: "100-continue" }, body: "" }));
  expect((await socket.answer({ toHead: true })).status).toBe(100);
  return socket;
}

/** Sends one byte at a time, each before the idle timeout, until a response arrives. */
async function drip(socket: RawSocket, bytes: Uint8Array) {
  let position = 0;
  const dripping = setInterval(() => socket.send(bytes.subarray(position, ++position)), 10);
  try {
    return await socket.answer();
  } finally {
    clearInterval(dripping);
  }
}

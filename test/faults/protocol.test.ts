import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chunk, RawSocket, requestBytes } from "../support/raw-socket.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { createDevProcess, createFaultyProcess } from "./faulty-process.ts";
import { openReceiver } from "./receiver.ts";
import { countRows, skipFault } from "./rows.ts";

countRows("protocol");
const succeeded = { status: 200, logged: { msg: "delivery succeeded" } };

describe("A Trailer header with a body", () => {
  const headers = { Trailer: "x-check" };
  const inChunks = { headers: { ...headers, "Transfer-Encoding": "chunked" }, body: "0\r\nx-check: 1\r\n\r\n" };

  test.each(["target", "nowhere"])(
    "H11: to /webhooks/%s of dev is answered, and dev keeps running",
    async (endpoint) => {
      const { child, receiver } = await createDevProcess();
      const path = `/webhooks/${endpoint}`;
      const expected = endpoint === "target" ? [400, 400, 422] : [404, 404, 404];
      const answers = [
        await receiver.post({ path, headers: { ...headers, "Content-Length": "1" }, body: "{" }),
        await receiver.post({ path, ...inChunks }),
        await receiver.post({ path, headers, body: "{}" }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(expected);
      expect((await receiver.post()).status).toBe(200);
      expect(child.errorOutput).toBe("");
    },
  );

  test("H11: to a receiver is handled like other requests", async () => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ headers }), { ...succeeded, runs: 1 });
    await receiver.survives(() => receiver.post(inChunks), { status: 400, logged: { code: "BODY_NOT_JSON" } });
  });
});

describe("Pipelined requests for pages that are not read", () => {
  const page = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  test("H12: 2,000 on each of 50 connections take less than 100 MB, and a delivery is still answered", async () => {
    const { child, receiver } = await createFaultyProcess();
    await receiver.page("/");
    const before = peakMemory(child.pid);
    if (before === undefined) skipFault("H12", "/proc is missing");
    for (let round = 0; round < 3; round += 1) {
      const flooding = await Promise.all(Array.from({ length: 50 }, () => receiver.connect()));
      for (const socket of flooding) socket.pause().send(page.repeat(2_000));
      expect((await receiver.post()).status).toBe(200);
    }
    expect((peakMemory(child.pid) ?? Number.NaN) - before).toBeLessThan(100 * 1024);
    const closed = /^connection closed$/;
    expect(child.lines.find(({ msg }) => closed.test(msg))).toMatchObject({ reason: "Too many pipelined requests" });
    expect(child.errorOutput).toBe("");
  });

  test("H12: the connection is closed if a response is not read in time", async () => {
    const receiver = await openReceiver({ timeouts: { write: 200 }, declared: "large" });
    const socket = (await receiver.connect()).pause();
    await receiver.survives(
      async () => {
        socket.send(receiver.delivery({ path: "/webhooks/large" }));
        return undefined;
      },
      { logged: { level: "warn", msg: "connection closed: the client does not read the response" } },
    );
  });

  /** Returns the peak resident size of a process in KiB, or `undefined` if the system does not report it. */
  function peakMemory(pid: number): number | undefined {
    try {
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    } catch {
      return undefined;
    }
  }
});

describe("A request that two servers could parse differently", () => {
  const ambiguous = [
    { what: "two hosts", headers: { Host: ["localhost", "other.example"] }, reason: "Multiple Host headers" },
    {
      what: "chunks inside gzip",
      headers: { "Transfer-Encoding": "gzip, chunked" },
      body: chunk(""),
      reason: "Unsupported Transfer-Encoding",
    },
  ];

  test("H13: is answered 400 by dev too, like other versions of HTTP", async () => {
    const { child, receiver } = await createDevProcess();
    for (const { what: _what, reason: _reason, ...changes } of ambiguous) {
      expect((await receiver.post(changes)).status).toBe(400);
    }
    for (const version of ["HTTP/2.0", "HTTP/0.9"]) expect((await receiver.post({ version })).status).toBe(400);
    expect((await receiver.post()).status).toBe(200);
    expect(child.errorOutput).toBe("");
  });
});

describe("A Response with headers of an upstream answer", () => {
  test.each([{ "content-length": "1000" }, { trailer: "x-check", "content-length": "9" }])(
    "H14: %j is framed by its body, and the connection stays usable",
    async (headers) => {
      const receiver = await openReceiver({ declared: "framing" });
      const socket = await receiver.connect();
      const request = receiver.delivery({ path: "/webhooks/framing", body: JSON.stringify(headers) });
      const answer = await receiver.survives(() => socket.send(request).answer(), {
        status: 202,
        logged: { msg: "delivery succeeded", endpoint: "framing" },
      });
      expect(answer?.text).toBe("passed on");
      expect((await socket.send(receiver.delivery()).answer()).status).toBe(200);
      expect(socket.rest).toBe("");
    },
  );
});

describe("A process without file descriptors", () => {
  test("H15: serves all pages once file descriptors are available, also pages first requested before", async () => {
    const folder = createFolder();
    const environment = { INBOX_URL: `sqlite:${folder}/inbox.db` };
    const { child, receiver } = await createFaultyProcess(environment, { maxOpenFiles: 64 });
    const pages = ["/_console/", "/_console/api/session", "/", "/health"];
    const kept = await receiver.connect();
    const headers = { Host: new URL(receiver.url).host, Connection: "keep-alive", "Content-Length": undefined };
    const ask = async (path: string) =>
      (await kept.send(requestBytes({ method: "GET", path, headers })).answer()).status;
    expect(await ask("/health")).toBe(200);
    const sockets = await Promise.all(Array.from({ length: 100 }, () => RawSocket.open(receiver.url)));
    await Promise.any(sockets.map(({ ended }) => ended));
    for (const path of pages) await ask(path);
    for (const socket of sockets) socket.close();
    for (const path of pages) await expect.poll(() => ask(path), { message: path }).toBe(200);
    await expect.poll(async () => (await receiver.post()).status).toBe(200);
    expect(child.errorOutput).toBe("");
  });
});

describe("A request with Expect: 100-continue", () => {
  const expecting = { Expect: "100-continue" };

  test("H16: that is valid gets 100 Continue, then its answer", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    const request = receiver.delivery({ headers: expecting });
    const bodyAt = request.indexOf("\r\n\r\n") + 4;
    await receiver.survives(
      async () => {
        socket.send(request.subarray(0, bodyAt));
        expect((await socket.answer({ toHead: true })).status).toBe(100);
        return socket.send(request.subarray(bodyAt)).answer();
      },
      { ...succeeded, runs: 1 },
    );
  });
});

describe("A client that ends its side of the connection after its request", () => {
  test.each(["target", "slow"])("H17: gets the response of %s, and then the connection closes", async (endpoint) => {
    const { receiver } = await createFaultyProcess();
    const socket = await receiver.connect();
    await receiver.survives(
      () =>
        socket
          .send(receiver.delivery({ path: `/webhooks/${endpoint}` }))
          .finish()
          .answer(),
      { status: 200, logged: { msg: "delivery succeeded", endpoint } },
    );
    await socket.ended;
    expect(socket.rest).toBe("");
  });
});

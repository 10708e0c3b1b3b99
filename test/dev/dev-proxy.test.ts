import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import { freePort } from "../support/free-port.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";
import { watchTimers } from "../support/watch-timers.ts";
import { openDoor, openDoorTo, post, probe, recorder, startServer } from "./open-proxy.ts";

const secret = "Planted-5ecret-60ad2c";

describe("The front door", () => {
  test("passes a request on as it came, and the answer back as it came", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const seen: IncomingMessage[] = [];
    const bodies: Buffer[] = [];
    const { door } = await openDoorTo(async (incoming, outgoing) => {
      seen.push(incoming);
      bodies.push(Buffer.concat(await incoming.toArray()));
      outgoing.writeHead(207, "Many Things", [
        ...["X-Twice", "one", "X-Twice", "two", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
        ...["Content-Length", String(bytes.length)],
      ]);
      outgoing.end(bytes);
    });
    const asking = request(`${door.url}/any/%2Fpath?query=a&query=b`, {
      method: "PUT",
      headers: ["Host", "bot.localhost", "X-Twice", "one", "x-twice", "two", "Expect", "100-continue"],
    });
    asking.end(bytes);
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    const received = Buffer.concat(await answer.toArray());
    expect([answer.statusCode, answer.statusMessage]).toEqual([207, "Many Things"]);
    expect(answer.rawHeaders.slice(0, 8)).toEqual([
      ...["X-Twice", "one", "X-Twice", "two", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
    ]);
    expect(received.equals(bytes)).toBe(true);
    expect(bodies[0]?.equals(bytes)).toBe(true);
    const [{ method, url, rawHeaders } = {}] = seen;
    expect([method, url]).toEqual(["PUT", "/any/%2Fpath?query=a&query=b"]);
    expect(rawHeaders?.slice(0, 6)).toEqual(["Host", "bot.localhost", "X-Twice", "one", "x-twice", "two"]);
    expect(rawHeaders?.slice(6, 8)).toEqual(["Expect", "100-continue"]);
  });

  test.each(["evil.example", "evil.example:7860", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]", "local host"])(
    "refuses a request of this machine for the host %j, and says so once",
    async (host) => {
      const { requests, listener } = recorder();
      const hosts: string[] = [];
      const { door, deliveries } = await openDoorTo(listener, { onForeignHost: (foreign) => hosts.push(foreign) });
      for (let times = 0; times < 2; times += 1) {
        const socket = await RawSocket.open(door.url);
        socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: host }, body: "{}" }));
        const { status, text: said } = await socket.answer();
        expect([status, JSON.parse(said)]).toMatchObject([403, { code: "CROSS_SITE_REFUSED" }]);
        socket.close();
      }
      expect([requests, deliveries, hosts]).toEqual([[], [], [host]]);
    },
  );

  test.each(["localhost", "LOCALHOST:7860", "127.0.0.1:7860", "127.1.2.3", "[::1]:7860", "app.localhost"])(
    "takes a request of this machine for the host %s",
    async (host) => {
      const { requests, listener } = recorder();
      const { door } = await openDoorTo(listener);
      const socket = await RawSocket.open(door.url);
      socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: host }, body: "{}" }));
      expect((await socket.answer()).status).toBe(200);
      expect(requests[0]?.incoming.headers.host).toBe(host);
      socket.close();
    },
  );

  test("takes any host by a tunnel, and on this machine where a proxy of the user's own leads to it", async () => {
    const { listener } = recorder();
    const { door, publicUrl } = await openDoorTo(listener, { takesAnyHost: true });
    for (const url of [publicUrl, door.url]) {
      const socket = await RawSocket.open(url);
      socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "bot.example.com" }, body: "{}" }));
      expect((await socket.answer()).status).toBe(200);
      socket.close();
    }
    const checked = await openDoorTo(listener);
    const socket = await RawSocket.open(checked.publicUrl);
    socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "bot.example.com" }, body: "{}" }));
    expect((await socket.answer()).status).toBe(200);
    socket.close();
  });

  test("names no more than twenty foreign hosts", async () => {
    const hosts: string[] = [];
    const { door } = await openDoorTo(recorder().listener, { onForeignHost: (host) => hosts.push(host) });
    const socket = await RawSocket.open(door.url);
    for (let index = 0; index < 25; index += 1) {
      const asked = await RawSocket.open(door.url);
      asked.send(requestBytes({ method: "GET", path: "/", headers: { Host: `evil-${index}.example` } }));
      expect((await asked.answer()).status).toBe(403);
      asked.close();
    }
    socket.close();
    expect(hosts).toHaveLength(20);
  });

  test("passes several requests on one connection, with and without a body", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    const socket = await RawSocket.open(door.url);
    for (const body of ["first", "", "third"]) {
      socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body }));
      expect((await socket.answer()).status).toBe(200);
    }
    socket.send(
      requestBytes({ method: "GET", path: "/", headers: { Host: "localhost", "Content-Length": undefined } }),
    );
    expect((await socket.answer()).text).toBe("recorded");
    socket.close();
    expect(requests.map(({ body }) => body)).toEqual(["first", "", "third", ""]);
  });

  test("says of HTTP/1.0 that it came through here, for the server takes it for a proxy's", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    const answers = await Promise.all(
      ["1.0", "1.1"].map(async (version) => {
        const socket = await RawSocket.open(door.url);
        const headers = ["Host: 127.0.0.1", `X-Version: ${version}`, "Connection: close", "", ""];
        socket.send([`GET /_deliveries HTTP/${version}`, ...headers].join("\r\n"));
        await socket.ended;
        return socket.rest;
      }),
    );
    const viaOf = (version: string) =>
      requests.find(({ incoming }) => incoming.headers["x-version"] === version)?.incoming.headers.via;
    expect({ old: viaOf("1.0"), today: viaOf("1.1") }).toEqual({ old: "1.0 hub-webhooks-dev", today: undefined });
    // It knows no chunks.
    expect(answers[0]).not.toMatch(/transfer-encoding/i);
  });

  test("does not say of a connection that it is to be kept where nobody has said so, as a proxy does not", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    for (const connection of ["keep-alive", "close", undefined]) {
      const socket = await RawSocket.open(door.url);
      const headers = { Host: "127.0.0.1", Connection: connection, "Content-Length": undefined };
      await socket.send(requestBytes({ method: "GET", path: "/_deliveries", headers })).answer();
      socket.close();
    }
    expect(requests.map(({ incoming }) => incoming.headers.connection)).toEqual(["keep-alive", "close", "close"]);
  });

  test("lets a request wait while there is no server, and passes it to the next one", async () => {
    const { requests, listener } = recorder();
    const { port } = await startServer(listener);
    const next = Promise.withResolvers<number>();
    const asked = Promise.withResolvers<void>();
    const { door } = await openDoor({
      serverPort() {
        asked.resolve();
        return next.promise;
      },
    });
    const answer = post(door.url, "waits");
    await asked.promise;
    expect(requests).toEqual([]);
    next.resolve(port);
    expect((await answer).status).toBe(200);
    expect(requests[0]?.body).toBe("waits");
  });

  test("answers 503, to be tried again, while the file does not load", async () => {
    const failure = new WebhookError("It throws.", { code: "SERVER_FILE_INVALID" });
    const { door, deliveries } = await openDoor({ serverPort: () => Promise.reject(failure) });
    const answer = await post(door.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toEqual({ error: "The server's file does not load.", code: "SERVER_FILE_INVALID" });
    expect(deliveries).toMatchObject([
      { endpoint: "retrain", deliveryId: "one", status: 503, reason: "The server's file does not load." },
    ]);
  });

  test("shows a browser on this machine what the file threw and where, and nobody else", async () => {
    const stack = "TypeError: boom\n    at deep (/me/lib.ts:3:7)\n    at /me/server.ts:1:1";
    const cause = Object.assign(new Error("boom"), { stack });
    const message = "server.ts failed to load. TypeError: boom (lib.ts:3:7)";
    const failure = new WebhookError(message, { code: "SERVER_FILE_INVALID", cause });
    const { door } = await openDoor({ serverPort: () => Promise.reject(failure) });
    const headers = { accept: "text/html,*/*;q=0.8" };
    const page = await fetch(door.url, { headers });
    expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
    const html = await page.text();
    for (const part of [message, "at deep (/me/lib.ts:3:7)", "at /me/server.ts:1:1"]) expect(html).toContain(part);
    const outside = await fetch(`http://127.0.0.1:${door.publicPort}/webhooks/retrain`, { headers });
    expect([outside.status, await outside.text()]).toEqual([503, expect.not.stringContaining("lib.ts")]);
    const proxied = await openDoor({ serverPort: () => Promise.reject(failure), takesAnyHost: true });
    expect(await (await fetch(proxied.door.url, { headers })).text()).not.toContain("lib.ts");
  });

  test("leaves no socket behind after a request that closes its connection", async () => {
    const { listener } = recorder();
    const { door } = await openDoorTo(listener);
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = sockets();
    for (let times = 0; times < 5; times += 1) {
      const socket = await RawSocket.open(door.url);
      socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body: "{}" }));
      expect((await socket.answer()).status).toBe(200);
      socket.close();
    }
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  test("leaves no timer behind once there is a server", async () => {
    const { listener } = recorder();
    const { door } = await openDoorTo(listener);
    const socket = await RawSocket.open(door.url);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const request = requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body: "{}" });
    expect((await socket.send(request).answer()).status).toBe(200);
    expect(vi.getTimerCount()).toBe(0);
    socket.close();
  });

  test("answers 503 when it has waited long enough for a server", async () => {
    const { door } = await openDoor({ serverPort: () => new Promise(() => {}), longestWaitMs: 20 });
    const answer = await post(door.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("waits for a server for 20 seconds at most, before the Hub gives up", async () => {
    const timers = watchTimers();
    const noServer = Promise.withResolvers<number>();
    const { door } = await openDoor({ serverPort: () => noServer.promise });
    const answer = post(door.url);
    await expect.poll(() => timers.of(20_000)).toHaveLength(1);
    noServer.reject(new Error("no server"));
    expect((await answer).status).toBe(503);
  });

  test("answers 503 when the server dies in the middle of a request, and hangs up in the middle of an answer", async () => {
    const { door, deliveries } = await openDoorTo((incoming, outgoing) => {
      if (incoming.url === "/halfway") outgoing.writeHead(200).write("half of it", () => incoming.socket.destroy());
      else incoming.socket.destroy();
    });
    const answer = await post(door.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(deliveries).toMatchObject([{ status: 503, reason: "The server went away in the middle of this request." }]);
    await expect(fetch(`${door.url}/halfway`).then((half) => half.text())).rejects.toThrow();
    const { port } = await startServer(() => {});
    const gone = await openDoor({ serverPort: async () => freePort() });
    expect(port).toBeGreaterThan(0);
    expect((await post(gone.door.url)).status).toBe(503);
  });

  test.each([
    ["with a length", "Content-Length: 2\r\n\r\n{}"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
  ])("passes a request with headers of its connection on without them, its body %s", async (_how, rest) => {
    const { requests, listener } = recorder();
    const { door, publicUrl, problems } = await openDoorTo(listener);
    const head = [
      "POST /webhooks/x HTTP/1.1",
      "Host: localhost",
      "Trailer: x-check",
      "TE: trailers",
      "Upgrade: h2c",
      "Proxy-Authorization: Basic eDp5",
      "Keep-Alive: timeout=5",
      "X-Own: kept",
      "X-Private: dropped",
      "Connection: keep-alive, x-private, content-length, host",
    ];
    for (const url of [door.url, publicUrl]) {
      const socket = await RawSocket.open(url);
      const answer = await socket.send(`${head.join("\r\n")}\r\n${rest}`).answer();
      expect([answer.status, answer.text]).toEqual([200, "recorded"]);
      socket.close();
    }
    for (const { incoming, body } of requests) {
      expect(body).toBe("{}");
      expect(incoming.headers).toMatchObject({ host: "localhost", "x-own": "kept", connection: "keep-alive" });
      for (const name of ["trailer", "te", "upgrade", "proxy-authorization", "keep-alive", "x-private"]) {
        expect(incoming.headers).not.toHaveProperty(name);
      }
    }
    expect([requests.length, problems]).toEqual([2, []]);
  });

  test("never lets a Connection header remove what frames a body", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    const socket = await RawSocket.open(door.url);
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const head = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, content-length\r\nContent-Length: ${smuggled.length}`;
    expect((await socket.send(`${head}\r\n\r\n${smuggled}`).answer()).status).toBe(200);
    expect(requests.map(({ incoming, body }) => [incoming.url, body])).toEqual([["/", smuggled]]);
    socket.close();
  });

  test("drops headers of the connection from an answer", async () => {
    const { door } = await openDoorTo((_incoming, outgoing) => {
      outgoing.writeHead(200, { Connection: "keep-alive, x-private", "X-Private": "dropped", "X-Own": "kept" });
      outgoing.end("{}");
    });
    const answer = await fetch(`${door.url}/`);
    expect([answer.headers.get("x-own"), answer.headers.get("x-private")]).toEqual(["kept", null]);
  });

  test("answers 502 and reports it where the server answers with what cannot be passed on", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("A TCP server has a port.");
    const { door, deliveries, problems } = await openDoor({ serverPort: async () => address.port });
    const answer = await post(door.url);
    expect([answer.status, await answer.json()]).toEqual([
      502,
      { error: "The request could not be passed on.", code: "INTERNAL" },
    ]);
    expect(deliveries).toMatchObject([{ endpoint: "retrain", status: 502 }]);
    expect(problems).toEqual([expect.stringContaining("A request could not be passed on")]);
  });

  test.each([
    ["HTTP/2.0", "POST / HTTP/2.0\r\nHost: localhost\r\n\r\n", "Unsupported HTTP version"],
    ["HTTP/0.9", "POST / HTTP/0.9\r\nHost: localhost\r\n\r\n", "Unsupported HTTP version"],
    ["two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", "Several Host headers"],
    [
      "chunks inside gzip",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "Unsupported Transfer-Encoding",
    ],
  ])("answers 400 to %s, and reports it", async (_what, bytes, reason) => {
    const { requests, listener } = recorder();
    const { door, publicUrl, problems } = await openDoorTo(listener);
    for (const url of [door.url, publicUrl]) {
      const socket = await RawSocket.open(url);
      expect((await socket.send(bytes).answer()).status).toBe(400);
      socket.close();
    }
    expect(requests).toEqual([]);
    expect(problems).toEqual(new Array(2).fill(`400: malformed HTTP request refused (${reason}).`));
  });

  test("ends a connection on which too many requests wait for their answers", async () => {
    const { door, problems } = await openDoorTo(() => {});
    const socket = await RawSocket.open(door.url);
    socket.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100));
    await socket.ended;
    expect([socket.rest, problems]).toEqual(["", []]);
  });

  test("answers the probe on both sockets, without a server", async () => {
    const { door, publicUrl, deliveries } = await openDoor();
    for (const url of [door.url, publicUrl]) {
      const answer = await fetch(`${url}${probe.path}`);
      expect(answer.headers.get("content-type")).toBe("text/plain");
      expect(await answer.text()).toBe(probe.answer);
    }
    expect((await fetch(`${publicUrl}${probe.path}`, { method: "POST" })).status).toBe(404);
    expect(deliveries).toEqual([]);
  });

  test.for([
    "/",
    "/_deliveries",
    "/metrics",
    "/webhooksother",
    "/webhooks/../_deliveries",
    "/webhooks/%2e%2e/_deliveries",
    "/webhooks/%2E.\\..\\_deliveries",
    "http://127.0.0.1/_deliveries",
    "//webhooks/",
  ])("lets nobody from outside reach %s", async (path) => {
    const { requests, listener } = recorder();
    const { door, publicUrl } = await openDoorTo(listener);
    const raw = requestBytes({ method: "GET", path, headers: { Host: "localhost" } });
    const outside = await RawSocket.open(publicUrl);
    expect((await outside.send(raw).answer()).status).toBe(404);
    expect(requests).toEqual([]);
    const inside = await RawSocket.open(door.url);
    expect((await inside.send(raw).answer()).status).toBe(200);
    outside.close();
    inside.close();
  });

  test("passes a webhook from outside", async () => {
    const { requests, listener } = recorder();
    const { publicUrl, deliveries } = await openDoorTo(listener);
    expect(await (await post(publicUrl, "payload")).text()).toBe("recorded");
    expect(requests[0]?.body).toBe("payload");
    expect(deliveries).toEqual([
      { endpoint: "retrain", deliveryId: "one", status: 200, durationMs: expect.any(Number) },
    ]);
  });

  test("tells the server when whoever asked has hung up", async () => {
    const begun = Promise.withResolvers<IncomingMessage>();
    const { door, deliveries } = await openDoorTo((incoming) => begun.resolve(incoming), { probeMs: 10 });
    const hangingUp = new AbortController();
    const answer = fetch(`${door.url}/webhooks/retrain`, { method: "POST", body: "{}", signal: hangingUp.signal });
    const incoming = await begun.promise;
    const closed = new Promise((resolve) => incoming.socket.on("error", () => {}).once("close", resolve));
    hangingUp.abort();
    await expect(answer).rejects.toThrow();
    await closed;
    expect(deliveries).toEqual([]);
  });

  test("does not pass on what nobody waits for any more", async () => {
    const { requests, listener } = recorder();
    const { server, port } = await startServer(listener);
    let connections = 0;
    server.on("connection", () => {
      connections += 1;
    });
    const next = Promise.withResolvers<number>();
    const waiting: (() => void)[] = [];
    const { door } = await openDoor({
      serverPort() {
        for (const wake of waiting.splice(0)) wake();
        return next.promise;
      },
    });
    for (const body of ["whole", "half", "reset"]) {
      const asked = new Promise<void>((resolve) => waiting.push(resolve));
      const socket = await RawSocket.open(door.url);
      const bytes = requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body });
      socket.send(body === "half" ? bytes.subarray(0, -1) : bytes);
      await asked;
      if (body === "reset") socket.reset();
      else socket.close();
    }
    const last = await RawSocket.open(door.url);
    last.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body: "last" })).finish();
    // Every end has arrived by the time at which a later request is answered.
    await fetch(`${door.url}${probe.path}`);
    next.resolve(port);
    // Those before it are decided on first.
    await last.ended;
    expect(last.rest).toContain("recorded");
    expect(requests.map(({ body }) => body)).toEqual(["last"]);
    expect(connections).toBe(1);
  });

  test("ends idle connections from this machine in time, and those of a tunnel never", async () => {
    const { door, publicUrl } = await openDoor();
    const asked = requestBytes({ method: "GET", path: probe.path, headers: { Host: "localhost" } });
    const own = await RawSocket.open(door.url);
    expect((await own.send(asked).answer()).headers.get("keep-alive")).toBe("timeout=5");
    const tunnel = await RawSocket.open(publicUrl);
    expect((await tunnel.send(asked).answer()).headers.get("keep-alive")).toBeNull();
    expect([tunnel.isEnded, tunnel.rest]).toEqual([false, ""]);
    own.close();
    tunnel.close();
  });

  test("closes with connections open, idle and at work", async () => {
    const begun = Promise.withResolvers<void>();
    const { door, publicUrl } = await openDoorTo(() => begun.resolve());
    const idle = [await RawSocket.open(door.url), await RawSocket.open(publicUrl)];
    const working = post(publicUrl);
    await begun.promise;
    await door.close();
    await expect(working).rejects.toThrow();
    await Promise.all(idle.map(({ ended }) => ended));
    await expect(fetch(door.url)).rejects.toThrow();
    for (const socket of idle) socket.close();
  });

  test("refuses a port that is taken where it was asked for", async () => {
    const { port } = await startServer(() => {});
    await expect(openDoor({ port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: `Port ${port} is taken: end the program that listens there, or choose another port.`,
    });
  });

  test("takes another port than the usual one where that is taken", async () => {
    // Whether it is the first of them that has port 7860, or another program: one of the two cannot have it.
    const doors = [await openDoor({ port: undefined }), await openDoor({ port: undefined })];
    const [first = 0, second = 0] = doors.map(({ door }) => door.port);
    expect(first).not.toBe(second);
    expect(second).not.toBe(7860);
  });
});

describe("The latest delivery", () => {
  test("is sent again as it was, as a new one", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    expect(await door.replay()).toBeUndefined();
    await post(door.url, "older");
    await post(door.url, '{"é":1}', { "x-webhook-secret": secret, "content-type": "application/json" });
    await fetch(`${door.url}/`);
    const replayed = await door.replay();
    expect(replayed).toEqual({ endpoint: "retrain", deliveryId: expect.any(String), status: 200 });
    expect(replayed?.deliveryId).not.toBe("one");
    const { incoming, body } = requests.at(-1) ?? { body: "" };
    expect(body).toBe('{"é":1}');
    expect(incoming?.headers).toMatchObject({
      "x-webhook-secret": secret,
      "content-type": "application/json",
      "webhook-id": replayed?.deliveryId,
    });
    expect(JSON.stringify(replayed)).not.toContain(secret);
  });

  test.for([401, 403, 404, 405, 429])("is not one that was answered with %i", async (refusal) => {
    let status = 200;
    const { requests, listener } = recorder(() => status);
    const { door } = await openDoorTo(listener);
    await post(door.url, "a good one");
    status = refusal;
    await post(door.url, "a stranger's");
    await door.replay();
    expect(requests.at(-1)?.body).toBe("a good one");
  });

  test("is also one that the server failed at", async () => {
    const { requests, listener } = recorder(() => 500);
    const { door } = await openDoorTo(listener);
    await post(door.url, "failed at");
    expect(await door.replay()).toMatchObject({ status: 500 });
    expect(requests.at(-1)?.body).toBe("failed at");
  });

  test("is not one that no server has seen", async () => {
    const { requests, listener } = recorder();
    const { port } = await startServer(listener);
    let found: () => Promise<number> = async () => port;
    const { door } = await openDoor({ serverPort: () => found() });
    await post(door.url, "seen");
    // It has come whole by the time at which it is known that there is no server for it.
    const broken = Promise.withResolvers<number>();
    found = () => broken.promise;
    const socket = await RawSocket.open(door.url);
    socket.send(requestBytes({ path: "/webhooks/retrain", headers: { Host: "localhost" }, body: "unseen" }));
    await fetch(`${door.url}${probe.path}`);
    broken.reject(new WebhookError("It throws.", { code: "SERVER_FILE_INVALID" }));
    expect((await socket.answer()).status).toBe(503);
    socket.close();
    await expect(door.replay()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    found = async () => port;
    await door.replay();
    expect(requests.at(-1)?.body).toBe("seen");
  });

  test("is kept up to 10 MiB", async () => {
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener);
    await post(door.url, "x".repeat(10 * 1024 * 1024));
    expect((await post(door.url, "y".repeat(10 * 1024 * 1024 + 1))).status).toBe(200);
    await door.replay();
    expect(requests.at(-1)?.body).toBe("x".repeat(10 * 1024 * 1024));
  });
});

describe("What the front door leaves behind", () => {
  test("is no timer once the port of the server is known", async () => {
    const timers = watchTimers();
    const { requests, listener } = recorder();
    const { door } = await openDoorTo(listener, { longestWaitMs: 54_321 });
    await post(door.url);
    expect(requests).toHaveLength(1);
    expect(timers.of(54_321)).toMatchObject([{ cleared: 1 }]);
  });

  test("is no connection to the server once it is closed", async () => {
    const { door, server } = await openDoorTo((_incoming, outgoing) => outgoing.end());
    const connected = once(server, "connection");
    server.keepAliveTimeout = 0;
    await post(door.url);
    const [socket] = await connected;
    const closed = once(socket, "close");
    await door.close();
    await closed;
  });
});

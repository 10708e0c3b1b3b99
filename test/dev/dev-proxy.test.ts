import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTcpServer, Server as NetServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import { listenOnFreePort } from "../../src/dev/dev-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { listen } from "../support/listen.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";
import { watchTimers } from "../support/timers.ts";
import {
  deliveryBytes,
  openProxy,
  openProxyTo,
  openRecorded,
  openSocket,
  post,
  reachabilityCheck,
  recorder,
  startServer,
} from "./open-proxy.ts";

const secret = "Planted-5ecret-60ad2c";

/** Sends bytes on a new connection, which is closed after the response. */
async function ask(url: string, bytes: string | Buffer) {
  const socket = await RawSocket.open(url);
  const answer = await socket.send(bytes).answer();
  socket.close();
  return answer;
}

describe("The dev proxy", () => {
  test("forwards requests and responses unchanged", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const seen: IncomingMessage[] = [];
    const bodies: Buffer[] = [];
    const { proxy } = await openProxyTo(async (incoming, outgoing) => {
      seen.push(incoming);
      bodies.push(Buffer.concat(await incoming.toArray()));
      outgoing.writeHead(207, "Many Things", [
        ...["X-Twice", "one", "X-Twice", "two", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
        ...["Content-Length", String(bytes.length)],
      ]);
      outgoing.end(bytes);
    });
    const asking = request(`${proxy.url}/any/%2Fpath?query=a&query=b`, {
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
    "rejects a local request for host %j, and reports it once",
    async (host) => {
      const { requests, listener } = recorder();
      const hosts: string[] = [];
      const { proxy, deliveries } = await openProxyTo(listener, { onForeignHost: (foreign) => hosts.push(foreign) });
      for (let times = 0; times < 2; times += 1) {
        const { status, text } = await ask(proxy.url, deliveryBytes({ Host: host }));
        expect([status, JSON.parse(text)]).toMatchObject([403, { code: "CROSS_SITE_REFUSED" }]);
      }
      expect([requests, deliveries, hosts]).toEqual([[], [], [host]]);
    },
  );

  test.each(["localhost", "LOCALHOST:7860", "127.0.0.1:7860", "127.1.2.3", "[::1]:7860", "app.localhost"])(
    "accepts a local request for host %s",
    async (host) => {
      const { requests, proxy } = await openRecorded();
      expect((await ask(proxy.url, deliveryBytes({ Host: host }))).status).toBe(200);
      expect(requests[0]?.incoming.headers.host).toBe(host);
    },
  );

  test("accepts any host through a tunnel, and locally with allowAnyHost", async () => {
    const { proxy, publicUrl } = await openRecorded({ allowAnyHost: true });
    const checked = await openRecorded();
    for (const url of [publicUrl, proxy.url, checked.publicUrl]) {
      expect((await ask(url, deliveryBytes({ Host: "bot.example.com" }))).status).toBe(200);
    }
  });

  test("reports at most twenty foreign hosts", async () => {
    const hosts: string[] = [];
    const { proxy } = await openRecorded({ onForeignHost: (host) => hosts.push(host) });
    for (let index = 0; index < 25; index += 1) {
      expect((await ask(proxy.url, deliveryBytes({ Host: `evil-${index}.example` }))).status).toBe(403);
    }
    expect(hosts).toHaveLength(20);
  });

  test("forwards several requests of one connection, with and without a body", async () => {
    const { requests, proxy } = await openRecorded();
    const socket = await RawSocket.open(proxy.url);
    for (const body of ["first", "", "third"]) {
      socket.send(deliveryBytes({ body }));
      expect((await socket.answer()).status).toBe(200);
    }
    socket.send(
      requestBytes({ method: "GET", path: "/", headers: { Host: "localhost", "Content-Length": undefined } }),
    );
    expect((await socket.answer()).text).toBe("recorded");
    socket.close();
    expect(requests.map(({ body }) => body)).toEqual(["first", "", "third", ""]);
  });

  test.each([
    ["with Expect: 100-continue", { Expect: "100-continue" }, "close", 0],
    // The client may continue to send the body for 500 ms.
    ["whose body does not arrive", {}, "keep-alive", 1],
  ])("closes the connection after an early response to a request %s", async (_what, more, connection, lingers) => {
    const { proxy } = await openProxyTo((_incoming, outgoing) => outgoing.writeHead(403).end("no"));
    const timers = watchTimers();
    const socket = await openSocket(proxy.url);
    const headers = { Host: "localhost", Connection: "keep-alive", "Content-Length": "5", ...more };
    const answer = await socket.send(requestBytes({ path: "/", headers })).answer();
    expect([answer.status, answer.headers.get("connection")]).toEqual([403, connection]);
    await socket.ended;
    expect(timers.of(500)).toHaveLength(lingers);
  });

  test("adds Via to HTTP/1.0 requests, so that the server recognizes a proxy", async () => {
    const { requests, proxy } = await openRecorded();
    const answers = await Promise.all(
      ["1.0", "1.1"].map(async (version) => {
        const socket = await RawSocket.open(proxy.url);
        const headers = ["Host: 127.0.0.1", `X-Version: ${version}`, "Connection: close", "", ""];
        socket.send([`GET /_console HTTP/${version}`, ...headers].join("\r\n"));
        await socket.ended;
        return socket.rest;
      }),
    );
    const viaOf = (version: string) =>
      requests.find(({ incoming }) => incoming.headers["x-version"] === version)?.incoming.headers.via;
    expect({ old: viaOf("1.0"), today: viaOf("1.1") }).toEqual({ old: "1.0 hub-webhooks-dev", today: undefined });
    // An HTTP/1.0 client does not support chunks.
    expect(answers[0]).not.toMatch(/transfer-encoding/i);
  });

  test("does not add keep-alive to a request without it", async () => {
    const { requests, proxy } = await openRecorded();
    for (const connection of ["keep-alive", "close", undefined]) {
      const headers = { Host: "127.0.0.1", Connection: connection, "Content-Length": undefined };
      await ask(proxy.url, requestBytes({ method: "GET", path: "/_console", headers }));
    }
    expect(requests.map(({ incoming }) => incoming.headers.connection)).toEqual(["keep-alive", "close", "close"]);
  });

  test("holds a request while there is no server, and forwards it to the next one", async () => {
    const { requests, listener } = recorder();
    const { port } = await startServer(listener);
    const next = Promise.withResolvers<number>();
    const asked = Promise.withResolvers<void>();
    const { proxy } = await openProxy({
      serverPort() {
        asked.resolve();
        return next.promise;
      },
    });
    const answer = post(proxy.url, "waits");
    await asked.promise;
    expect(requests).toEqual([]);
    next.resolve(port);
    expect((await answer).status).toBe(200);
    expect(requests[0]?.body).toBe("waits");
  });

  test("returns a retryable 503 while the file fails to load", async () => {
    const failure = new WebhookError("It throws.", { code: "SERVER_FILE_INVALID" });
    const { proxy, deliveries } = await openProxy({ serverPort: () => Promise.reject(failure) });
    const answer = await post(proxy.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toEqual({ error: "The server file failed to load.", code: "SERVER_FILE_INVALID" });
    expect(deliveries).toMatchObject([
      { endpoint: "retrain", deliveryId: "one", status: 503, reason: "The server file failed to load." },
    ]);
  });

  test("shows the error with its stack trace only to a local browser", async () => {
    const stack = "TypeError: boom\n    at deep (/me/lib.ts:3:7)\n    at /me/server.ts:1:1";
    const cause = Object.assign(new Error("boom"), { stack });
    const message = "server.ts failed to load. TypeError: boom (lib.ts:3:7)";
    const failure = new WebhookError(message, { code: "SERVER_FILE_INVALID", cause });
    const { proxy } = await openProxy({ serverPort: () => Promise.reject(failure) });
    const headers = { accept: "text/html,*/*;q=0.8" };
    const page = await fetch(proxy.url, { headers });
    expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
    const html = await page.text();
    for (const part of [message, "at deep (/me/lib.ts:3:7)", "at /me/server.ts:1:1"]) expect(html).toContain(part);
    const outside = await fetch(`http://127.0.0.1:${proxy.publicPort}/webhooks/retrain`, { headers });
    expect([outside.status, await outside.text()]).toEqual([503, expect.not.stringContaining("lib.ts")]);
    const proxied = await openProxy({ serverPort: () => Promise.reject(failure), allowAnyHost: true });
    expect(await (await fetch(proxied.proxy.url, { headers })).text()).not.toContain("lib.ts");
  });

  test("leaves no socket open after a request that closes its connection", async () => {
    const { proxy } = await openRecorded();
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = sockets();
    for (let times = 0; times < 5; times += 1) {
      expect((await ask(proxy.url, deliveryBytes())).status).toBe(200);
    }
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  test("returns 503 after serverTimeoutMs without a server", async () => {
    const { proxy } = await openProxy({ serverPort: () => new Promise(() => {}), serverTimeoutMs: 20 });
    const answer = await post(proxy.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("waits at most 20 s for the server, before the Hub gives up", async () => {
    const timers = watchTimers();
    const noServer = Promise.withResolvers<number>();
    const { proxy } = await openProxy({ serverPort: () => noServer.promise });
    const answer = post(proxy.url);
    await expect.poll(() => timers.of(20_000)).toHaveLength(1);
    noServer.reject(new Error("no server"));
    expect((await answer).status).toBe(503);
  });

  test("returns 503 if the server exits during a request, and disconnects if it exits during a response", async () => {
    const { proxy, deliveries } = await openProxyTo((incoming, outgoing) => {
      if (incoming.url === "/halfway") outgoing.writeHead(200).write("half of it", () => incoming.socket.destroy());
      else incoming.socket.destroy();
    });
    const answer = await post(proxy.url);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(deliveries).toMatchObject([{ status: 503, reason: "The server stopped during this request." }]);
    await expect(fetch(`${proxy.url}/halfway`).then((half) => half.text())).rejects.toThrow();
    const { port } = await startServer(() => {});
    const gone = await openProxy({ serverPort: async () => freePort() });
    expect(port).toBeGreaterThan(0);
    expect((await post(gone.proxy.url)).status).toBe(503);
  });

  test.each([
    ["with a Content-Length", "Content-Length: 2\r\n\r\n{}"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
  ])("removes hop-by-hop headers from a request with a body %s", async (_how, rest) => {
    const { requests, proxy, publicUrl, problems } = await openRecorded();
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
    for (const url of [proxy.url, publicUrl]) {
      const answer = await ask(url, `${head.join("\r\n")}\r\n${rest}`);
      expect([answer.status, answer.text]).toEqual([200, "recorded"]);
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

  test("keeps the framing headers, even if the Connection header lists them", async () => {
    const { requests, proxy } = await openRecorded();
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const head = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, content-length\r\nContent-Length: ${smuggled.length}`;
    expect((await ask(proxy.url, `${head}\r\n\r\n${smuggled}`)).status).toBe(200);
    expect(requests.map(({ incoming, body }) => [incoming.url, body])).toEqual([["/", smuggled]]);
  });

  test("drops hop-by-hop headers from a response", async () => {
    const { proxy } = await openProxyTo((_incoming, outgoing) => {
      outgoing.writeHead(200, { Connection: "keep-alive, x-private", "X-Private": "dropped", "X-Own": "kept" });
      outgoing.end("{}");
    });
    const answer = await fetch(`${proxy.url}/`);
    expect([answer.headers.get("x-own"), answer.headers.get("x-private")]).toEqual(["kept", null]);
  });

  test("returns 502 and reports a response that Node cannot send", async () => {
    const closed = Promise.withResolvers<void>();
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}).on("close", () => closed.resolve());
      socket.once("data", () => socket.write("HTTP/1.1 200 \x01\r\nContent-Length: 1\r\n\r\n"));
    });
    const { port } = await listen(server);
    const { proxy, deliveries, problems } = await openProxy({ serverPort: async () => port });
    const answer = await post(proxy.url);
    const error = { error: "The request could not be forwarded.", code: "INTERNAL" };
    expect([answer.status, await answer.json()]).toEqual([502, error]);
    expect(deliveries).toMatchObject([{ endpoint: "retrain", status: 502 }]);
    expect(problems).toEqual([expect.stringContaining("A request could not be forwarded")]);
    await closed.promise;
  });

  test.each([
    ["HTTP/2.0", "POST / HTTP/2.0\r\nHost: localhost\r\n\r\n", "Unsupported HTTP version"],
    ["HTTP/0.9", "POST / HTTP/0.9\r\nHost: localhost\r\n\r\n", "Unsupported HTTP version"],
    ["two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", "Multiple Host headers"],
    [
      "chunks inside gzip",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "Unsupported Transfer-Encoding",
    ],
  ])("returns 400 for %s, and reports it", async (_what, bytes, reason) => {
    const { requests, proxy, publicUrl, problems } = await openRecorded();
    for (const url of [proxy.url, publicUrl]) expect((await ask(url, bytes)).status).toBe(400);
    expect(requests).toEqual([]);
    expect(problems).toEqual(new Array(2).fill(`400: malformed HTTP request refused (${reason}).`));
  });

  test("closes a connection with too many pipelined requests", async () => {
    const { proxy, problems } = await openProxyTo(() => {});
    const socket = await RawSocket.open(proxy.url);
    socket.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100));
    await socket.ended;
    expect([socket.rest, problems]).toEqual(["", []]);
  });

  test("responds to the reachability check on both sockets without a server", async () => {
    const { proxy, publicUrl, deliveries } = await openProxy();
    for (const url of [proxy.url, publicUrl]) {
      const answer = await fetch(`${url}${reachabilityCheck.path}`);
      expect(answer.headers.get("content-type")).toBe("text/plain");
      expect(await answer.text()).toBe(reachabilityCheck.answer);
    }
    expect((await fetch(`${publicUrl}${reachabilityCheck.path}`, { method: "POST" })).status).toBe(404);
    expect(deliveries).toEqual([]);
  });

  test.for([
    "/",
    "/_console",
    "/metrics",
    "/webhooksother",
    "/webhooks/../_console",
    "/webhooks/%2e%2e/_console",
    "/webhooks/%2E.\\..\\_console",
    "http://127.0.0.1/_console",
    "//webhooks/",
  ])("returns 404 to remote clients for %s", async (path) => {
    const { requests, proxy, publicUrl } = await openRecorded();
    const raw = requestBytes({ method: "GET", path, headers: { Host: "localhost" } });
    expect((await ask(publicUrl, raw)).status).toBe(404);
    expect(requests).toEqual([]);
    expect((await ask(proxy.url, raw)).status).toBe(200);
  });

  test("resets the connection to the server when the client disconnects", async () => {
    const begun = Promise.withResolvers<IncomingMessage>();
    const { proxy, deliveries } = await openProxyTo((incoming) => begun.resolve(incoming), { probeIntervalMs: 10 });
    const hangingUp = new AbortController();
    const answer = fetch(`${proxy.url}/webhooks/retrain`, { method: "POST", body: "{}", signal: hangingUp.signal });
    const incoming = await begun.promise;
    const errors: Error[] = [];
    incoming.socket.on("error", (error) => errors.push(error));
    const closed = new Promise((resolve) => incoming.socket.once("close", resolve));
    hangingUp.abort();
    await expect(answer).rejects.toThrow();
    await closed;
    expect(errors).toMatchObject([{ code: "ECONNRESET" }]);
    expect(deliveries).toEqual([]);
  });

  test("closes the connection to the server if other code in the process ends the response", async () => {
    const begun = Promise.withResolvers<IncomingMessage>();
    const { proxy } = await openProxyTo((incoming, outgoing) => {
      begun.resolve(incoming);
      const sending = setInterval(() => outgoing.write("part"), 5);
      outgoing.once("close", () => clearInterval(sending));
    });
    const endAnswer = (message: unknown) => {
      const { socket, response }: { socket: Socket; response: ServerResponse } = Object(message);
      if (socket.localPort === proxy.port) response.once("pipe", () => response.end());
    };
    subscribe("http.server.request.start", endAnswer);
    onTestFinished(() => void unsubscribe("http.server.request.start", endAnswer));
    const answer = fetch(`${proxy.url}/page`);
    const incoming = await begun.promise;
    incoming.socket.on("error", () => {});
    await new Promise((resolve) => incoming.socket.once("close", resolve));
    expect((await answer).status).toBe(200);
  });

  test("does not forward a request whose client has disconnected", async () => {
    const { requests, listener } = recorder();
    const { server, port } = await startServer(listener);
    let connections = 0;
    server.on("connection", () => {
      connections += 1;
    });
    const next = Promise.withResolvers<number>();
    const waiting: (() => void)[] = [];
    const { proxy } = await openProxy({
      serverPort() {
        for (const wake of waiting.splice(0)) wake();
        return next.promise;
      },
    });
    for (const body of ["whole", "half", "reset"]) {
      const asked = new Promise<void>((resolve) => waiting.push(resolve));
      const socket = await RawSocket.open(proxy.url);
      const bytes = deliveryBytes({ body });
      socket.send(body === "half" ? bytes.subarray(0, -1) : bytes);
      await asked;
      if (body === "reset") socket.reset();
      else socket.close();
    }
    const last = await RawSocket.open(proxy.url);
    last.send(deliveryBytes({ body: "last" })).finish();
    // A later request is answered only after all earlier requests have arrived completely.
    await fetch(`${proxy.url}${reachabilityCheck.path}`);
    next.resolve(port);
    // The proxy decides on earlier requests first.
    await last.ended;
    expect(last.rest).toContain("recorded");
    expect(requests.map(({ body }) => body)).toEqual(["last"]);
    expect(connections).toBe(1);
  });

  test("closes idle local connections after a timeout, but never those of a tunnel", async () => {
    const { proxy, publicUrl } = await openProxy();
    const asked = requestBytes({ method: "GET", path: reachabilityCheck.path, headers: { Host: "localhost" } });
    const own = await openSocket(proxy.url);
    expect((await own.send(asked).answer()).headers.get("keep-alive")).toBe("timeout=5");
    const tunnel = await openSocket(publicUrl);
    expect((await tunnel.send(asked).answer()).headers.get("keep-alive")).toBeNull();
    expect([tunnel.isEnded, tunnel.rest]).toEqual([false, ""]);
  });

  test("closes with open connections, idle and active", async () => {
    const begun = Promise.withResolvers<void>();
    const { proxy, publicUrl } = await openProxyTo(() => begun.resolve());
    const idle = [await openSocket(proxy.url), await openSocket(publicUrl)];
    const working = post(publicUrl);
    await begun.promise;
    await proxy.close();
    await expect(working).rejects.toThrow();
    await Promise.all(idle.map(({ ended }) => ended));
    await expect(fetch(proxy.url)).rejects.toThrow();
  });

  test("rejects if the requested port is in use", async () => {
    const { port } = await startServer(() => {});
    await expect(openProxy({ port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: `Port ${port} on 127.0.0.1 is in use. Stop the program that uses the port, or choose another port.`,
    });
  });

  test("leaves no socket open if the second one cannot be opened", async () => {
    const port = await freePort();
    const { listen } = NetServer.prototype;
    const listening = vi.spyOn(NetServer.prototype, "listen").mockImplementation(function (
      this: NetServer,
      ...given: unknown[]
    ) {
      if (listening.mock.calls.length === 1) return listen.apply(this, given as never);
      process.nextTick(() => this.emit("error", Object.assign(new Error("too many files"), { code: "EMFILE" })));
      return this;
    });
    onTestFinished(() => listening.mockRestore());
    await expect(openProxy({ port })).rejects.toMatchObject({
      code: "LISTEN_FAILED",
      message: expect.stringContaining("Cannot listen on 127.0.0.1"),
    });
    listening.mockRestore();
    expect((await openProxy({ port })).proxy.port).toBe(port);
  });

  test("reports connections that cannot be accepted, and keeps listening", async () => {
    const listening = vi.spyOn(NetServer.prototype, "listen");
    const { server, port } = await startServer((_request, response) => response.end("served"));
    const { proxy, problems } = await openProxy({ serverPort: async () => port });
    const servers = new Set(listening.mock.contexts);
    servers.delete(server);
    listening.mockRestore();
    for (const each of servers) if (each instanceof NetServer) each.emit("error", new Error("accept EMFILE"));
    expect(problems).toEqual([expect.stringContaining("accept EMFILE"), expect.stringContaining("ulimit -n")]);
    expect(await (await fetch(proxy.url)).text()).toBe("served");
  });
});

describe("The latest delivery", () => {
  test("is sent again unchanged with a new id", async () => {
    const { requests, proxy } = await openRecorded();
    expect(await proxy.replay()).toBeUndefined();
    await post(proxy.url, "older");
    await post(proxy.url, '{"é":1}', { "x-webhook-secret": secret, "content-type": "application/json" });
    await fetch(`${proxy.url}/`);
    const replayed = await proxy.replay();
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

  test("is sent again without reading the response to its end", async () => {
    const closed = Promise.withResolvers<void>();
    let isEndless = false;
    const { proxy } = await openProxyTo((incoming, outgoing) => {
      incoming.resume();
      if (!isEndless) return void outgoing.end("{}");
      outgoing.on("close", closed.resolve).write("endless");
    });
    await post(proxy.url);
    isEndless = true;
    expect(await proxy.replay()).toMatchObject({ status: 200 });
    await closed.promise;
  });

  test("cannot be sent again to a server that disconnects", async () => {
    let isGone = false;
    const { proxy } = await openProxyTo((incoming, outgoing) => {
      if (isGone) incoming.socket.destroy();
      else outgoing.end("{}");
    });
    await post(proxy.url);
    isGone = true;
    await expect(proxy.replay()).rejects.toMatchObject({ code: "NO_RESPONSE" });
  });

  test.for([401, 403, 404, 405, 429])("is not recorded if the response was %i", async (refusal) => {
    let status = 200;
    const { requests, proxy } = await openRecorded({}, () => status);
    await post(proxy.url, "a good one");
    status = refusal;
    await post(proxy.url, "another");
    await proxy.replay();
    expect(requests.at(-1)?.body).toBe("a good one");
  });

  test("is recorded if the handler failed", async () => {
    const { requests, proxy } = await openRecorded({}, () => 500);
    await post(proxy.url, "failed at");
    expect(await proxy.replay()).toMatchObject({ status: 500 });
    expect(requests.at(-1)?.body).toBe("failed at");
  });

  test("is not recorded if it was not forwarded to a server", async () => {
    const { requests, listener } = recorder();
    const { port } = await startServer(listener);
    let found: () => Promise<number> = async () => port;
    const { proxy } = await openProxy({ serverPort: () => found() });
    await post(proxy.url, "seen");
    // The request has arrived completely before the proxy receives the error of the missing server.
    const broken = Promise.withResolvers<number>();
    found = () => broken.promise;
    const socket = await RawSocket.open(proxy.url);
    socket.send(deliveryBytes({ body: "unseen" }));
    await fetch(`${proxy.url}${reachabilityCheck.path}`);
    broken.reject(new WebhookError("It throws.", { code: "SERVER_FILE_INVALID" }));
    expect((await socket.answer()).status).toBe(503);
    socket.close();
    await expect(proxy.replay()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    found = async () => port;
    await proxy.replay();
    expect(requests.at(-1)?.body).toBe("seen");
  });

  test("is not recorded if it was answered before its body had arrived", async () => {
    const { proxy, deliveries } = await openProxyTo((_incoming, outgoing) => outgoing.writeHead(500).end("no"));
    const socket = await openSocket(proxy.url);
    socket.send(deliveryBytes({ "Content-Length": "5", body: "half" }));
    expect((await socket.answer()).status).toBe(500);
    await expect.poll(() => deliveries).toMatchObject([{ endpoint: "retrain", status: 500 }]);
    expect(await proxy.replay()).toBeUndefined();
  });

  test("is recorded up to 10 MiB", { tags: "slow" }, async () => {
    const { requests, proxy } = await openRecorded();
    await post(proxy.url, "x".repeat(10 * 1024 * 1024));
    expect((await post(proxy.url, "y".repeat(10 * 1024 * 1024 + 1))).status).toBe(200);
    await proxy.replay();
    expect(requests.at(-1)?.body).toBe("x".repeat(10 * 1024 * 1024));
  });
});

describe("The cleanup of the dev proxy", () => {
  test("clears the timer once the port of the server is known", async () => {
    const timers = watchTimers();
    const { requests, proxy } = await openRecorded({ serverTimeoutMs: 54_321 });
    await post(proxy.url);
    expect(requests).toHaveLength(1);
    expect(timers.of(54_321)).toMatchObject([{ cleared: 1 }]);
  });

  test("closes its connections to the server with the proxy", async () => {
    const { proxy, server } = await openProxyTo((_incoming, outgoing) => outgoing.end());
    const connected = once(server, "connection");
    server.keepAliveTimeout = 0;
    await post(proxy.url);
    const [socket] = await connected;
    const closed = once(socket, "close");
    await proxy.close();
    await closed;
  });
});

test.each<[what: string, first: number, isTaken: (port: number) => boolean, tried: number[]]>([
  ["the next free port if the first one is in use", 7860, (port) => port < 7863, [7860, 7861, 7862, 7863]],
  [
    "the choice of the system if the first port and the next 20 are in use",
    7860,
    (port) => port !== 0,
    [...Array.from({ length: 21 }, (_, index) => 7860 + index), 0],
  ],
  ["no port that fetch refuses", 5058, (port) => port < 5063, [5058, 5059, 5062, 5063]],
])("listenOnFreePort uses %s", async (_what, first, isTaken, expected) => {
  const tried: number[] = [];
  const listening = listenOnFreePort(first, async (port) => {
    tried.push(port);
    if (isTaken(port)) throw new WebhookError("The port is in use.", { code: "PORT_IN_USE" });
    return port;
  });
  expect([await listening, tried]).toEqual([expected.at(-1), expected]);
});

test("listenOnFreePort throws any other error", async () => {
  const listen = () => Promise.reject(new Error("EACCES"));
  await expect(listenOnFreePort(80, listen)).rejects.toThrow("EACCES");
});

import { createServer, type IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/testing.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type RawRequest, RawSocket, requestBytes } from "../../support/raw-socket.ts";

const secret = "s3cret";
const server = new WebhooksServer({ secret, logger: createMemoryLogger() });
server.webhook("acme/echo", async ({ repo }, { request }) => ({
  repo: repo.name,
  method: request?.method,
  url: request?.url,
  headers: Object.fromEntries(request?.headers ?? []),
}));
server.webhook("own", async () => new Response("made", { status: 201, headers: { "x-own": "yes" } }));
server.webhook("nothing", async () => undefined);
server.webhook("hello", async () => "Grüße 🪝");
server.webhook("fails", async () => {
  throw new Error("not shown");
});
server.webhook("picky", { scope: "discussion" }, async () => "never");

let url: string;
beforeAll(async () => {
  ({ url } = await server.launch({ port: 0, host: "127.0.0.1" }));
});
afterAll(() => server.close());

const body = JSON.stringify(webhookPayload("repo.content", { repo: { name: "acme/data" } }));
const headers = {
  Host: "receiver.example:8080",
  "Content-Type": "application/json",
  "Webhook-Id": "d-1",
  "X-Webhook-Secret": secret,
};

async function ask(request: RawRequest) {
  const socket = await RawSocket.open(url);
  try {
    socket.send(requestBytes(request));
    const { status, headers, text } = await socket.answer();
    return {
      status,
      type: headers.get("content-type"),
      // One path sends an empty body without Content-Length.
      length: headers.get("content-length") ?? "0",
      own: headers.get("x-own"),
      allow: headers.get("allow"),
      text,
    };
  } finally {
    socket.close();
  }
}

describe("A direct delivery", () => {
  test.each([
    ["is handled", "acme/echo", {}],
    ["with a Response of the handler's own", "own", {}],
    ["with nothing to say", "nothing", {}],
    ["with more than ASCII", "hello", {}],
    ["whose handler fails", "fails", {}],
    ["that is ignored", "picky", {}],
    ["without the secret", "own", { headers: { ...headers, "X-Webhook-Secret": undefined } }],
    ["with a wrong secret", "own", { headers: { ...headers, "X-Webhook-Secret": "wrong" } }],
    ["with the secret twice", "own", { headers: { ...headers, "X-Webhook-Secret": [secret, secret] } }],
    ["with a media type other than JSON", "own", { headers: { ...headers, "Content-Type": "text/plain" } }],
    ["that is compressed", "own", { headers: { ...headers, "Content-Encoding": "gzip" } }],
    ["with a body that is not JSON", "own", { body: "{" }],
    ["that is not UTF-8", "own", { body: Uint8Array.of(0x22, 0xff, 0x22) }],
    ["that is no payload", "own", { body: "{}" }],
    ["that is announced as too large", "own", { headers: { ...headers, "Content-Length": "99999999" } }],
    ["with another method", "own", { method: "PUT" }],
  ])("%s gets the same response as on the routed path", async (_what, endpoint, changes: Partial<RawRequest>) => {
    const request = { path: `/webhooks/${endpoint}`, headers, body, ...changes };
    const short = await ask(request);
    // A request with a query, even an empty one, takes the routed path.
    const long = await ask({ ...request, path: `${request.path}?` });
    expect(JSON.stringify(short).replaceAll("?", "")).toBe(JSON.stringify(long).replaceAll("?", ""));
  });

  test("passes the request with its URL and headers, without the secret", async () => {
    const { text } = await ask({ path: "/webhooks/acme/echo", headers: { ...headers, "X-Twice": ["a", "b"] }, body });
    expect(JSON.parse(text)).toEqual({
      repo: "acme/data",
      method: "POST",
      url: "http://receiver.example:8080/webhooks/acme/echo",
      headers: {
        "content-length": String(body.length),
        "content-type": "application/json",
        host: "receiver.example:8080",
        "webhook-id": "d-1",
        "x-twice": "a, b",
      },
    });
  });
});

test.each([
  ["a path that has to be decoded", { path: "/webhooks/%6fwn" }, 201],
  ["a query", { path: "/webhooks/own?from=hub" }, 201],
  ["no host", { path: "/webhooks/own", headers: { ...headers, Host: undefined } }, 400],
])("A request that does not look like a delivery of the Hub is routed by Hono %s", async (_what, request, status) => {
  expect((await ask({ headers, body, ...request })).status).toBe(status);
});

describe("The response to a delivery", () => {
  /** The response of the handler and the route of this server. */
  let respond: () => Response | Promise<Response>;
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  server.webhook("own", () => respond());
  server.app.post("/own", () => respond());
  server.app.get("/own", () => respond());

  let url: string;
  beforeAll(async () => {
    ({ url } = await server.launch({ port: 0, host: "127.0.0.1" }));
  });
  beforeEach(() => void logger.lines.splice(0));
  afterAll(() => server.close());

  const body = JSON.stringify(webhookPayload("repo.content"));
  const headers = { Host: "receiver.example", "Content-Type": "application/json" };

  /** Sends two requests on one connection. A broken first response also breaks the second. */
  async function askTwice(path: string) {
    const socket = await RawSocket.open(url);
    try {
      const request = requestBytes({ path, headers, body });
      const first = await socket.send(request).answer();
      const second = await socket.send(request).answer();
      return { first, second, rest: socket.rest };
    } finally {
      socket.close();
    }
  }

  /** Starts an upstream server whose response the receiver passes on. */
  async function withUpstream(
    answered: { headers: IncomingHttpHeaders; body: Buffer | string },
    use: (url: string) => Promise<void>,
  ) {
    const upstream = createServer((_incoming, outgoing) =>
      outgoing.writeHead(200, answered.headers).end(answered.body),
    );
    await use((await listen(upstream)).url);
  }

  const hopByHop = {
    trailer: "x-check",
    te: "trailers",
    upgrade: "h2c",
    "proxy-authenticate": "Basic",
    "keep-alive": "timeout=9",
  };

  describe.each([
    ["the short way", "/webhooks/own"],
    ["the long way", "/webhooks/own?"],
    ["a route of your own", "/own"],
  ])("A Response on %s", (_way, path) => {
    test.each<[string, Record<string, string>]>([
      ["too long a length", { "content-length": "1000" }],
      ["too short a length", { "content-length": "1" }],
      ["chunks", { "transfer-encoding": "chunked" }],
      ["chunks inside gzip", { "transfer-encoding": "gzip, chunked" }],
      ["both", { "content-length": "1000", "transfer-encoding": "chunked" }],
      ["a trailer", { trailer: "x-check" }],
      ["a trailer and a length", { trailer: "x-check", "content-length": "4" }],
      ["every hop-by-hop header", hopByHop],
    ])("that claims %s is framed by its body", async (_what, claimed) => {
      for (const make of [() => "done", () => new TextEncoder().encode("done"), () => new Blob(["done"]).stream()]) {
        respond = () => new Response(make(), { status: 201, headers: { ...claimed, "x-own": "yes" } });
        const { first, second, rest } = await askTwice(path);
        for (const { status, headers, text } of [first, second]) {
          expect([status, text, headers.get("x-own")]).toEqual([201, "done", "yes"]);
          for (const name of Object.keys(hopByHop)) if (name !== "keep-alive") expect(headers.get(name)).toBeNull();
          expect(headers.get("content-length") === "4" || headers.get("transfer-encoding") === "chunked").toBe(true);
        }
        expect(rest).toBe("");
      }
      expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
    });

    test.each([204, 205, 304])("without a body and with a length keeps the connection usable: %i", async (status) => {
      respond = () => new Response(null, { status, headers: { "content-length": "0", trailer: "x-check" } });
      const socket = await RawSocket.open(url);
      const request = requestBytes({ path, headers, body });
      for (let count = 0; count < 2; count += 1) {
        const answer = await socket.send(request).answer({ toHead: status !== 205 });
        expect([answer.status, answer.text]).toEqual([status, ""]);
      }
      socket.close();
    });

    test("of fetch is sent uncompressed, with its own framing", async () => {
      const packed = gzipSync("done");
      await withUpstream(
        { headers: { "content-encoding": "gzip", connection: "close" }, body: packed },
        async (upstream) => {
          respond = async () => {
            const answer = await fetch(upstream);
            return path === "/own" ? new Response(await answer.text()) : answer;
          };
          const { first, second } = await askTwice(path);
          expect([first.text, second.text]).toEqual(["done", "done"]);
          expect(first.headers.get("content-encoding")).toBeNull();
        },
      );
    });

    test("with a header that is not valid in HTTP is answered with 500, with one log line", async () => {
      respond = () => new Response("done", { headers: { "x-own": "planted\u0001" } });
      const { first, second } = await askTwice(path).catch(async () => {
        const socket = await RawSocket.open(url);
        const answer = await socket.send(requestBytes({ path, headers, body })).answer();
        socket.close();
        return { first: answer, second: answer };
      });
      expect([first.status, second.status]).toEqual([500, 500]);
      expect(first.text).not.toContain("planted");
      expect(logger.lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
    });

    test("keeps every cookie", async () => {
      respond = () =>
        new Response("done", {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
          ],
        });
      const { first } = await askTwice(path);
      expect(first.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    });
  });

  test.each([
    ["HEAD", 200],
    ["GET", 304],
  ])(
    "A response to %s with status %i keeps the length of the body that it does not contain",
    async (method, status) => {
      respond = () => new Response(null, { status, headers: { "content-length": "1000" } });
      const socket = await RawSocket.open(url);
      const request = requestBytes({ method, path: "/own", headers: { ...headers, "Content-Length": undefined } });
      for (let count = 0; count < 2; count += 1) {
        const answer = await socket.send(request).answer({ toHead: true });
        expect([answer.status, answer.headers.get("content-length")]).toEqual([status, "1000"]);
      }
      socket.close();
    },
  );
});

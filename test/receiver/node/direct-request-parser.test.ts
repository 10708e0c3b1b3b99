import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/testing.ts";
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
  throw new Error("not told");
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

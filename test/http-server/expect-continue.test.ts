import { stream } from "hono/streaming";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { openSocket } from "../receiver/node/open-listener.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { requestBytes } from "../support/raw-socket.ts";

const secret = "s3cret";
const server = new WebhooksServer({ secret, bodyLimit: 10_000, logger: createMemoryLogger() });
server.webhook("own", () => ({ done: true }));
server.app.post("/upload", async (context) => context.json({ length: (await context.req.text()).length }));
server.app.post("/ignored", (context) => context.json({ ignored: true }));
let startReading = Promise.withResolvers<void>();
server.app.post("/streamed", (context) => {
  const { body } = context.req.raw;
  return stream(context, async (answer) => {
    await answer.write("started ");
    await startReading.promise;
    if (body) await answer.pipe(body);
  });
});

let url: string;
beforeAll(async () => {
  ({ url } = await server.launch({ port: 0, host: "127.0.0.1" }));
});
afterAll(() => server.close());

const body = JSON.stringify(webhookPayload("repo.content"));

/** Sends the headers of a request that waits for 100 Continue before its body. */
async function announce(path: string, headers: Record<string, string | undefined> = {}, method = "POST") {
  const socket = await openSocket(url);
  const all = {
    Host: "receiver.example",
    Expect: "100-continue",
    "Content-Type": "application/json",
    "X-Webhook-Secret": secret,
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  };
  return socket.send(requestBytes({ method, path, headers: all, body: "" }));
}

describe.each([
  ["short", ""],
  ["long", "?"],
])("On the %s path, a request with Expect: 100-continue", (_way, query) => {
  test("gets 100 Continue if its body is read", async () => {
    const socket = await announce(`/webhooks/own${query}`);
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    expect((await socket.send(body).answer()).text).toBe('{"done":true}');
  });

  test("may send its body without waiting", async () => {
    const socket = await announce(`/webhooks/own${query}`);
    socket.send(body);
    await expect.poll(() => socket.rest).toContain('{"done":true}');
    expect(socket.rest.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 200"]);
  });

  test.each([
    ["without the secret", "own", { "X-Webhook-Secret": undefined }, "POST", 401],
    ["with a wrong secret", "own", { "X-Webhook-Secret": "wrong" }, "POST", 403],
    ["for no endpoint", "none", {}, "POST", 404],
    ["with another method", "own", {}, "PUT", 405],
    ["with too large a body", "own", { "Content-Length": "10001" }, "POST", 413],
    ["with another media type", "own", { "Content-Type": "text/plain" }, "POST", 415],
    ["that is compressed", "own", { "Content-Encoding": "gzip" }, "POST", 415],
  ])("%s is refused before it sends its body", async (_what, endpoint, headers, method, status) => {
    const socket = await announce(`/webhooks/${endpoint}${query}`, headers, method);
    expect((await socket.answer()).status).toBe(status);
    await socket.ended;
    expect(socket.rest).toBe("");
  });
});

describe("A route of your own", () => {
  test("that reads the body sends 100 Continue", async () => {
    const socket = await announce("/upload");
    expect((await socket.answer({ toHead: true })).status).toBe(100);
    expect((await socket.send(body).answer()).text).toBe(JSON.stringify({ length: body.length }));
  });

  test("that does not read it answers immediately", async () => {
    const socket = await announce("/ignored");
    expect((await socket.answer()).text).toBe('{"ignored":true}');
    await socket.ended;
    expect(socket.rest).toBe("");
  });

  test("that has started its response does not send 100 Continue in the middle of it", async () => {
    startReading = Promise.withResolvers();
    const socket = await announce("/streamed", { Connection: "close" });
    expect((await socket.answer({ toHead: true })).status).toBe(200);
    startReading.resolve();
    await socket.send(body).ended;
    expect(socket.rest).toContain("started ");
    expect(socket.rest).toContain(body);
    expect(socket.rest).not.toContain("100 Continue");
  });
});

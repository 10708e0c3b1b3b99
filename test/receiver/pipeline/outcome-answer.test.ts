import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

/** Creates a server whose handler returns `result`, and a delivery for it. */
function createReturning(result: unknown) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  server.webhook("answer", () => result);
  return { server, logger, request: deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }) };
}

/** An instance of the runtime's own class. A launch may replace the global `Response`. */
const early = new Response("early", { status: 203 });

/** Returns a body that consists of these parts. An error ends it. */
function streamOf(...parts: readonly (string | Error)[]): ReadableStream<Uint8Array> {
  const pending = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = pending.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(new TextEncoder().encode(part));
    },
  });
}

const circular: { self?: unknown } = {};
circular.self = circular;

describeOverBothTransports("The result of a handler", (send) => {
  test.each([
    ["an object", { trained: true }, '{"trained":true}'],
    ["a list", [1, "two"], '[1,"two"]'],
    ["a string", "trained", '"trained"'],
    ["a number", 3, "3"],
    ["false", false, "false"],
    ["null", null, "null"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["nothing", undefined, ""],
    ["a function", () => {}, ""],
    ["a symbol", Symbol("done"), ""],
  ])("is answered as JSON, or with an empty body: %s", async (_what, result, text) => {
    const { server, request } = createReturning(result);
    const response = await send(server, request);
    const type = text === "" ? null : "application/json";
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, type, text]);
  });

  test.each<[string, () => unknown, unknown[]]>([
    ["with headers", () => new Response("<done/>", { status: 201, headers: { "x-job": "7" } }), [201, "7", "<done/>"]],
    ["with a streamed body", () => new Response(streamOf("train", "ed"), { status: 202 }), [202, null, "trained"]],
    ["made before the launch", () => early.clone(), [203, null, "early"]],
    ["returned by fetch", () => fetch("data:text/plain,fetched"), [200, null, "fetched"]],
  ])("is sent unchanged if it is a Response %s", async (_how, respond, answered) => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("answer", respond);
    const response = await send(server, deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }));
    expect([response.status, response.headers.get("x-job"), await response.text()]).toEqual(answered);
  });

  test("is a failure if the body of the Response fails", async () => {
    const thrown = new Error("no GPU is free");
    const { server, logger, request } = createReturning(new Response(streamOf("train", thrown)));
    const response = await send(server, request);
    expect([response.status, await response.json()]).toMatchObject([500, { code: "HANDLER_FAILED" }]);
    expect(logger.lines).toContainEqual(expect.objectContaining({ outcome: "failed", status: 500, err: thrown }));
  });

  test("is a failure if the body of the Response was already read or has no bytes, or if it is Response.error()", async () => {
    const used = new Response("used");
    await used.text();
    const text = new ReadableStream<string>({
      start(stream) {
        stream.enqueue("text");
        stream.close();
      },
    });
    for (const result of [used, Response.error(), new Response(text)]) {
      const { server, request } = createReturning(result);
      const response = await send(server, request);
      expect([response.status, await response.json()]).toMatchObject([500, { code: "HANDLER_FAILED" }]);
    }
  });

  test("is cancelled at the timeout if the body of the Response does not end", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const cancel = vi.fn();
    server.webhook("answer", { timeout: 10 }, () => new Response(new ReadableStream({ cancel })));
    const response = await send(server, deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }));
    expect([response.status, await response.json()]).toMatchObject([504, { code: "HANDLER_TIMED_OUT" }]);
    expect(cancel).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "HANDLER_TIMED_OUT" }));
  });

  test("keeps its Content-Encoding if the handler has compressed it", async () => {
    const headers = { "content-encoding": "gzip" };
    const { server, request } = createReturning(new Response(gzipSync("trained"), { headers }));
    const { status, headers: answered } = await send(server, request);
    // Over a socket, the client has already decompressed the body.
    expect([status, answered.get("content-encoding")]).toEqual([200, "gzip"]);
  });

  test.each([
    ["a BigInt", { steps: 10n }],
    ["a circular object", circular],
    [
      "an object that cannot say what it is",
      {
        toJSON() {
          throw new Error("no words");
        },
      },
    ],
  ])("is answered with 500 if it is %s, and logged as a failure", async (_what, result) => {
    const { server, logger, request } = createReturning(result);
    const response = await send(server, request);
    expect([response.status, await response.json()]).toEqual([
      500,
      {
        error: "The handler returned a value that cannot be converted to JSON. Return plain data.",
        code: "RESULT_NOT_JSON",
      },
    ]);
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([
      expect.objectContaining({ outcome: "failed", code: "RESULT_NOT_JSON", err: expect.any(Error) }),
    ]);
  });
});

test("A Response of the handler loses its Content-Length, which may be that of another connection", async () => {
  const { server, request } = createReturning(new Response("three", { headers: { "content-length": "1234" } }));
  const response = await server.fetch(request);
  expect([response.headers.get("content-length"), await response.text()]).toEqual([null, "three"]);
});

const payload = webhookPayload("repo");

describeOverBothTransports("The Response of a handler", (send) => {
  test("has no body and no length from a HEAD request", async () => {
    const upstream = createServer((_request, response) => response.setHeader("content-length", "1234").end());
    const { url } = await listen(upstream);
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("head", () => fetch(url, { method: "HEAD" }));
    const response = await send(server, deliveryRequest({ endpoint: "head", payload }));
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("counts as a failure if its status is not 2xx", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    server.webhook("busy", () => new Response("later", { status: 503 }));
    expect((await send(server, deliveryRequest({ endpoint: "busy", payload }))).status).toBe(503);
    expect(logger.lines.find(({ status }) => status === 503)).toMatchObject({
      level: "error",
      outcome: "failed",
      endpoint: "busy",
    });
    expect(await (await server.request("/")).text()).toContain("failed");
  });
});

test("A Response that the handler returns after the timeout is cancelled", async () => {
  const [work, cancelled] = [Promise.withResolvers<Response>(), Promise.withResolvers<void>()];
  const server = new WebhooksServer({ logger: createMemoryLogger() });
  server.webhook("late", { timeout: 1 }, () => work.promise);
  expect((await server.fetch(deliveryRequest({ endpoint: "late", payload }))).status).toBe(504);
  const pull = vi.fn();
  const cancel = () => cancelled.resolve();
  work.resolve(new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 })));
  await cancelled.promise;
  expect(pull).not.toHaveBeenCalled();
});

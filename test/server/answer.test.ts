import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { describeOverBothTransports } from "../support/transport.ts";

/** Has a handler that returns `result` answer a delivery. */
function createReturning(result: unknown) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  server.webhook("answer", () => result);
  return { server, logger, request: deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }) };
}

/** Made of the runtime's own class, before a launch could put another in its place. */
const early = new Response("early", { status: 203 });

const circular: { self?: unknown } = {};
circular.self = circular;

describeOverBothTransports("What a handler returns", (send) => {
  test.each([
    ["an object", { trained: true }, '{"trained":true}'],
    ["a list", [1, "two"], '[1,"two"]'],
    ["a string", "trained", '"trained"'],
    ["a number", 3, "3"],
    ["false", false, "false"],
    ["null", null, "null"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])("is answered as JSON: %s", async (_what, result, text) => {
    const { server, request } = createReturning(result);
    const response = await send(server, request);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/json",
      text,
    ]);
  });

  test.each([
    ["nothing", undefined],
    ["a function", () => {}],
    ["a symbol", Symbol("done")],
  ])("is answered with 200 and an empty body where it is %s", async (_what, result) => {
    const { server, request } = createReturning(result);
    const response = await send(server, request);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, null, ""]);
  });

  test("is answered as it is where it is a Response", async () => {
    const { server, request } = createReturning(
      new Response("<done/>", { status: 201, headers: { "content-type": "application/xml", "x-job": "7" } }),
    );
    const response = await send(server, request);
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-job")]).toEqual([
      201,
      "application/xml",
      "7",
    ]);
    expect(await response.text()).toBe("<done/>");
  });

  test.each([
    ["made before the launch", () => early.clone(), [203, "early"]],
    ["fetched from elsewhere", () => fetch("data:text/plain,fetched"), [200, "fetched"]],
  ])("is answered as it is where it is a Response %s", async (_how, respond, answered) => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("answer", respond);
    const response = await send(server, deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }));
    expect([response.status, await response.text()]).toEqual(answered);
  });

  test.each([
    ["a BigInt", { steps: 10n }],
    ["a circle", circular],
    [
      "an object that cannot say what it is",
      {
        toJSON() {
          throw new Error("no words");
        },
      },
    ],
  ])("is answered with 500 where it is %s, and logged as a failure", async (_what, result) => {
    const { server, logger, request } = createReturning(result);
    const response = await send(server, request);
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: "The handler returned something that is not JSON.", code: "RESULT_NOT_JSON" },
    ]);
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([
      expect.objectContaining({ outcome: "failed", code: "RESULT_NOT_JSON", err: expect.any(Error) }),
    ]);
  });
});

describe("A failure", () => {
  test("is answered without what was thrown, its message or its stack", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("answer", () => {
      throw new Error("planted-message");
    });
    const response = await server.fetch(deliveryRequest({ endpoint: "answer", payload: webhookPayload("repo") }));
    const text = await response.text();
    expect(text).toBe('{"error":"The handler of endpoint \\"answer\\" failed.","code":"HANDLER_FAILED"}');
    expect(JSON.stringify([...response.headers])).not.toContain("planted");
  });
});

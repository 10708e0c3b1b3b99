import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

function post(body: string | Uint8Array<ArrayBuffer> | null, headers: Record<string, string> = {}) {
  return new Request("http://localhost/webhooks/inbox", { method: "POST", headers, body });
}

/** A schema without a library: it accepts an even number and passes half of it to the handler. */
const halved: StandardSchemaV1<number, { half: number }> = {
  "~standard": {
    version: 1,
    vendor: "by-hand",
    validate: (value) =>
      typeof value === "number" && value % 2 === 0
        ? { value: { half: value / 2 } }
        : { issues: [{ message: "expected an even number" }] },
  },
};

describeOverBothTransports("An endpoint with `schema: null`", (send) => {
  function echo() {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("inbox", { schema: null }, (payload, { delivery }) => ({ payload, body: delivery.body }));
    return server;
  }

  test.each([
    ["JSON", '{"any":1}', { "content-type": "application/json" }],
    ["broken JSON", "{", { "content-type": "application/json" }],
    ["a text", "h\u00e9llo", { "content-type": "text/plain" }],
    ["a form", "a=1&b=2", { "content-type": "application/x-www-form-urlencoded" }],
    ["a body of no type", "<x/>", { "content-type": "" }],
    ["an empty body", "", {}],
    ["no body", null, {}],
    ["deep nesting", "[".repeat(7_000), { "content-type": "application/json" }],
  ])("accepts %s, and passes it to the handler as the delivery's body", async (_what, body, headers) => {
    const response = await send(echo(), post(body, headers));
    expect([response.status, await response.json()]).toEqual([200, { payload: null, body: body ?? "" }]);
  });
});

describe("An endpoint with its own schema", () => {
  const json = { "content-type": "application/json" };

  test("passes the output of a zod schema to the handler", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const schema = z.object({
      at: z.iso.date().transform((date) => Number(date.slice(0, 4))),
      rest: z.string().default("none"),
    });
    server.webhook("inbox", { schema }, (payload) => [payload.at, payload.rest]);
    const response = await server.fetch(post('{"at":"2026-09-01","unknown":1}', json));
    expect([response.status, await response.json()]).toEqual([200, [2026, "none"]]);
  });

  test("answers 422 with the path that does not match the schema", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const handler = vi.fn();
    server.webhook("inbox", { schema: z.object({ list: z.array(z.object({ size: z.number() })) }) }, handler);
    const response = await server.fetch(post('{"list":[{"size":1},{"size":"planted"}]}', json));
    const { error, code } = await response.json();
    expect([response.status, code]).toEqual([422, "PAYLOAD_INVALID"]);
    expect(error).toMatch(/^Invalid payload: list\.1\.size: /);
    expect(error).not.toContain("planted");
    expect(handler).not.toHaveBeenCalled();
  });

  test("accepts a hand-written Standard Schema", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("inbox", { schema: halved }, ({ half }) => half);
    const fits = await server.fetch(post("42", json));
    expect([fits.status, await fits.json()]).toEqual([200, 21]);
    const odd = await server.fetch(post("43", json));
    expect([odd.status, await odd.json()]).toEqual([
      422,
      { error: "Invalid payload: payload: expected an even number.", code: "PAYLOAD_INVALID" },
    ]);
  });

  test("waits for an asynchronous schema", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const schema = z.string().refine(async (name) => name !== "taken", "already taken");
    server.webhook("inbox", { schema }, (name) => name);
    const fits = await server.fetch(post('"free"', json));
    expect([fits.status, await fits.json()]).toEqual([200, "free"]);
    const taken = await server.fetch(post('"taken"', json));
    expect([taken.status, await taken.json()]).toMatchObject([
      422,
      { error: "Invalid payload: payload: already taken." },
    ]);
  });

  test("answers 500 when the schema throws, and logs the reason", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    const schema = z.unknown().transform(() => {
      throw new Error("the schema is broken");
    });
    server.webhook("inbox", { schema }, () => "never");
    const response = await server.fetch(post("1", json));
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: "An internal error occurred. See the server's log.", code: "INTERNAL" },
    ]);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "error", endpoint: "inbox", err: new Error("the schema is broken") }),
    );
  });
});

describe("An endpoint with a schema and a filter", () => {
  const schema = z.object({ repo: z.object({ name: z.templateLiteral([z.string(), "/data"]) }) });

  async function answer(payload: unknown) {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("inbox", { schema, repo: "dataset:acme/**" }, (output) => output);
    const response = await server.fetch(deliveryRequest({ endpoint: "inbox", payload }));
    return { status: response.status, body: await response.json() };
  }

  test("passes the schema's output to the handler if both match", async () => {
    expect(await answer(webhookPayload("repo"))).toEqual({ status: 200, body: { repo: { name: "acme/data" } } });
  });

  test("answers 422 to a body that matches the schema but is not a payload of the Hub", async () => {
    expect(await answer({ repo: { name: "acme/data" } })).toMatchObject({
      status: 422,
      body: { code: "PAYLOAD_INVALID" },
    });
  });

  test("answers 422 to a payload that matches the filter but not the schema", async () => {
    const payload = webhookPayload("repo", { repo: { name: "acme/other" } });
    expect(await answer(payload)).toMatchObject({ status: 422, body: { error: expect.stringContaining("repo.name") } });
  });
});

test("An endpoint's schema is not called if the filter ignores the delivery", async () => {
  const server = new WebhooksServer({ logger: createMemoryLogger() });
  const validate = vi.fn(halved["~standard"].validate);
  const schema = { "~standard": { ...halved["~standard"], validate } };
  server.webhook("inbox", { schema, action: "delete" }, () => {});
  expect(await server.receive(webhookPayload("repo"))).toMatchObject({ status: "ignored" });
  expect(validate).not.toHaveBeenCalled();
});

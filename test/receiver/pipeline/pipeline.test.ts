import { setImmediate } from "node:timers/promises";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expect, test, vi } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const json = { "content-type": "application/json" };
const encoded = { "content-type": "text/plain", "content-encoding": "br" };

function post(path: string, headers: Record<string, string> = json, body = JSON.stringify(webhookPayload("repo"))) {
  return new Request(`http://localhost${path}`, { method: "POST", headers, body });
}

/** Creates a server with the endpoint `retrain`. */
function createServer(options: WebhooksServerOptions = {}) {
  const server = new WebhooksServer({ logger: createMemoryLogger(), ...options });
  const handler = vi.fn();
  server.webhook("retrain", handler);
  return { server, handler };
}

/** Returns the parts of a response that a client sees. */
async function seen(response: Response) {
  return { status: response.status, body: await response.json() };
}

describeOverBothTransports("A delivery", (send) => {
  test("runs only the endpoint in its path", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const other = vi.fn();
    server.webhook("acme/retrain", (payload) => ({ repo: payload.repo.name }));
    server.webhook("acme", other);
    server.webhook("retrain", other);
    const request = deliveryRequest({ endpoint: "acme/retrain", payload: webhookPayload("repo.content") });
    expect(await seen(await send(server, request))).toEqual({ status: 200, body: { repo: "acme/data" } });
    expect(other).not.toHaveBeenCalled();
  });

  test.each([
    ...["/webhooks/unknown", "/webhooks/", "/webhooks", "/webhooks/retrain/", "/webhooks/retrain/more"],
    ...["/webhooks//retrain", "/webhooks/RETRAIN", "/webhooks/__proto__", "/webhooks/constructor"],
    ...["/webhooks/..%2fretrain", "/webhooks/retrain%00", "/webhooks/%2e%2e%2fretrain", "/webhooks/%E0%A4%A"],
  ])("to %s, which is not an endpoint, is refused with 404", async (path) => {
    const { server, handler } = createServer();
    expect(await seen(await send(server, post(path)))).toEqual({
      status: 404,
      body: {
        error: "The server has no endpoint at this URL. Check the URL of the webhook.",
        code: "ENDPOINT_UNKNOWN",
      },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])("sent with %s is answered with 405", async (method) => {
    const { server, handler } = createServer({ secret: "s3cret" });
    const response = await send(server, new Request("http://localhost/webhooks/retrain", { method }));
    expect(response.headers.get("allow")).toBe("POST");
    expect(await seen(response)).toEqual({
      status: 405,
      body: { error: `Method "${method}" is not allowed. Send deliveries with POST.`, code: "METHOD_NOT_ALLOWED" },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test("sent with HEAD is answered with 405 and no body", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", () => {});
    const response = await send(server, new Request("http://localhost/webhooks/retrain", { method: "HEAD" }));
    expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([405, "POST", ""]);
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "APPLICATION/JSON",
    "application/vnd.hub+json",
    "application/cloudevents+json; charset=utf-8",
  ])("of the media type %s is accepted", async (type) => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", () => "done");
    const response = await send(server, post("/webhooks/retrain", { "content-type": type }));
    expect(await seen(response)).toEqual({ status: 200, body: "done" });
  });

  test.each([
    ...["text/plain", "text/plain; x=application/json", "application/x-www-form-urlencoded", "application/jsonp"],
    ...["application/json-patch", "application/xml, application/json", ""],
  ])("of the media type %j is refused with 415", async (type) => {
    const { server, handler } = createServer();
    expect(await seen(await send(server, post("/webhooks/retrain", { "content-type": type })))).toEqual({
      status: 415,
      body: {
        error: 'The Content-Type of the request is not JSON. Set it to "application/json".',
        code: "MEDIA_TYPE_UNSUPPORTED",
      },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    ["an unknown endpoint, before all other faults", "/webhooks/none", {}, 404],
    ["a missing secret, before the media type", "/webhooks/retrain", { "content-type": "text/plain" }, 401],
    ["a wrong secret, before the encoding", "/webhooks/retrain", { "x-webhook-secret": "x", ...encoded }, 403],
    ["the media type, before the encoding", "/webhooks/retrain", { "x-webhook-secret": "s3cret", ...encoded }, 415],
    ["the size, before the JSON", "/webhooks/retrain", { "x-webhook-secret": "s3cret", ...json }, 413],
  ])("with several faults is refused because of %s", async (_which, path, headers, status) => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret", bodyLimit: 10 });
    server.webhook("retrain", () => {});
    expect((await send(server, post(path, headers, "no JSON and too long"))).status).toBe(status);
  });

  test("with an invalid payload is answered with 422 and the first invalid paths without their values", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    const handler = vi.fn();
    server.webhook("retrain", handler);
    const payload = { ...webhookPayload("repo"), event: { action: 5, scope: "repo" }, repo: "planted-value" };
    const answer = await seen(await send(server, deliveryRequest({ endpoint: "retrain", payload })));
    expect(answer).toMatchObject({ status: 422, body: { code: "PAYLOAD_INVALID" } });
    expect(answer.body.error).toMatch(/^Invalid payload: event\.action: .+; repo: .+\.$/);
    expect(JSON.stringify(answer) + logger.text()).not.toContain("planted-value");
    expect(handler).not.toHaveBeenCalled();
  });

  test("that the filter ignores is answered with 200 and the reason", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const handler = vi.fn();
    server.webhook("retrain", { repo: "model:acme/*" }, handler);
    const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo") });
    expect(await seen(await send(server, request))).toEqual({
      status: 200,
      body: { ignored: "repo dataset:acme/data is not model:acme/*" },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test("with an unknown scope, action, repository type and version is handled", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", (payload) => payload);
    const payload = {
      event: { action: "archive", scope: "repo.seals", at: "2031-01-01" },
      repo: { ...webhookPayload("repo").repo, type: "scroll" },
      webhook: { id: "6390e855e30d9209411de93b", version: 4 },
      updatedSeals: [{ seal: 1 }],
    };
    const response = await send(server, deliveryRequest({ endpoint: "retrain", payload }));
    expect(await seen(response)).toEqual({ status: 200, body: payload });
  });

  test("passes its body unchanged to the handler: spaces, big integers and duplicate keys", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", (_payload, { delivery }) => ({ body: delivery.body }));
    const body = JSON.stringify(webhookPayload("repo"), null, 3).replace(
      "{",
      '{ "serial": 12345678901234567890, "x": 1, "x": 2, ',
    );
    expect(await seen(await send(server, post("/webhooks/retrain", json, body)))).toEqual({
      status: 200,
      body: { body },
    });
  });

  test("that carries a __proto__ key changes no prototype", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", (payload) => [Reflect.has({}, "polluted"), Object.keys(payload).includes("__proto__")]);
    const body = JSON.stringify(webhookPayload("repo")).replace("{", '{ "__proto__": { "polluted": true }, ');
    expect(await seen(await send(server, post("/webhooks/retrain", json, body)))).toEqual({
      status: 200,
      body: [false, true],
    });
  });
});

describeOverBothTransports("The id of a delivery", (send) => {
  async function idOf(headers: Record<string, string>) {
    const server = new WebhooksServer({ logger: createMemoryLogger(), createId: () => "made-here" });
    server.webhook("retrain", (_payload, { delivery }) => delivery.id);
    return (await send(server, post("/webhooks/retrain", { ...json, ...headers }))).json();
  }

  test.each(["0b3f-42", "7", "~".repeat(200)])("is its Webhook-Id: %s", async (id) => {
    expect(await idOf({ "webhook-id": id })).toBe(id);
  });

  test.each([
    ["the header is missing", {}],
    ["it is empty", { "webhook-id": "" }],
    ["it is too long", { "webhook-id": "x".repeat(201) }],
    ["it contains a space, as a duplicate header does", { "webhook-id": "one, two" }],
    ["it is not ASCII", { "webhook-id": "d\u00e9j\u00e0" }],
  ])("is generated if %s", async (_when, headers) => {
    expect(await idOf(headers)).toBe("made-here");
  });

  test("is generated and unique without a Webhook-Id", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", (_payload, { delivery }) => delivery.id);
    const first = await (await send(server, post("/webhooks/retrain"))).json();
    const second = await (await send(server, post("/webhooks/retrain"))).json();
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
  });
});

describeOverBothTransports("The context of a handler", (send) => {
  test("has the endpoint, the time of the injected clock and the first attempt", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), now: () => Date.UTC(2026, 8, 1) });
    server.webhook("retrain", (payload, { delivery }) => ({ ...delivery, samePayload: delivery.payload === payload }));
    const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), id: "d-1" });
    expect(await (await send(server, request)).json()).toEqual({
      id: "d-1",
      endpoint: "retrain",
      body: JSON.stringify(webhookPayload("repo")),
      payload: webhookPayload("repo"),
      receivedAt: "2026-09-01T00:00:00.000Z",
      attempt: 1,
      origin: "webhook",
      samePayload: true,
    });
  });

  test("has the request without its secret, so that it can be logged", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret", secretInQuery: true });
    server.webhook("retrain", (_payload, { request }) => [
      request?.method,
      request?.url.replace(/^.*(?=\/webhooks)/, ""),
      [...(request?.headers.values() ?? [])].includes("s3cret"),
    ]);
    const withHeader = await send(server, post("/webhooks/retrain?run=7", { ...json, "x-webhook-secret": "s3cret" }));
    expect(await withHeader.json()).toEqual(["POST", "/webhooks/retrain?run=7", false]);
    const inQuery = await send(server, post("/webhooks/retrain?secret=s3cret&run=7"));
    expect(await inQuery.json()).toEqual(["POST", "/webhooks/retrain?run=7", false]);
  });
});

/** Returns a schema that accepts any value and resolves `reached` when this number of deliveries has arrived. */
function countArrivals(expected: number) {
  const reached = Promise.withResolvers<void>();
  let arrivals = 0;
  const schema: StandardSchemaV1 = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate(value) {
        arrivals += 1;
        if (arrivals === expected) reached.resolve();
        return { value };
      },
    },
  };
  return {
    schema,
    async reached() {
      await reached.promise;
      await setImmediate();
    },
  };
}

describeOverBothTransports("A delivery that arrives again while it is running", (send) => {
  const again = () => deliveryRequest({ endpoint: "train", payload: {}, id: "d-1" });

  async function arriveTwice(end: (work: PromiseWithResolvers<unknown>) => void) {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    const arrivals = countArrivals(2);
    const work = Promise.withResolvers<unknown>();
    const handler = vi.fn(() => work.promise);
    server.webhook("train", { schema: arrivals.schema }, handler);
    const answers = Promise.all([send(server, again()), send(server, again())]);
    await arrivals.reached();
    end(work);
    const responses = await answers;
    // Over a socket, the responses can arrive in either order.
    responses.sort((left, right) => left.status - right.status);
    return { responses, handler, server, logger };
  }

  test("is not run again, and is answered with 202 after the run succeeds", async () => {
    const { responses, handler, logger } = await arriveTwice((work) => work.resolve({ trained: true }));
    expect(responses.map(({ status }) => status)).toEqual([200, 202]);
    expect(await Promise.all(responses.map((response) => response.json()))).toEqual([
      { trained: true },
      { deliveryId: "d-1", duplicate: true },
    ]);
    expect(handler).toHaveBeenCalledOnce();
    const lines = logger.lines.filter(({ msg }) => msg === "delivery succeeded");
    expect(lines.map(({ status, duplicate }) => ({ status, duplicate }))).toEqual(
      expect.arrayContaining([
        { status: 200, duplicate: undefined },
        { status: 202, duplicate: true },
      ]),
    );
  });

  test("is answered with the error response of the handler to both senders", async () => {
    const refusal = new Response("no GPU is free", { status: 409 });
    const { responses } = await arriveTwice((work) => work.resolve(refusal));
    expect(responses.map(({ status }) => status)).toEqual([409, 409]);
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(texts.sort()).toEqual(["", "no GPU is free"]);
  });

  test.each([
    ["throws", (work: PromiseWithResolvers<unknown>) => work.reject(new Error("no GPU is free"))],
    ["ends with something that is not JSON", (work: PromiseWithResolvers<unknown>) => work.resolve({ steps: 10n })],
    [
      "returns an error response",
      (work: PromiseWithResolvers<unknown>) => work.resolve(new Response("no GPU is free", { status: 500 })),
    ],
  ])("is answered with the failure where the handler %s, so that the Hub sends it again", async (_how, end) => {
    const { responses, handler } = await arriveTwice(end);
    expect(responses.map(({ status }) => status)).toEqual([500, 500]);
    expect(handler).toHaveBeenCalledOnce();
  });

  test("is run again if the first run has ended", async () => {
    const { handler, server } = await arriveTwice((work) => work.resolve("trained"));
    expect((await send(server, again())).status).toBe(200);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describeOverBothTransports("Two deliveries at the same time", (send) => {
  async function runs(first: { endpoint: string; id: string }, second: { endpoint: string; id: string }) {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const arrivals = countArrivals(2);
    const work = Promise.withResolvers<string>();
    const handler = vi.fn(() => work.promise);
    server.webhook("train", { schema: arrivals.schema }, handler);
    server.webhook("test", { schema: arrivals.schema }, handler);
    const answers = [first, second].map((one) => send(server, deliveryRequest({ ...one, payload: {} })));
    await arrivals.reached();
    work.resolve("done");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    return handler.mock.calls.length;
  }

  test("are both run if their IDs differ", async () => {
    expect(await runs({ endpoint: "train", id: "d-1" }, { endpoint: "train", id: "d-2" })).toBe(2);
  });

  test("are both run if they have the same ID and different endpoints", async () => {
    expect(await runs({ endpoint: "train", id: "d-1" }, { endpoint: "test", id: "d-1" })).toBe(2);
  });
});

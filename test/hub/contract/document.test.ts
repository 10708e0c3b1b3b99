import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { hubDocument } from "../../../src/hub/contract/document.ts";
import { webhook, webhookRequest } from "../../../src/hub/contract/webhooks.ts";
import { documentSchema } from "./document-schemas.ts";
import { flavors } from "./job-bounds.ts";
import { readBodies } from "./read-bodies.ts";
import { requestCases, webhookCases } from "./webhook-cases.ts";

const document = hubDocument({ serverUrl: "http://localhost:5050" });
const schemas = document.components?.schemas;
const id = "/api/settings/webhooks/{webhookId}";

/** The operations of hub-api.md, Webhooks, each with its path's parameters, its answer and its refusals. */
const operations = [
  { method: "get", path: "/api/settings/webhooks", parameters: [], answer: "list", refusals: [401] },
  { method: "post", path: "/api/settings/webhooks", parameters: [], answer: "webhook", refusals: [400, 401, 403, 415] },
  { method: "get", path: id, parameters: ["webhookId"], answer: "webhook", refusals: [401, 404] },
  { method: "post", path: id, parameters: ["webhookId"], answer: "webhook", refusals: [400, 401, 403, 404, 415] },
  { method: "delete", path: id, parameters: ["webhookId"], answer: "nothing", refusals: [401, 403, 404] },
  {
    method: "post",
    path: `${id}/{action}`,
    parameters: ["webhookId", "action"],
    answer: "webhook",
    refusals: [400, 401, 403, 404],
  },
  {
    method: "post",
    path: `${id}/replay/{logId}`,
    parameters: ["webhookId", "logId"],
    answer: "status",
    refusals: [401, 403, 404],
  },
] as const;

const webhookReference = { $ref: "#/components/schemas/Webhook" };
const answers = {
  list: { type: "array", items: webhookReference },
  webhook: {
    type: "object",
    properties: { webhook: webhookReference },
    required: ["webhook"],
    additionalProperties: false,
  },
  nothing: { type: "object", properties: {}, additionalProperties: false },
  status: {
    type: "object",
    properties: { status: { type: "number" } },
    required: ["status"],
    additionalProperties: false,
  },
};

describe("The OpenAPI document", () => {
  test("is valid by an independent validator, as version 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)));
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("says what it is, where it is served and how to be let in", () => {
    expect(document.info).toMatchObject({
      version: "0.0.1",
      title: "Hub API",
      description: expect.stringMatching(/./),
    });
    expect(document.servers).toEqual([{ url: "http://localhost:5050" }]);
    expect(document.tags).toEqual([{ name: "webhooks", description: expect.stringMatching(/./) }]);
    expect(document.components?.securitySchemes).toMatchObject({ bearer: { type: "http", scheme: "bearer" } });
  });

  test("is made anew for each server, and holds nothing that is empty", () => {
    const other = hubDocument({ serverUrl: "http://127.0.0.1:1" });
    expect(other.servers).toEqual([{ url: "http://127.0.0.1:1" }]);
    expect(other.paths).toEqual(document.paths);
    expect(Object.keys(document).sort()).toEqual(["components", "info", "openapi", "paths", "servers", "tags"]);
    expect(Object.keys(document.components ?? {}).sort()).toEqual(["schemas", "securitySchemes"]);
  });

  test("has the operations of the webhooks and no others", () => {
    const found = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(found.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test("names each operation once", () => {
    const names = operations.map(({ method, path }) => document.paths?.[path]?.[method]?.operationId);
    expect(new Set(names).size).toBe(operations.length);
    expect(names).not.toContain(undefined);
  });
});

describe.each(operations)("In the document, $method $path", ({ method, path, parameters, answer, refusals }) => {
  const operation = document.paths?.[path]?.[method];

  test("asks for a bearer token and is filed under its tag", () => {
    expect(operation).toMatchObject({ security: [{ bearer: [] }], tags: ["webhooks"], summary: expect.any(String) });
  });

  test("has the parameters of its path, as plain texts", () => {
    const expected = parameters.map((name) => {
      const values = name === "action" ? { enum: ["enable", "disable"] } : {};
      return { name, in: "path", required: true, schema: { type: "string", ...values } };
    });
    expect(operation?.parameters ?? []).toEqual(expected);
  });

  test("takes a body where it creates or updates, and nowhere else", () => {
    const takesBody = method === "post" && !path.includes("/{action}") && !path.includes("/replay/");
    const schema = { $ref: "#/components/schemas/WebhookRequest" };
    const expected = { required: true, content: { "application/json": { schema } } };
    expect(operation?.requestBody).toEqual(takesBody ? expected : undefined);
  });

  test("answers 200, and each refusal with its error", () => {
    const { 200: success, ...refused } = operation?.responses ?? {};
    expect(success).toMatchObject({ content: { "application/json": { schema: answers[answer] } } });
    expect(Object.keys(refused)).toEqual(refusals.map(String));
    for (const refusal of Object.values(refused)) {
      expect(refusal).toMatchObject({
        headers: { "X-Request-Id": {}, "X-Error-Code": {}, "X-Error-Message": {} },
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      });
    }
  });
});

describe("The document's schemas", () => {
  test("tell what is required, and that nothing else is taken", () => {
    expect(schemas).toMatchObject({
      Webhook: { required: ["id", "disabled", "watched", "domains"], additionalProperties: false },
      WebhookJob: { required: ["environment", "flavor", "timeoutSeconds"], additionalProperties: false },
      WebhookRequest: { required: ["watched", "domains"], additionalProperties: false },
      WebhookJobRequest: { required: ["flavor"], additionalProperties: false },
    });
  });

  test("tell that a request has exactly one target", () => {
    const oneOf = [{ required: ["url"] }, { required: ["job"] }, { required: ["jobSourceId"] }];
    expect(schemas).toMatchObject({ WebhookRequest: { oneOf } });
  });

  test("tell the enums in full", () => {
    const items = { properties: { type: { enum: ["model", "dataset", "space", "bucket", "kernel", "user", "org"] } } };
    const domains = { items: { enum: ["repo", "discussion"] } };
    expect(schemas).toMatchObject({
      Webhook: { properties: { watched: { items }, domains } },
      WebhookRequest: {
        properties: { watched: { minItems: 1, items }, domains: { minItems: 1, ...domains } },
      },
      WebhookJob: { properties: { flavor: { enum: flavors } } },
      WebhookJobRequest: { properties: { flavor: { enum: flavors }, arch: { enum: ["amd64", "arm64"] } } },
    });
  });

  test("tell the defaults, the bounds and what may be null", () => {
    const timeoutSeconds = {
      type: ["integer", "null"],
      default: null,
      exclusiveMinimum: 0,
      maximum: 9007199254740991,
    };
    expect(schemas).toMatchObject({
      WebhookJob: { properties: { timeoutSeconds, environment: { default: {} } } },
      WebhookJobRequest: {
        properties: {
          timeoutSeconds,
          environment: { default: {} },
          attempts: { type: "integer", minimum: 1, default: 1 },
          volumes: { minItems: 1 },
          command: { minItems: 1, items: { minLength: 1 } },
        },
      },
    });
  });

  test("hold each shape once", () => {
    const names = ["Error", "Webhook", "WebhookJob", "WebhookJobRequest", "WebhookRequest"];
    expect(Object.keys(schemas ?? {}).sort()).toEqual(names);
  });
});

describe("An independent validator, given the document,", () => {
  const validRequest = documentSchema("/components/schemas/WebhookRequest");
  const validWebhook = documentSchema("/components/schemas/Webhook");

  test.each(readBodies("webhook-requests"))("accepts the request: %s", (_, body) => {
    expect([validRequest(body), validRequest.errors]).toEqual([true, null]);
  });

  test.each(readBodies("webhooks"))("accepts the answer: %s", (_, body) => {
    expect([validWebhook(body), validWebhook.errors]).toEqual([true, null]);
  });

  test.each([...requestCases.accepted, ...requestCases.refused])("agrees on the request $title", ({ body }) => {
    expect(validRequest(body)).toBe(webhookRequest.safeParse(body).success);
  });

  test.each([...webhookCases.accepted, ...webhookCases.refused])("agrees on the answer $title", ({ body }) => {
    expect(validWebhook(body)).toBe(webhook.safeParse(body).success);
  });

  test("accepts a URL whose port is none, which our reader refuses", () => {
    const body = { watched: [{ type: "model", name: "a/b" }], domains: ["repo"], url: "http://localhost:65536/" };
    expect([validRequest(body), webhookRequest.safeParse(body).success]).toEqual([true, false]);
  });

  test("refuses an answer that lacks what a job always has, which our reader fills in", () => {
    const job = { flavor: "cpu-basic" };
    const answered = { id: "0".repeat(24), disabled: false, watched: [], domains: [], job };
    expect([validWebhook(answered), webhook.safeParse(answered).success]).toEqual([false, true]);
  });

  test("accepts every refusal's body", () => {
    const validError = documentSchema("/components/schemas/Error");
    expect([{ error: "There is no such webhook." }, {}, { error: 1 }].map((body) => validError(body))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

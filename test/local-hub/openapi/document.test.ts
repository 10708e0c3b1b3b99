import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { webhook, webhookRequest } from "../../../src/hub/webhooks/schemas.ts";
import { openApiDocument } from "../../../src/local-hub/openapi/openapi-document.ts";
import { specifiedApis, specifiedRoutes } from "../../../src/local-hub/routes/index.ts";
import { readBodies } from "../../hub/schemas/bounds.ts";
import { documentSchema } from "../../hub/schemas/document-schemas.ts";
import { addedFlavors, flavors } from "../../hub/schemas/job-bounds.ts";
import { auditLogTypes } from "../../hub/schemas/organizations/audit-log-bounds.ts";
import { answerTables, requestTables } from "../../hub/schemas/request-tables.ts";
import { requestCases, webhookCases } from "../../hub/schemas/webhook-cases.ts";
import { documentedOperations } from "./document-operations.ts";

const document = openApiDocument({ serverUrl: "http://localhost:5050", routes: specifiedRoutes });
const schemas = document.components?.schemas;
const text = { type: "string" };
const allFlavors = [...flavors, ...addedFlavors];
const tags = ["auth", "jobs", "mcp", "notifications", "orgs", "papers", "resource-groups", "scim", "webhooks"];
describe("The OpenAPI document", () => {
  test("is valid OpenAPI 3.1 according to an independent validator", async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)));
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("contains its title, its server and its authentication", () => {
    expect(document.info).toMatchObject({
      version: "0.0.1",
      title: "Hub API",
      description: expect.stringMatching(/./),
    });
    expect(document.servers).toEqual([{ url: "http://localhost:5050" }]);
    expect(document.tags?.map(({ name }) => name).sort()).toEqual(tags);
    for (const { name, description } of document.tags ?? []) expect(description, name).toMatch(/\w/);
    expect(document.components?.securitySchemes).toMatchObject({ bearer: { type: "http", scheme: "bearer" } });
  });

  test("is created for each server, and contains no empty parts", () => {
    const other = openApiDocument({ serverUrl: "http://127.0.0.1:1", routes: specifiedRoutes });
    expect(other.servers).toEqual([{ url: "http://127.0.0.1:1" }]);
    expect(other.paths).toEqual(document.paths);
    expect(Object.keys(document).sort()).toEqual(["components", "info", "openapi", "paths", "servers", "tags"]);
    expect(Object.keys(document.components ?? {}).sort()).toEqual(["schemas", "securitySchemes"]);
  });

  test("has exactly the 24 operations of the specification and the 11 later ones", () => {
    const found = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(found).toHaveLength(35);
    expect(found.sort()).toEqual(documentedOperations.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test("gives each operation a unique id", () => {
    const names = documentedOperations.map(({ method, path }) => document.paths?.[path]?.[method]?.operationId);
    expect(new Set(names).size).toBe(35);
    expect(names).not.toContain(undefined);
  });
});

describe.each(documentedOperations)("In the document, $method $path", (expected) => {
  const operation = document.paths?.[expected.path]?.[expected.method];

  test("requires a bearer token and has a tag", () => {
    expect(operation).toMatchObject({
      security: [{ bearer: [] }],
      tags: [expected.tag],
      summary: expect.stringMatching(/\w/),
    });
  });

  test("has its parameters with their types, limits and defaults", () => {
    const parameters = expected.parameters.map((parameter) => ({ ...parameter, required: parameter.in === "path" }));
    const found = (operation?.parameters ?? []).map((parameter) => {
      const { description: _, ...rest } = "$ref" in parameter ? { ...parameter, description: "" } : parameter;
      return rest;
    });
    expect(found).toEqual(parameters);
  });

  test("has exactly the parameters of its path", () => {
    const parts = [...expected.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(expected.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)).toEqual(parts);
  });

  test("has a body only if hub-api.md has one", () => {
    const { body } = expected;
    const content = { "application/json": { schema: { $ref: `#/components/schemas/${body?.component}` } } };
    expect(operation?.requestBody).toEqual(body && { required: body.required, content });
  });

  test("has the response 200 with its headers", () => {
    const success = operation?.responses?.[200];
    expect(success).toMatchObject({ description: expect.stringMatching(/\w/) });
    expect(success?.content).toEqual({ "application/json": { schema: expected.answer } });
    expect(Object.keys(success?.headers ?? {})).toEqual(expected.headers ?? []);
    for (const header of Object.values(success?.headers ?? {})) expect(header).toMatchObject({ schema: text });
  });

  test("has the response 302 if it can redirect, and these error responses", () => {
    const { 200: _, 302: redirect, ...refused } = operation?.responses ?? {};
    expect(redirect?.headers).toEqual(
      expected.redirects ? { Location: { description: expect.any(String), schema: text } } : undefined,
    );
    expect(Object.keys(refused)).toEqual(expected.refusals.map(String));
    for (const refusal of Object.values(refused)) {
      expect(refusal).toMatchObject({
        headers: { "X-Request-Id": {}, "X-Error-Code": {}, "X-Error-Message": {} },
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      });
    }
  });
});

describe("The document's schemas", () => {
  test("contain the required fields, and reject unknown fields where hub-api.md does", () => {
    expect(schemas).toMatchObject({
      RepoId: { required: ["name", "type"], additionalProperties: false },
      Webhook: { required: ["id", "disabled", "watched", "domains"], additionalProperties: false },
      WebhookJob: { required: ["environment", "flavor", "timeoutSeconds"], additionalProperties: false },
      WebhookRequest: { required: ["watched", "domains"] },
      WebhookUpdate: { required: ["watched", "domains"] },
      WebhookJobRequest: { required: ["flavor"] },
    });
    for (const name of ["WebhookRequest", "WebhookUpdate", "WebhookJobRequest"]) {
      expect(schemas?.[name]).not.toHaveProperty("additionalProperties");
    }
  });

  test("require exactly one target in a request", () => {
    const oneOf = [{ required: ["url"] }, { required: ["job"] }, { required: ["jobSourceId"] }];
    expect(schemas).toMatchObject({ WebhookRequest: { oneOf } });
  });

  test("contain complete enums", () => {
    const items = { properties: { type: { enum: ["model", "dataset", "space", "bucket", "kernel", "user", "org"] } } };
    const domains = { items: { enum: ["repo", "discussion"] } };
    expect(schemas).toMatchObject({
      Webhook: { properties: { watched: { items }, domains } },
      WebhookRequest: {
        properties: { watched: { minItems: 1, items }, domains: { minItems: 1, ...domains } },
      },
      WebhookJob: { properties: { flavor: { enum: allFlavors } } },
      WebhookJobRequest: { properties: { flavor: { enum: allFlavors }, arch: { enum: ["amd64", "arm64"] } } },
    });
  });

  test("contain the defaults, the limits and the nullable fields", () => {
    const seconds = { type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 };
    const timeoutSeconds = { anyOf: [seconds, { type: "null" }], default: null };
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

  test("contain the defaults and the limits of the other requests", () => {
    const names = { type: "array", items: text, default: [] };
    const items = { type: "array", items: { $ref: "#/components/schemas/WatchItem" }, default: [] };
    expect(schemas).toMatchObject({
      NotificationDeletion: { properties: { discussionIds: { minItems: 1 } } },
      NotificationMark: { properties: { discussionIds: names, read: { type: "boolean", default: true } } },
      NotificationSettingsChange: { required: ["notifications"], properties: { prepaidAmount: { maxLength: 24 } } },
      WatchChange: { properties: { add: items, delete: items } },
      ResourceGroupRequest: {
        required: ["name"],
        properties: {
          name: { minLength: 1, maxLength: 200 },
          description: { maxLength: 500 },
          users: { default: [] },
          repos: { default: [], items: { $ref: "#/components/schemas/RepoId" } },
        },
      },
      NetworkSecurityChange: { properties: { ipRanges: { items: text } } },
      AuditLogEvent: { properties: { type: { enum: expect.arrayContaining(auditLogTypes) } } },
    });
  });

  test("contain each shape once", () => {
    const names = [...requestTables, ...answerTables].map(({ component }) => component);
    const others = ["Error", "RepoId", "WatchItem", "Webhook", "WebhookJob", "WebhookJobRequest", "WebhookRequest"];
    const later = ["Job", "JobHardware", "JobLabels", "WebhookUpdate", "Whoami"];
    const known = new Set([...names, ...others, ...later]);
    const specified = specifiedApis.flatMap(({ components }) => Object.keys(components));
    expect(["Error", ...specified].sort()).toEqual([...known].sort());
  });
});

describe("An independent validator with the schemas of the document", () => {
  const validRequest = documentSchema("/components/schemas/WebhookRequest");
  const validWebhook = documentSchema("/components/schemas/Webhook");

  test.each(readBodies("webhook-requests"))("accepts a request with %s", (_, body) => {
    expect([validRequest(body), validRequest.errors]).toEqual([true, null]);
  });

  test.each(readBodies("webhooks"))("accepts a response with %s", (_, body) => {
    expect([validWebhook(body), validWebhook.errors]).toEqual([true, null]);
  });

  test.each([...requestCases.accepted, ...requestCases.ignored, ...requestCases.refused])(
    "agrees with our schema on the request $title",
    ({ body }) => {
      expect(validRequest(body)).toBe(webhookRequest.safeParse(body).success);
    },
  );

  test.each([...webhookCases.accepted, ...webhookCases.refused])(
    "agrees with our schema on the response $title",
    ({ body }) => {
      expect(validWebhook(body)).toBe(webhook.safeParse(body).success);
    },
  );

  test("accepts a URL with an invalid port, which our schema rejects", () => {
    const body = { watched: [{ type: "model", name: "a/b" }], domains: ["repo"], url: "http://localhost:65536/" };
    expect([validRequest(body), webhookRequest.safeParse(body).success]).toEqual([true, false]);
  });

  test("rejects a response without required fields of a job, which our schema fills in", () => {
    const job = { flavor: "cpu-basic" };
    const answered = { id: "0".repeat(24), disabled: false, watched: [], domains: [], job };
    expect([validWebhook(answered), webhook.safeParse(answered).success]).toEqual([false, true]);
  });

  test("accepts the body of an error response", () => {
    const validError = documentSchema("/components/schemas/Error");
    expect([{ error: "There is no such webhook." }, {}, { error: 1 }].map((body) => validError(body))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

import { inspect, isDeepStrictEqual } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { errorBody, openApiDocument } from "../../../src/local-hub/openapi.ts";
import { specifiedApis, specifiedRoutes } from "../../../src/local-hub/routes/index.ts";
import { bodyNames, casesOf, parameterCases, toDocumentValue, variantsOf } from "./cases.ts";
import { document, documentSchema, findDifferences } from "./document.ts";
import { parseFact, shownPath } from "./facts.ts";
import { type OperationFacts, operations } from "./operations.ts";

const components: Readonly<Record<string, z.ZodMiniType>> = Object.assign(
  { Error: errorBody },
  ...specifiedApis.map((api) => api.components),
);
const schemas = document.components.schemas;

/** Returns the fields that an error names. */
function namedFields(error: z.core.$ZodError): string {
  const paths = error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  return [...new Set(paths.map(shownPath))].join(", ");
}

/** Returns the problem if a value was not parsed as expected. `expect` would take most of the time for thousands of cases. */
function findProblem(title: string, actual: unknown, expected: unknown): string[] {
  return isDeepStrictEqual(actual, expected) ? [] : [`${title}: ${inspect(actual)} is not ${inspect(expected)}`];
}

describe.each(bodyNames)("The facts of %s", (name) => {
  const cases = casesOf(name);

  test("hold for the schema", () => {
    const schema = components[name] ?? z.never();
    const problems = cases.flatMap(({ title, body, parsed, refused }) => {
      const { data, error } = schema.safeParse(body);
      return error || refused !== undefined
        ? findProblem(title, error && namedFields(error), refused)
        : findProblem(title, data, parsed);
    });
    expect(problems).toEqual([]);
  });

  test("hold for the document", () => {
    const isValid = documentSchema(`/components/schemas/${name}`);
    const wrong = cases.filter(
      ({ body, refused, isInvalidByDocument = false }) =>
        isValid(body) !== (refused === undefined && !isInvalidByDocument),
    );
    expect(wrong.map(({ title }) => title)).toEqual([]);
    expect(findDifferences(schemas[name], variantsOf(name).flat())).toEqual([]);
  });
});

describe.each(operations.filter(({ query }) => query))(
  "The query of $operationId",
  ({ operationId, path, ...facts }) => {
    const method = facts.method.toLowerCase();
    const query = Object.entries(facts.query ?? {}).map(parseFact);
    const schema: z.ZodMiniObject =
      specifiedRoutes.find((route) => route.operationId === operationId)?.request?.query ?? z.object({});
    const defaults = Object.fromEntries(
      query.flatMap(({ path: name, fallback }) => (fallback === undefined ? [] : [[name, fallback]])),
    );

    test("has parameters that are parsed and written as in the facts", () => {
      expect(Object.keys(schema.shape)).toEqual(query.map(({ path: name }) => name));
      expect(schema.parse({ unknown: "1" })).toEqual(defaults);
      expect(z.encode(z.partial(schema), {})).toEqual({});
      const problems = query.flatMap(({ path: name, kind }) => {
        const { accepted, refused, refusedValues, isList } = parameterCases(kind);
        const texts = accepted.slice(0, 2).map(({ text }) => text);
        const title = (value: unknown) => `${name} is ${kind}: ${JSON.stringify(value)}`;
        const refuse = (value: unknown, given = schema.safeParse({ [name]: value })) =>
          findProblem(title(value), given.error && namedFields(given.error), name);
        return [
          ...accepted.flatMap(({ text, value }) => [
            ...findProblem(title(text), schema.parse({ [name]: text }), { ...defaults, [name]: value }),
            ...findProblem(title(value), z.encode(z.partial(schema), { [name]: value }), { [name]: text }),
          ]),
          ...refused.flatMap((text) => refuse(text)),
          ...(isList ? [] : refuse([...texts, ...texts])),
          ...(isList ? findProblem(title(texts), schema.parse({ [name]: texts })[name], texts) : []),
          ...refusedValues.flatMap((value) => refuse(value, z.safeEncode(z.partial(schema), { [name]: value }))),
        ];
      });
      expect(problems).toEqual([]);
    });

    test("has parameters with these limits in the document", () => {
      const parameters = document.paths[path]?.[method]?.parameters ?? [];
      const problems = query.flatMap(({ path: name, kind }) => {
        const index = parameters.findIndex((parameter) => parameter.in === "query" && parameter.name === name);
        const isValid = documentSchema(`/paths/${path.replaceAll("/", "~1")}/${method}/parameters/${index}/schema`);
        const { accepted, refused } = parameterCases(kind);
        return [
          ...accepted.filter(({ value }) => !isValid(value)).map(({ text }) => `${name} is ${kind}: ${text}`),
          ...refused.filter((text) => isValid(toDocumentValue(text))).map((text) => `${name} is not ${kind}: ${text}`),
        ];
      });
      expect(problems).toEqual([]);
      const properties = Object.fromEntries(parameters.map(({ name, schema: described }) => [name, described]));
      const inQuery = Object.fromEntries(query.map(({ path: name }) => [name, properties[name]]));
      const optional = query.flatMap(({ kind: given, ...fact }) => {
        const [kind, items] = [given.replace("some ", ""), { path: `${fact.path}[]`, presence: "required" as const }];
        const own = { ...fact, kind, presence: "optional" as const };
        return kind === given ? [own] : [own, { ...own, ...items }];
      });
      expect(findDifferences({ type: "object", properties: inQuery }, optional)).toEqual([]);
    });
  },
);

/** Returns the schema that the document gives for the body of a response. */
function responseSchema(response: OperationFacts["response"]): object {
  if (response === undefined) return {};
  if (typeof response === "string") {
    const reference = { $ref: `#/components/schemas/${response.replace("[]", "")}` };
    return response.endsWith("[]") ? { type: "array", items: reference } : reference;
  }
  const properties = Object.entries(response).map(([name, kind]) => [
    name,
    kind in components ? responseSchema(kind) : { type: kind },
  ]);
  const required = Object.keys(response);
  return {
    ...{ type: "object", properties: Object.fromEntries(properties), additionalProperties: false },
    ...(required.length > 0 && { required }),
  };
}

describe("The document describes", () => {
  test.each(operations)("$operationId", ({ operationId, method, path, tag, ...facts }) => {
    const operation = document.paths[path]?.[method.toLowerCase()];
    expect(operation).toMatchObject({ operationId, tags: [tag], security: [{ bearer: [] }] });
    expect(operation?.summary).toMatch(/\w/);

    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({ name, in: "path", required: true }));
    const inQuery = Object.keys(facts.query ?? {}).map((name) => ({ name, in: "query", required: false }));
    const inHeader = facts.reads === undefined ? [] : [{ name: facts.reads, in: "header", required: false }];
    const parameters = operation?.parameters ?? [];
    expect(parameters.map(({ name, in: where, required }) => ({ name, in: where, required }))).toEqual([
      ...[...inPath, ...inQuery, ...inHeader],
    ]);
    for (const { name, in: where, schema } of parameters.filter((parameter) => parameter.in !== "query")) {
      const values = (facts.params?.[name] ?? "").split(" ").slice(1);
      expect(schema, `${where} ${name}`).toEqual({ type: "string", ...(values.length > 0 && { enum: values }) });
    }

    const required = !facts.request?.endsWith("?");
    const content = { "application/json": { schema: responseSchema(facts.request?.replace("?", "")) } };
    expect(operation?.requestBody).toEqual(facts.request && { required, content });

    const { 200: success, 302: redirect, ...refusals } = operation?.responses ?? {};
    expect(success?.content).toEqual({ "application/json": { schema: responseSchema(facts.response) } });
    expect(Object.keys(success?.headers ?? {})).toEqual(facts.header === undefined ? [] : [facts.header]);
    expect(Object.keys(redirect?.headers ?? {})).toEqual(facts.redirects ? ["Location"] : []);
    const statuses = [...facts.errors, 401, ...(facts.request === undefined ? [] : [413, 415])].sort();
    expect(Object.keys(refusals)).toEqual(statuses.map(String));
    for (const refusal of Object.values(refusals)) {
      expect(Object.keys(refusal.headers ?? {})).toEqual(["X-Request-Id", "X-Error-Code", "X-Error-Message"]);
      expect(refusal.content).toEqual({ "application/json": { schema: responseSchema("Error") } });
    }
  });

  test("only these operations and bodies", () => {
    const found = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map((operation) => operation.operationId),
    );
    expect(found.sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
    expect(Object.keys(components).sort()).toEqual([...bodyNames].sort());
    expect(operations.filter(({ change }) => change === undefined || change === "removed")).toHaveLength(24);
  });

  test("valid OpenAPI 3.1, according to an independent validator", async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("its title, its server, its tags, and its authentication", () => {
    const other = openApiDocument({ serverUrl: "http://127.0.0.1:1", routes: specifiedRoutes });
    expect(other).toEqual({ ...document, servers: [{ url: "http://127.0.0.1:1" }] });
    expect(document.info).toMatchObject({
      version: "0.0.1",
      title: "Hub API",
      description: expect.stringMatching(/./),
    });
    const tags = [...new Set(operations.map(({ tag }) => tag))].sort();
    expect(document.tags.map(({ name }) => name).sort()).toEqual(tags);
    for (const { name, description } of document.tags) expect(description, name).toMatch(/\w/);
    expect(document.components.securitySchemes).toMatchObject({ bearer: { type: "http", scheme: "bearer" } });
  });
});

const at = (time: string) => ({ notifications: { product_updates_after: time } });
const invalidPort = "http://localhost:65536/";
const target = { watched: [{ type: "model", name: "a/b" }], domains: ["repo"], url: invalidPort };

/** All known differences: rules that JSON Schema cannot express, or that the validator interprets differently. */
test.each<[what: string, accepted: "schema" | "document" | undefined, name: string, body: object]>([
  ["a leap second", "document", "NotificationSettingsChange", at("2026-06-30T23:59:60Z")],
  ["a lowercase t", "document", "NotificationSettingsChange", at("2026-09-01t12:34:56Z")],
  ["a lowercase z", undefined, "NotificationSettingsChange", at("2026-09-01T12:34:56z")],
  ["an invalid port", "document", "OrganizationAvatar", { avatarUrl: invalidPort }],
  ["an invalid port of a target", "document", "WebhookRequest", target],
  ["a URL that is not percent-encoded", "schema", "OrganizationAvatar", { avatarUrl: "https://example.com/é" }],
])("The schema and the document differ on %s as recorded", (_what, accepted, name, body) => {
  const schema = components[name]?.safeParse(body).success;
  const isValid = documentSchema(`/components/schemas/${name}`)(body);
  expect({ schema, document: isValid }).toEqual({ schema: accepted === "schema", document: accepted === "document" });
});

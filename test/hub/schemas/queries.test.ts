import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { openApiDocument } from "../../../src/local-hub/openapi/openapi-document.ts";
import { specifiedRoutes as routes } from "../../../src/local-hub/routes/index.ts";
import { namedFields } from "./bounds.ts";
import { documentSchema } from "./document-schemas.ts";
import { type QueryTable, queryTables } from "./query-bounds.ts";

const parameterNames = z.array(z.object({ name: z.string(), in: z.string() }));
const { paths } = openApiDocument({ serverUrl: "http://localhost:5050", routes });

/** Returns the schema that parses a query. */
function querySchema({ method, path }: QueryTable): z.ZodMiniObject {
  for (const operation of routes) {
    if (operation.method !== method || operation.path !== path) continue;
    if (operation.request?.query) return operation.request.query;
  }
  throw new Error(`There is no query of ${method} ${path}.`);
}

/** Returns the query parameters in the document, each with a validator. */
function documentParameters({ method, path }: QueryTable) {
  const parameters = parameterNames.parse(paths?.[path]?.[method]?.parameters);
  const pointer = `/paths/${path.replaceAll("/", "~1")}/${method}/parameters`;
  return parameters.flatMap((parameter, index) =>
    parameter.in === "query" ? [{ name: parameter.name, isValid: documentSchema(`${pointer}/${index}/schema`) }] : [],
  );
}

/** Parses a query string to the document's types: a number or a boolean if it has this form. */
function meant(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return String(Number(text)) === text ? Number(text) : text;
}

const named = queryTables.map((table) => ({ title: `${table.method.toUpperCase()} ${table.path}`, table }));
const rows = named.flatMap(({ title, table }) =>
  table.parameters.map((parameter) => ({ title, table, name: parameter.name, parameter })),
);

describe.each(named)("The query of $title", ({ table }) => {
  const schema = querySchema(table);

  test("uses its defaults if it is empty or missing", () => {
    expect(schema.parse({})).toEqual(table.defaults);
  });

  test("has exactly these parameters, also in the document", () => {
    const names = table.parameters.map(({ name }) => name);
    expect(Object.keys(schema.shape)).toEqual(names);
    expect(documentParameters(table).map(({ name }) => name)).toEqual(names);
  });

  test("ignores an unknown parameter", () => {
    for (const name of [...table.unknown, "stranger"]) {
      for (const text of ["", "true", "1"]) expect(schema.parse({ [name]: text }), name).toEqual(table.defaults);
    }
  });

  test("accepts all of its parameters together", () => {
    const texts = table.parameters.map(({ name, accepted }) => [name, accepted[0]?.text]);
    const values = table.parameters.map(({ name, accepted }) => [name, accepted[0]?.value]);
    expect(schema.parse(Object.fromEntries(texts))).toEqual(Object.fromEntries(values));
    expect(z.encode(z.partial(schema), Object.fromEntries(values))).toEqual(Object.fromEntries(texts));
  });

  test("omits the parameters that the caller leaves out", () => {
    expect(z.encode(z.partial(schema), {})).toEqual({});
  });
});

describe.each(rows)("In the query of $title, $name", ({ table, name, parameter }) => {
  const schema = querySchema(table);
  const isValid = documentParameters(table).find((known) => known.name === name)?.isValid;

  test("is parsed to its value, and written as the same string", () => {
    for (const { text, value } of parameter.accepted) {
      expect(schema.parse({ [name]: text }), text).toEqual({ ...table.defaults, [name]: value });
      expect(z.encode(z.partial(schema), { [name]: value }), text).toEqual({ [name]: text });
      expect(isValid?.(value), text).toBe(true);
    }
  });

  test("is rejected with its name if it is invalid", () => {
    for (const text of parameter.refused) {
      const { error } = schema.safeParse({ [name]: text });
      expect(error && namedFields(error), text).toEqual([name]);
      expect(isValid?.(meant(text)), text).toBe(false);
    }
  });

  test("is rejected with its name if it is given twice, unless it is a list", () => {
    const texts = parameter.accepted.slice(0, 2).map(({ text }) => text);
    const { data, error } = schema.safeParse({ [name]: texts });
    if (parameter.isList) return expect(data).toEqual({ ...table.defaults, [name]: texts });
    expect(error && namedFields(error)).toEqual([name]);
  });

  test("is rejected with its name if the caller of the client passes an invalid value", () => {
    for (const value of parameter.refusedValues) {
      const { error } = z.safeEncode(z.partial(schema), { [name]: value });
      expect(error && namedFields(error), String(value)).toEqual([name]);
    }
  });
});

test("The tables contain every query", () => {
  const known = routes.filter(({ request }) => request?.query).map(({ method, path }) => `${method} ${path}`);
  expect(queryTables.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(known.sort());
});

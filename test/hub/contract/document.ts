import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { asObject, readFacts } from "../../../scripts/contract-diff/schema-facts.ts";
import { openApiDocument } from "../../../src/local-hub/openapi.ts";
import { specifiedRoutes } from "../../../src/local-hub/routes/index.ts";
import { objectsIn } from "./cases.ts";
import { type Fact, kindOf } from "./facts.ts";

/** The generated OpenAPI document. */
export const document = openApiDocument({ serverUrl: "http://localhost:5050", routes: specifiedRoutes });
const json = asObject(JSON.parse(JSON.stringify(document)));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: "hub:document", ...json });
const compiled = new Map<string, ValidateFunction>();

/** Returns a validator of a part of the document that is independent of our schemas. */
export function documentSchema(pointer: string): ValidateFunction {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `hub:document#${encodeURI(pointer)}` });
  compiled.set(pointer, validate);
  return validate;
}

/** Returns how a JSON schema differs from the facts: other fields, enums, defaults, and required fields. */
export function findDifferences(schema: unknown, facts: readonly Fact[]): string[] {
  const [ours, theirs] = [expectedLines(facts), documentLines(schema)];
  return [
    ...theirs.filter((line) => !ours.includes(line)).map((line) => `only in the document: ${line}`),
    ...ours.filter((line) => !theirs.includes(line)).map((line) => `only in the facts: ${line}`),
  ];
}

function expectedLines(facts: readonly Fact[]): string[] {
  const implicit = objectsIn(facts).filter(({ path }) => path !== "" && !facts.some((fact) => fact.path === path));
  const named = facts.filter(({ path }) => path !== "");
  const values = Map.groupBy(named, ({ path }) => path);
  const lines = named.flatMap(({ path, presence, fallback }) => {
    const enums = (values.get(path) ?? []).flatMap(({ kind }) => kindOf(kind).values ?? []);
    return [
      `${path} is ${presence === "required" || presence === "returned" ? "required" : "optional"}`,
      ...(fallback === undefined ? [] : [`${path} defaults to ${JSON.stringify(fallback)}`]),
      ...[...new Set(enums)].map((value) => `${path} can be ${value}`),
    ];
  });
  return [...new Set([...implicit.map(({ path }) => `${path} is required`), ...lines])];
}

function documentLines(schema: unknown): string[] {
  const lines = [...readFacts(schema, { document: json, isRequest: false })].flatMap(([place, fact]) => {
    const path = place
      .replace(/<.*?>/g, "")
      .replace(/^\./, "")
      .replace(/\.\{value\}/g, "{}");
    if (path === "" || /\{(name|value)\}$/.test(path)) return [];
    const defaults = fact.rules.filter((rule) => rule.startsWith("default: "));
    return [
      `${path} is ${fact.required ? "required" : "optional"}`,
      ...defaults.map((rule) => `${path} defaults to ${rule.replace("default: ", "")}`),
      ...(fact.values ?? []).map((value) => `${path} can be ${value}`),
    ];
  });
  return [...new Set(lines)];
}

import * as z from "zod/mini";
import * as core from "zod/v4/core";
import { findJsonRule } from "../../hub/validation/json-rule.ts";
import { resourceApis } from "../routes/index.ts";
import type { ResourceApi } from "../routes/route.ts";

/** A JSON Schema in an OpenAPI 3.1 document. */
export type JsonSchema = core.JSONSchema.BaseSchema;

/** The body of every error response. */
export const errorBody = z.object({ error: z.string() });

/** The schemas that the document lists under `components`, by name. */
const components: readonly ResourceApi["components"][] = [
  { Error: errorBody },
  ...resourceApis.map((api) => api.components),
];

const names = z.registry<{ id: string }>();
for (const [id, schema] of components.flatMap(Object.entries<z.ZodMiniType>)) names.add(schema, { id });

/**
 * Converts a schema to JSON Schema. Components become references. Query parameters get their decoded types, because the encoded
 * type is always string.
 */
export function toJsonSchema(schema: core.$ZodType): JsonSchema {
  const id = names.get(schema)?.id;
  if (id !== undefined) return { $ref: componentPath(id) };
  const { $schema, $defs, ...converted } = convert(schema);
  const references: JsonSchema = JSON.parse(
    JSON.stringify(converted).replaceAll('"$ref":"#/$defs/', `"$ref":"${componentPath("")}`),
  );
  return references;
}

/** Converts the fields of an object schema, by name. */
export function propertySchemas(schema: core.$ZodType): Record<string, JsonSchema> {
  const entries = Object.entries(toJsonSchema(schema).properties ?? {});
  return Object.fromEntries(entries.map(([name, property]) => [name, typeof property === "boolean" ? {} : property]));
}

/** Converts all components, by name. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(names, { uri: componentPath, metadata: names, override: applyRules });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema] as const));
}

function convert(schema: core.$ZodType): JsonSchema {
  return z.toJSONSchema(schema, { metadata: names, override: applyRules });
}

function componentPath(id: string): string {
  return `#/components/schemas/${id}`;
}

/**
 * Changes a JSON Schema that zod created for the output, in which fields with defaults are required and objects have no
 * additional fields. The changed schema describes the input, but with the decoded types of the output.
 */
function applyRules({ zodSchema, jsonSchema }: { zodSchema: core.$ZodType; jsonSchema: JsonSchema }): void {
  if (zodSchema instanceof core.$ZodObject) {
    const { shape, catchall } = zodSchema._zod.def;
    const required = Object.keys(shape).filter((name) => shape[name]?._zod.optin === undefined);
    if (required.length > 0) jsonSchema.required = required;
    else delete jsonSchema.required;
    if (!catchall) delete jsonSchema.additionalProperties;
  }
  // zod's pattern only approximates `format: email`.
  if (zodSchema instanceof core.$ZodEmail) delete jsonSchema.pattern;
  // In JSON Schema, `readOnly` has another meaning.
  if (zodSchema instanceof core.$ZodReadonly) delete jsonSchema.readOnly;
  Object.assign(jsonSchema, findJsonRule(zodSchema));
}

import type * as core from "zod/v4/core";

/** A part of a JSON Schema. */
export type JsonRule = core.JSONSchema.BaseSchema;

const rules = new WeakMap<core.$ZodType, JsonRule>();

/**
 * Adds a rule to a schema for the OpenAPI document of the local Hub, and returns the schema. Use this function for checks that zod
 * cannot convert to JSON Schema because they are functions. Schemas that are derived from the schema do not have the rule.
 */
export function withJsonRule<Schema extends core.$ZodType>(schema: Schema, rule: JsonRule): Schema {
  rules.set(schema, rule);
  return schema;
}

/** Returns the rule of a schema. */
export function findJsonRule(schema: core.$ZodType): JsonRule | undefined {
  return rules.get(schema);
}

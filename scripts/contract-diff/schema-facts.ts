/** A JSON schema, or a part of an OpenAPI document. */
export type JsonObject = { readonly [name: string]: unknown };

/** The facts of a schema about one place of a value. */
export interface Fact {
  /** Types of JSON, sorted; `integer` is one of its own. */
  types: readonly string[];
  /** The only strings that are accepted, sorted; `undefined` where any is. */
  values: readonly string[] | undefined;
  required: boolean;
  /** Bounds, formats and patterns, each as `name: value`. */
  rules: readonly string[];
}

/** The facts of a schema by place: `job.flavor`, `[].watched[].type`, `resources[]<blog>.slug`. */
export type Facts = ReadonlyMap<string, Fact>;

/** Rules that the same schema may state or imply. */
const compared = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "pattern",
  "format",
  "not",
];

/** What {@link readFacts} needs. */
export interface ReadOptions {
  /** The document that resolves references. */
  document: JsonObject;
  /** Whether it matters that an object has no other fields: in a request it does, since they are refused. */
  isRequest: boolean;
}

/** Reads the facts of a schema. */
export function readFacts(schema: unknown, options: ReadOptions): Facts {
  const facts = new Map<string, Fact>();
  collect(schema, { ...options, facts, place: "", required: true });
  return facts;
}

interface Context extends ReadOptions {
  facts: Map<string, Fact>;
  place: string;
  required: boolean;
}

function collect(given: unknown, context: Context): void {
  const { document, isRequest, facts, place, required } = context;
  const variants = variantsOf(given, document);
  const objects = variants.filter((variant) => isObjectSchema(variant));
  const scalars = variants.filter((variant) => !isObjectSchema(variant));
  facts.set(place, {
    types: sorted(variants.flatMap(typesOf)),
    values: valuesOf(scalars),
    required,
    rules: sorted([
      ...scalars.flatMap(rulesOf),
      ...defaultOf(resolve(given, document)),
      ...(isRequest && objects.some((object) => object.additionalProperties === false) ? ["no other fields"] : []),
    ]),
  });
  for (const variant of scalars) {
    if (variant.items !== undefined) collect(variant.items, { ...context, place: `${place}[]`, required: true });
  }
  for (const variant of objects) {
    const name = objects.length > 1 ? `<${discriminatorOf(variant, document)}>` : "";
    collectObject(variant, { ...context, place: `${place}${name}` });
  }
}

function collectObject(schema: JsonObject, context: Context): void {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const prefix = context.place === "" ? "" : `${context.place}.`;
  for (const [name, field] of Object.entries(asObject(schema.properties))) {
    collect(field, { ...context, place: `${prefix}${name}`, required: required.includes(name) });
  }
  const names = asObject(schema.propertyNames);
  if (names.pattern !== undefined || names.maxLength !== undefined) {
    collect({ type: "string", ...names }, { ...context, place: `${prefix}{name}`, required: true });
  }
  if (isJsonObject(schema.additionalProperties)) {
    collect(schema.additionalProperties, { ...context, place: `${prefix}{value}`, required: true });
  }
}

/** The alternatives that a schema consists of; one of its own where it has none. */
function variantsOf(given: unknown, document: JsonObject): JsonObject[] {
  const schema = resolve(given, document);
  const alternatives = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list) && list.every(isSchema));
  if (Array.isArray(alternatives)) return alternatives.flatMap((alternative) => variantsOf(alternative, document));
  if (!Array.isArray(schema.type)) return [schema];
  // One variant a type: a bound is of one of them.
  return schema.type.map((type) => (type === "null" ? { type } : { ...schema, type }));
}

/** A condition on which fields are there is no schema of a value. */
function isSchema(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).some((name) => !["required", "properties", "not"].includes(name));
}

function resolve(given: unknown, document: JsonObject): JsonObject {
  const schema = asObject(given);
  if (typeof schema.$ref !== "string") return schema;
  const target = schema.$ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((part, key) => asObject(part)[key], document);
  return resolve(target, document);
}

function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === "object" || schema.properties !== undefined;
}

function typesOf(schema: JsonObject): string[] {
  if (typeof schema.type === "string") return [schema.type];
  const values = constantsOf(schema);
  if (values.length > 0) return values.map((value) => (value === null ? "null" : typeof value));
  return isObjectSchema(schema) ? ["object"] : ["any"];
}

function constantsOf(schema: JsonObject): unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.const === undefined ? [] : [schema.const];
}

/** The strings of all scalars together; any string where one of them is not limited. */
function valuesOf(scalars: JsonObject[]): string[] | undefined {
  const strings = scalars.filter((schema) => typesOf(schema).includes("string"));
  const lists = strings.map(constantsOf);
  if (strings.length === 0 || lists.some((list) => list.length === 0)) return undefined;
  return sorted(lists.flat().map(String));
}

function rulesOf(schema: JsonObject): string[] {
  const rules = compared.filter((name) => schema[name] !== undefined);
  const kept = rules.filter((name) => !isImplied(name, schema));
  return kept.map((name) => `${name}: ${JSON.stringify(schema[name])}`);
}

/** It stands beside the alternatives of a schema, and is of none of them. */
function defaultOf(schema: JsonObject): string[] {
  return schema.default === undefined ? [] : [`default: ${JSON.stringify(schema.default)}`];
}

/** A pattern that repeats a format or lengths. */
function isImplied(name: string, { format, pattern }: JsonObject): boolean {
  if (name === "pattern") return format === "date-time" || format === "email";
  return /Length$/.test(name) && typeof pattern === "string" && /^\^\[[^\]]+\]\{\d+\}\$$/.test(pattern);
}

/** The discriminator of a variant: the constants of its first field that has some. */
function discriminatorOf(schema: JsonObject, document: JsonObject): string {
  for (const field of Object.values(asObject(schema.properties))) {
    const constants = constantsOf(resolve(field, document));
    if (constants.length > 0) return sorted(constants.map(String)).join("|");
  }
  return "";
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** The value as an object; an empty one where it is none. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

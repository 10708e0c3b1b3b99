import * as z from "zod";
import * as core from "zod/v4/core";

/**
 * Makes of a schema of the contract one that reads what a newer Hub may answer: unknown fields stay, new values of an
 * enum and strings of another format are read as they come, and `null` for an optional field counts as absent. What
 * callers rely on is still checked: objects, arrays, required fields, and their types.
 *
 * The static type stays that of the given schema.
 *
 * @example
 * ```ts
 * lenient(z.strictObject({ type: z.enum(["user", "org"]) })).parse({ type: "team", size: 3 }); // as it is
 * ```
 */
export function lenient<Schema extends core.$ZodType>(schema: Schema): z.ZodType<z.output<Schema>>;
export function lenient(schema: core.$ZodType): core.$ZodType {
  if (schema instanceof core.$ZodObject) return lenientObject(schema);
  if (schema instanceof core.$ZodArray) return z.array(lenient(schema._zod.def.element));
  if (schema instanceof core.$ZodRecord) return z.record(z.string(), lenient(schema._zod.def.valueType));
  if (schema instanceof core.$ZodDiscriminatedUnion) return openVariants(schema._zod.def, lenient);
  if (schema instanceof core.$ZodUnion) return z.union(schema._zod.def.options.map((option) => lenient(option)));
  if (schema instanceof core.$ZodOptional) return z.optional(lenient(schema._zod.def.innerType));
  if (schema instanceof core.$ZodNullable) return z.nullable(lenient(schema._zod.def.innerType));
  if (schema instanceof core.$ZodDefault) {
    const { innerType, defaultValue } = schema._zod.def;
    return z._default(lenient(innerType), () => defaultValue);
  }
  if (schema instanceof core.$ZodPipe && schema._zod.def.in instanceof core.$ZodCustom) {
    return lenient(schema._zod.def.out); // A check, and then the schema.
  }
  if (schema instanceof core.$ZodEnum) return anyLike(Object.values(schema._zod.def.entries));
  if (schema instanceof core.$ZodLiteral) return anyLike(schema._zod.def.values);
  if (schema instanceof core.$ZodString) return z.string();
  if (schema instanceof core.$ZodNumber) return z.number();
  return schema;
}

function lenientObject(schema: core.$ZodObject): core.$ZodType {
  const fields = Object.entries(schema._zod.def.shape);
  const nullable = new Set(fields.filter(([, field]) => acceptsNullAsAbsent(field)).map(([name]) => name));
  const shape = Object.fromEntries(fields.map(([name, field]) => [name, lenient(field)]));
  // A clone, which keeps what the schema refines: that one of two names is there.
  const object = core.clone(schema, { ...schema._zod.def, shape, catchall: z.unknown() });
  return z.preprocess((value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name, field]) => field !== null || !nullable.has(name)));
  }, object);
}

/**
 * The variants of a union, each mapped by `map`: a known variant is checked as what it is, a new one is accepted as it
 * comes.
 */
function openVariants(
  { discriminator, options }: core.$ZodDiscriminatedUnionDef,
  map: (option: core.$ZodType) => core.$ZodType,
): core.$ZodType {
  const variants = new Map(
    options.flatMap((option) =>
      [...(option._zod.propValues?.[discriminator] ?? [])].map((name) => [name, map(option)] as const),
    ),
  );
  const isNew = z.looseObject({ [discriminator]: z.string() });
  return z.unknown().transform((value, context) => {
    const name = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
    const result = core.safeParse(variants.get(name) ?? isNew, value);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  });
}

/** Where `null` has a meaning of its own, it stays. */
function acceptsNullAsAbsent(field: core.$ZodType): boolean {
  return field._zod.optin !== undefined && !core.safeParse(field, null).success;
}

/** Any value of the types that these values have. */
function anyLike(values: readonly core.util.Literal[]): core.$ZodType {
  const types = new Set(values.map((value) => typeof value));
  if (types.size !== 1) return z.unknown();
  if (types.has("string")) return z.string();
  if (types.has("number")) return z.number();
  if (types.has("boolean")) return z.boolean();
  return z.unknown();
}

/**
 * Makes of a schema of a request one that also accepts fields and enum values that this release does not list: the Hub
 * may be newer. Required fields, types, formats and bounds stay as they are.
 */
export function acceptUnknown<Schema extends core.$ZodType>(
  schema: Schema,
): z.ZodType<z.output<Schema>, z.input<Schema>>;
export function acceptUnknown(schema: core.$ZodType): core.$ZodType {
  if (schema instanceof core.$ZodEnum) return z.string();
  if (schema instanceof core.$ZodObject) {
    const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => [name, acceptUnknown(field)] as const);
    return core.clone(schema, { ...schema._zod.def, shape: Object.fromEntries(fields), catchall: z.unknown() });
  }
  if (schema instanceof core.$ZodArray) {
    return core.clone(schema, { ...schema._zod.def, element: acceptUnknown(schema._zod.def.element) });
  }
  if (schema instanceof core.$ZodDiscriminatedUnion) return openVariants(schema._zod.def, acceptUnknown);
  if (isWrapper(schema)) {
    return core.clone(schema, { ...schema._zod.def, innerType: acceptUnknown(schema._zod.def.innerType) });
  }
  return schema;
}

type Wrapper = core.$ZodOptional | core.$ZodNullable | core.$ZodDefault | core.$ZodReadonly;

/** Whether a schema only adds optional, nullable, a default or readonly to another. */
export function isWrapper(schema: core.$ZodType): schema is Wrapper {
  return [core.$ZodOptional, core.$ZodNullable, core.$ZodDefault, core.$ZodReadonly].some(
    (kind) => schema instanceof kind,
  );
}

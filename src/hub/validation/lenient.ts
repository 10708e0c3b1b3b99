import * as z from "zod/mini";
import * as core from "zod/v4/core";
import { describeIssue } from "../../core/describe.ts";

/**
 * Derives a schema that accepts the responses of a newer Hub: unknown fields are kept, new enum values and strings in other formats
 * are accepted, and `null` in an optional field counts as missing. Objects, arrays, required fields, and types are still checked.
 * The static type does not change.
 *
 * @example
 * ```ts
 * lenient(z.strictObject({ type: z.enum(["user", "org"]) })).parse({ type: "team", size: 3 }); // returns the object unchanged
 * ```
 */
export function lenient<Schema extends core.$ZodType>(schema: Schema): z.ZodMiniType<z.output<Schema>>;
export function lenient(schema: core.$ZodType): core.$ZodType {
  if (schema instanceof core.$ZodEnum) return anyOfTypes(Object.values(schema._zod.def.entries));
  if (schema instanceof core.$ZodLiteral) return anyOfTypes(schema._zod.def.values);
  if (schema instanceof core.$ZodString) return z.string();
  if (schema instanceof core.$ZodNumber) return z.number();
  if (schema instanceof core.$ZodRecord) return z.record(z.string(), lenient(schema._zod.def.valueType));
  if (schema instanceof core.$ZodPipe && schema._zod.def.in instanceof core.$ZodCustom) {
    return lenient(schema._zod.def.out); // The pipe only adds a check before this schema.
  }
  if (schema instanceof core.$ZodArray) return z.array(lenient(schema._zod.def.element));
  if (schema instanceof core.$ZodUnion && !(schema instanceof core.$ZodDiscriminatedUnion)) {
    return z.union(schema._zod.def.options.map((option) => lenient(option)));
  }
  const derived = mapParts(schema, lenient);
  return schema instanceof core.$ZodObject ? dropNulls(derived, schema._zod.def.shape) : derived;
}

/**
 * Derives a schema that also accepts unknown fields and enum values in a request, because the Hub can be newer than this release.
 * Required fields, types, formats, and bounds are still checked.
 */
export function acceptUnknown<Schema extends core.$ZodType>(
  schema: Schema,
): z.ZodMiniType<z.output<Schema>, z.input<Schema>>;
export function acceptUnknown(schema: core.$ZodType): core.$ZodType {
  return schema instanceof core.$ZodEnum ? z.string() : mapParts(schema, acceptUnknown);
}

type MapSchema = (schema: core.$ZodType) => core.$ZodType;

/** Clones a schema with its checks, and maps nested schemas. Objects in the clone accept unknown fields. */
function mapParts(schema: core.$ZodType, map: MapSchema): core.$ZodType {
  if (schema instanceof core.$ZodObject) {
    const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => [name, map(field)] as const);
    return core.clone(schema, { ...schema._zod.def, shape: Object.fromEntries(fields), catchall: z.unknown() });
  }
  if (schema instanceof core.$ZodArray) {
    return core.clone(schema, { ...schema._zod.def, element: map(schema._zod.def.element) });
  }
  if (schema instanceof core.$ZodDiscriminatedUnion) return acceptUnknownVariants(schema._zod.def, map);
  if (isWrapper(schema)) return core.clone(schema, { ...schema._zod.def, innerType: map(schema._zod.def.innerType) });
  return schema;
}

/** Treats `null` as missing in optional fields that do not accept `null`. */
function dropNulls(object: core.$ZodType, shape: core.$ZodShape): core.$ZodType {
  const names = Object.entries(shape).flatMap(([name, field]) =>
    field._zod.optin !== undefined && !core.safeParse(field, null).success ? [name] : [],
  );
  if (names.length === 0) return object;
  const withoutNulls = z.transform((value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name, field]) => field !== null || !names.includes(name)));
  });
  return z.pipe(withoutNulls, object);
}

/** Derives a schema that checks known variants of a union and accepts unknown variants unchanged. */
function acceptUnknownVariants(
  { discriminator, options }: core.$ZodDiscriminatedUnionDef,
  map: MapSchema,
): core.$ZodType {
  const unknownVariant = z.looseObject({ [discriminator]: z.string() });
  return z.transform((value: unknown, context) => {
    const option = findVariant({ discriminator, options }, value);
    const result = core.safeParse(option ? map(option) : unknownVariant, value, { error: describeIssue });
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) {
      context.issues.push({ code: "custom", path, message, input: value });
    }
    return z.NEVER;
  });
}

/** Returns the variant of a discriminated union to which a value belongs, or `undefined` if the variant is unknown. */
export function findVariant(
  { discriminator, options }: Pick<core.$ZodDiscriminatedUnionDef, "discriminator" | "options">,
  value: unknown,
): core.$ZodType | undefined {
  const name: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  return options.find((option) => [...(option._zod.propValues?.[discriminator] ?? [])].some((known) => known === name));
}

/** Creates a schema that accepts all values of the same types as these values. */
function anyOfTypes(values: readonly core.util.Literal[]): core.$ZodType {
  const types = new Set(values.map((value) => typeof value));
  if (types.size !== 1) return z.unknown();
  if (types.has("string")) return z.string();
  if (types.has("number")) return z.number();
  return types.has("boolean") ? z.boolean() : z.unknown();
}

type Wrapper = core.$ZodOptional | core.$ZodNullable | core.$ZodDefault | core.$ZodReadonly;

/** Whether a schema only makes another schema optional, nullable, or read-only, or adds a default. */
export function isWrapper(schema: core.$ZodType): schema is Wrapper {
  return [core.$ZodOptional, core.$ZodNullable, core.$ZodDefault, core.$ZodReadonly].some(
    (kind) => schema instanceof kind,
  );
}

import { z } from "@hono/zod-openapi";

/**
 * Makes of a schema of the contract one that takes what a newer Hub may answer: unknown fields are kept, new members of
 * an enum and texts of another format are taken, and `null` for a field that may be absent counts as absent. What holds
 * a value together is still asked for: objects, arrays, the fields that are always there, and their types.
 *
 * The type stays that of the strict schema, which is what the specification promises.
 *
 * @example
 * ```ts
 * tolerant(z.strictObject({ type: z.enum(["user", "org"]) })).parse({ type: "team", size: 3 }); // as it is
 * ```
 */
export function tolerant<Schema extends z.core.$ZodType>(schema: Schema): z.ZodType<z.output<Schema>>;
export function tolerant(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.core.$ZodObject) return tolerantObject(schema._zod.def.shape);
  if (schema instanceof z.core.$ZodArray) return z.array(tolerant(schema._zod.def.element));
  if (schema instanceof z.core.$ZodRecord) return z.record(z.string(), tolerant(schema._zod.def.valueType));
  if (schema instanceof z.core.$ZodDiscriminatedUnion) return tolerantVariants(schema._zod.def);
  if (schema instanceof z.core.$ZodUnion) return z.union(schema._zod.def.options.map((option) => tolerant(option)));
  if (schema instanceof z.core.$ZodOptional) return z.optional(tolerant(schema._zod.def.innerType));
  if (schema instanceof z.core.$ZodNullable) return z.nullable(tolerant(schema._zod.def.innerType));
  if (schema instanceof z.core.$ZodDefault) {
    const { innerType, defaultValue } = schema._zod.def;
    return z._default(tolerant(innerType), () => defaultValue);
  }
  if (schema instanceof z.core.$ZodPipe && schema._zod.def.in instanceof z.core.$ZodCustom) {
    return tolerant(schema._zod.def.out); // A check, and then the schema.
  }
  if (schema instanceof z.core.$ZodEnum) return anyLike(Object.values(schema._zod.def.entries));
  if (schema instanceof z.core.$ZodLiteral) return anyLike(schema._zod.def.values);
  if (schema instanceof z.core.$ZodString) return z.string();
  if (schema instanceof z.core.$ZodNumber) return z.number();
  return schema;
}

function tolerantObject(shape: z.core.$ZodShape): z.core.$ZodType {
  const fields = Object.entries(shape);
  const nullable = new Set(fields.filter(([, field]) => takesNullAsAbsent(field)).map(([name]) => name));
  const object = z.looseObject(Object.fromEntries(fields.map(([name, field]) => [name, tolerant(field)])));
  return z.preprocess((value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name, field]) => field !== null || !nullable.has(name)));
  }, object);
}

/** A variant that is known is held to what it is; one that is new is taken as it comes. */
function tolerantVariants({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef): z.core.$ZodType {
  const variants = new Map(
    options.flatMap((option) =>
      [...(option._zod.propValues?.[discriminator] ?? [])].map((name) => [name, tolerant(option)] as const),
    ),
  );
  const isNew = z.looseObject({ [discriminator]: z.string() });
  return z.unknown().transform((value, context) => {
    const name = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
    const result = z.core.safeParse(variants.get(name) ?? isNew, value);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) context.addIssue({ code: "custom", path, message });
    return z.NEVER;
  });
}

/** Where `null` has a meaning of its own, it stays. */
function takesNullAsAbsent(field: z.core.$ZodType): boolean {
  return field._zod.optin !== undefined && !z.core.safeParse(field, null).success;
}

/** Any value of the types that these values have. */
function anyLike(values: readonly z.core.util.Literal[]): z.core.$ZodType {
  const types = new Set(values.map((value) => typeof value));
  if (types.size !== 1) return z.unknown();
  if (types.has("string")) return z.string();
  if (types.has("number")) return z.number();
  if (types.has("boolean")) return z.boolean();
  return z.unknown();
}

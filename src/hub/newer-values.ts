import { z } from "@hono/zod-openapi";
import { suggest } from "../core/option-error.ts";
import { fieldName } from "./contract/problems.ts";
import { openVariants } from "./lenient.ts";

/** A field or a value of a request that this release does not list. */
export interface NewerPart {
  /** Where it is, as in `watched[0].type`. */
  field: string;
  /** The value that is not listed; `undefined` where the field itself is not. */
  value: string | undefined;
  /** What was meant, if it is a typing error; may be empty. */
  hint: string;
}

/**
 * Makes of a schema of a request one that also accepts fields and enum values that this release does not list: the Hub
 * may be newer. Required fields, types, formats and bounds stay as they are.
 */
export function acceptNewer<Schema extends z.core.$ZodType>(
  schema: Schema,
): z.ZodType<z.output<Schema>, z.input<Schema>>;
export function acceptNewer(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.core.$ZodEnum) return z.string();
  if (schema instanceof z.core.$ZodObject) {
    const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => [name, acceptNewer(field)] as const);
    return z.core.clone(schema, { ...schema._zod.def, shape: Object.fromEntries(fields), catchall: z.unknown() });
  }
  if (schema instanceof z.core.$ZodArray) {
    return z.core.clone(schema, { ...schema._zod.def, element: acceptNewer(schema._zod.def.element) });
  }
  if (schema instanceof z.core.$ZodDiscriminatedUnion) return openVariants(schema._zod.def, acceptNewer);
  if (isWrapper(schema)) {
    return z.core.clone(schema, { ...schema._zod.def, innerType: acceptNewer(schema._zod.def.innerType) });
  }
  return schema;
}

/** The fields and enum values of a request that the schema does not list. */
export function newerParts(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[] = []): NewerPart[] {
  if (value === undefined || value === null) return [];
  if (schema instanceof z.core.$ZodEnum) return newerValue(Object.values(schema._zod.def.entries), { value, path });
  if (schema instanceof z.core.$ZodObject) return newerFields(schema._zod.def.shape, { value, path });
  if (schema instanceof z.core.$ZodArray) {
    const { element } = schema._zod.def;
    return Array.isArray(value) ? value.flatMap((item, index) => newerParts(element, item, [...path, index])) : [];
  }
  if (schema instanceof z.core.$ZodDiscriminatedUnion) return newerVariant(schema._zod.def, { value, path });
  if (isWrapper(schema)) return newerParts(schema._zod.def.innerType, value, path);
  return [];
}

type Place = { value: unknown; path: readonly PropertyKey[] };

function newerValue(known: readonly z.core.util.Literal[], { value, path }: Place): NewerPart[] {
  if (typeof value !== "string" || known.includes(value)) return [];
  return [{ field: fieldName(path), value, hint: suggest(value, known.map(String)) }];
}

function newerFields(shape: z.core.$ZodShape, { value, path }: Place): NewerPart[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field) return newerParts(field, part, [...path, name]);
    if (part === undefined) return [];
    return [{ field: fieldName([...path, name]), value: undefined, hint: suggest(name, Object.keys(shape)) }];
  });
}

function newerVariant(
  { discriminator, options }: z.core.$ZodDiscriminatedUnionDef,
  { value, path }: Place,
): NewerPart[] {
  const name: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  const variant = options.find((option) =>
    [...(option._zod.propValues?.[discriminator] ?? [])].some((known) => known === name),
  );
  if (variant) return newerParts(variant, value, path);
  return name === undefined ? [] : [{ field: fieldName([...path, discriminator]), value: String(name), hint: "" }];
}

type Wrapper = z.core.$ZodOptional | z.core.$ZodNullable | z.core.$ZodDefault | z.core.$ZodReadonly;

function isWrapper(schema: z.core.$ZodType): schema is Wrapper {
  return [z.core.$ZodOptional, z.core.$ZodNullable, z.core.$ZodDefault, z.core.$ZodReadonly].some(
    (kind) => schema instanceof kind,
  );
}

import * as core from "zod/v4/core";
import type { Logger } from "../../core/log.ts";
import { suggest } from "../../core/options.ts";
import type { Redact } from "../transport/request-secrets.ts";
import { fieldName } from "./arguments.ts";
import { findVariant, isWrapper } from "./lenient.ts";

/** A field or an enum value of a request that is unknown to this release. */
export interface UnknownPart {
  /** The path of the field in JavaScript notation, such as `watched[0].type`. */
  field: string;
  /** The unknown value, or `undefined` if the field itself is unknown. */
  value: string | undefined;
  /** A suggestion to append to a message, or an empty string. */
  hint: string;
}

/** Finds the fields and enum values of a request that are not in the schema. */
export function findUnknownParts(
  schema: core.$ZodType,
  value: unknown,
  path: readonly PropertyKey[] = [],
): UnknownPart[] {
  if (value === undefined || value === null) return [];
  if (schema instanceof core.$ZodEnum) return unknownValue(Object.values(schema._zod.def.entries), { value, path });
  if (schema instanceof core.$ZodObject) return unknownFields(schema._zod.def.shape, { value, path });
  if (schema instanceof core.$ZodArray) {
    const { element } = schema._zod.def;
    return Array.isArray(value)
      ? value.flatMap((item, index) => findUnknownParts(element, item, [...path, index]))
      : [];
  }
  if (schema instanceof core.$ZodDiscriminatedUnion) return unknownVariant(schema._zod.def, { value, path });
  if (isWrapper(schema)) return findUnknownParts(schema._zod.def.innerType, value, path);
  return [];
}

type Located = { value: unknown; path: readonly PropertyKey[] };

function unknownValue(known: readonly core.util.Literal[], { value, path }: Located): UnknownPart[] {
  if (typeof value !== "string" || known.includes(value)) return [];
  return [{ field: fieldName(path), value, hint: suggest(value, known.map(String)) }];
}

function unknownFields(shape: core.$ZodShape, { value, path }: Located): UnknownPart[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field) return findUnknownParts(field, part, [...path, name]);
    if (part === undefined) return [];
    return [{ field: fieldName([...path, name]), value: undefined, hint: suggest(name, Object.keys(shape)) }];
  });
}

function unknownVariant(
  { discriminator, options }: core.$ZodDiscriminatedUnionDef,
  { value, path }: Located,
): UnknownPart[] {
  const variant = findVariant({ discriminator, options }, value);
  if (variant) return findUnknownParts(variant, value, path);
  const name: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  return name === undefined ? [] : [{ field: fieldName([...path, discriminator]), value: String(name), hint: "" }];
}

/** The maximum number of different warnings. Without a limit, values from outside the program could fill the memory. */
const maxWarnings = 1_000;

/**
 * Creates a function that logs one warning for each unknown field or value that is sent.
 *
 * @param logger the logger for warnings. Default: `process.emitWarning`, or `console.warn` in runtimes without `process.emitWarning`.
 */
export function createUnknownPartWarner(logger: Logger | undefined) {
  const warned = new Set<string>();
  return (
    parts: readonly UnknownPart[],
    { operationId, action, redact }: { operationId: string; action: string; redact: Redact },
  ): void => {
    for (const part of parts) {
      const field = redact(part.field);
      const value = part.value === undefined ? undefined : redact(part.value.slice(0, 100));
      // All items of a list share one warning.
      const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), value]);
      if (warned.has(key) || warned.size >= maxWarnings) continue;
      warned.add(key);
      const what = value === undefined ? `Unknown field "${field}"` : `Unknown value "${value}" of "${field}"`;
      const message = `${what} was sent unchanged to ${action}. The Hub may have added it after ${packageVersion}.${part.hint}`;
      const code = value === undefined ? "UNKNOWN_FIELD" : "UNKNOWN_VALUE";
      if (logger) logger.warn({ code, operation: operationId, field, ...(value !== undefined && { value }) }, message);
      else emit(message, code);
    }
  };
}

function emit(message: string, code: string): void {
  if (typeof process !== "undefined" && typeof process.emitWarning === "function") {
    process.emitWarning(message, { type: "HubWarning", code });
  } else {
    console.warn(message);
  }
}

/** The name and version of this package. The version is a constant, because some runtimes cannot read package.json. */
export const packageVersion = "hub-webhooks 0.1.0";

import * as core from "zod/v4/core";
import type { Logger } from "../core/logger.ts";
import { suggest } from "../core/option-error.ts";
import { fieldName } from "./arguments.ts";
import { isWrapper } from "./lenient.ts";
import { packageVersion } from "./package-version.ts";
import type { Redact } from "./redaction.ts";

/** A field or a value of a request that this release does not list. */
export interface UnknownPart {
  /** Where it is, as in `watched[0].type`. */
  field: string;
  /** The value that is not listed; `undefined` where the field itself is not. */
  value: string | undefined;
  /** What was meant, if it is a typing error; may be empty. */
  hint: string;
}

/** The fields and enum values of a request that the schema does not list. */
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

type Place = { value: unknown; path: readonly PropertyKey[] };

function unknownValue(known: readonly core.util.Literal[], { value, path }: Place): UnknownPart[] {
  if (typeof value !== "string" || known.includes(value)) return [];
  return [{ field: fieldName(path), value, hint: suggest(value, known.map(String)) }];
}

function unknownFields(shape: core.$ZodShape, { value, path }: Place): UnknownPart[] {
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
  { value, path }: Place,
): UnknownPart[] {
  const name: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  const variant = options.find((option) =>
    [...(option._zod.propValues?.[discriminator] ?? [])].some((known) => known === name),
  );
  if (variant) return findUnknownParts(variant, value, path);
  return name === undefined ? [] : [{ field: fieldName([...path, discriminator]), value: String(name), hint: "" }];
}

/** How many different warnings are remembered: a program may take its values from elsewhere. */
const maxRemembered = 1_000;

/** Warns of fields and values that were sent although this release does not list them: once each. */
export class UnknownPartWarnings {
  readonly #logger: Logger | undefined;
  readonly #given = new Set<string>();

  /** Without a logger it warns by `process.emitWarning`, where there is none by `console.warn`. */
  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  warn(
    parts: readonly UnknownPart[],
    { operation, action, redact }: { operation: string; action: string; redact: Redact },
  ): void {
    for (const part of parts) {
      const field = redact(part.field);
      const value = part.value === undefined ? undefined : redact(part.value.slice(0, 100));
      // The same value at another place of a list is the same warning.
      const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), value]);
      if (this.#given.has(key) || this.#given.size >= maxRemembered) continue;
      this.#given.add(key);
      const what = value === undefined ? `Unknown field "${field}"` : `Unknown value "${value}" of "${field}"`;
      const message = `${what}, sent as given to ${action}: it may be newer than ${packageVersion}.${part.hint}`;
      const code = value === undefined ? "UNKNOWN_FIELD" : "UNKNOWN_VALUE";
      if (this.#logger) this.#logger.warn({ code, operation, field, ...(value !== undefined && { value }) }, message);
      else emit(message, code);
    }
  }
}

function emit(message: string, code: string): void {
  if (typeof process !== "undefined" && typeof process.emitWarning === "function") {
    process.emitWarning(message, { type: "HubWarning", code });
  } else {
    console.warn(message);
  }
}

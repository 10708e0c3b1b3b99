import * as z from "zod/mini";
import { repositoryName, repoTypes } from "../payload/names.ts";

/*
 * In comments, "the specification" is the OpenAPI document that the Hub published in April 2026. docs/reference/hub-api.md
 * documents the specification and later additions.
 *
 * The Hub adds values to some fields from time to time. The local Hub accepts only known values. The client sends unknown values
 * with a warning (`unknown-parts.ts`) and accepts unknown values in responses (`lenient.ts`), so the types of the client are open.
 */

/** A part of a JSON Schema. */
export type JsonRule = z.core.JSONSchema.BaseSchema;

const rules = new WeakMap<z.core.$ZodType, JsonRule>();

/**
 * Adds a rule to a schema for the OpenAPI document of the local Hub, and returns the schema. Use this function for checks that zod
 * cannot convert to JSON Schema because they are functions. Schemas that are derived from the schema do not have the rule.
 */
export function withJsonRule<Schema extends z.core.$ZodType>(schema: Schema, rule: JsonRule): Schema {
  rules.set(schema, rule);
  return schema;
}

/** Returns the rule of a schema. */
export function findJsonRule(schema: z.core.$ZodType): JsonRule | undefined {
  return rules.get(schema);
}

/** A known value, or a value that the Hub added after this release. Editors suggest the known values. */
export type Open<Known extends string> = Known | (string & {});

/**
 * Creates the schema of an enum in a response or a query. The schema accepts only known values, for the local Hub. `lenient()` and
 * `acceptUnknown()` derive schemas for the client that accept unknown values.
 */
export function responseEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodMiniType<Open<Known[number]>, Open<Known[number]>> {
  return z.enum(known);
}

/** Creates the schema of an enum in a request body. Like {@link responseEnum}, but the parsed type contains only known values. */
export function requestEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodMiniType<Known[number], Open<Known[number]>> {
  return z.enum(known);
}

/** An ID of 24 lowercase hexadecimal digits. */
export const objectId = z.string().check(z.regex(/^[0-9a-f]{24}$/, "expected 24 lowercase hexadecimal digits"));

/** An ID of 24 hexadecimal digits in uppercase or lowercase, which some requests accept. */
export const objectIdInEitherCase = z.string().check(z.regex(/^[0-9a-fA-F]{24}$/, "expected 24 hexadecimal digits"));

/** A URL in a response. `z.url` is not used, because it would increase the size of the client. */
export const uri = withJsonRule(z.string().check(z.refine((text) => URL.canParse(text), "expected a URL")), {
  format: "uri",
});

/** A date and time in ISO 8601 format, in UTC with a trailing `Z`. Fractional seconds are optional. */
export const timestamp = withJsonRule(
  z.string().check(z.refine(isUtcTime, "expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z")),
  { format: "date-time", pattern: "^\\S+Z$" },
);

function isUtcTime(text: string): boolean {
  const [, seconds] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(text) ?? [];
  const time = Date.parse(`${seconds}Z`);
  // `Date.parse` accepts days such as February 30.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(`${seconds}.`);
}

/** A response body that the Hub does not document. Callers must not rely on the content. */
export const undocumentedBody = z.unknown();

/** The type of a repository. */
export const repoType = requestEnum(repoTypes);

/** A repository by name and type. */
export const repoRef = z.strictObject({
  /** `<owner>/<repo_name>`, or `<repo_name>` for the oldest repositories, such as `gpt2`. */
  name: z.string().check(z.regex(repositoryName, 'expected "owner/name"')),
  type: repoType,
});

/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
export type RepoRef = {
  /** `<owner>/<repo_name>`, or `<repo_name>` for the oldest repositories, such as `gpt2`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};

/** A repository whose type is known to this release. */
export type KnownRepoRef = z.output<typeof repoRef>;

/** The built-in roles of all organizations. An organization can also define custom roles. */
export const organizationRoles = ["admin", "write", "contributor", "read", "no_access"] as const;

/** A role in an organization or in a resource group: a built-in role, or the name of a custom role. */
export type OrganizationRole = (typeof organizationRoles)[number] | (string & {});

/** The schema of {@link OrganizationRole}. */
export const organizationRole: z.ZodMiniType<OrganizationRole, OrganizationRole> = z.union(
  [z.enum(organizationRoles), z.string().check(z.minLength(1))],
  `expected a role: ${organizationRoles.join(", ")}, or the name of a custom role`,
);

/** The path parameter of operations on an organization. */
export const organizationName = z.object({ name: z.string() });

/** The decoded query of an operation. All fields are optional. */
export type SearchOf<Query extends z.ZodMiniType> = {
  [Name in keyof z.output<Query>]?: z.output<Query>[Name] | undefined;
};

/** Creates the schema of a query parameter: a whole number from `minimum` to `maximum`. Default `fallback`. */
export function wholeNumber({ fallback, ...bounds }: { minimum: number; maximum: number; fallback: number }) {
  return z._default(numberCodec(bounds), fallback);
}

/** Creates the schema of a query parameter: a whole number from `minimum` to `maximum`, or nothing. */
export function optionalWholeNumber(bounds: { minimum: number; maximum: number }) {
  return z.optional(numberCodec(bounds));
}

function numberCodec({ minimum, maximum }: { minimum: number; maximum: number }) {
  const expected = `expected a whole number from ${minimum} to ${maximum}`;
  const text = z.string().check(z.regex(/^(?:0|[1-9]\d{0,15})$/, expected));
  const number = z.int(expected).check(z.minimum(minimum, expected), z.maximum(maximum, expected));
  return z.codec(text, number, { decode: Number, encode: String });
}

/** Creates the schema of a query parameter: `true` or `false`. Default `false`. */
export function flag() {
  const codec = z.codec(z.enum(["true", "false"]), z.boolean(), {
    decode: (text) => text === "true",
    encode: (value) => (value ? "true" : "false"),
  });
  return z._default(codec, false);
}

/**
 * Creates the schema of a query parameter that official clients send as `true`, `True`, or `1`.
 *
 * @param options.encoded how the client sends `true`.
 * @param options.fallback the default of the parameter. Default `false`.
 */
export function clientFlag({
  encoded = "true",
  fallback = false,
}: {
  encoded?: "true" | "1";
  fallback?: boolean;
} = {}) {
  const codec = z.codec(z.enum(["true", "false", "True", "False", "1", "0"]), z.boolean(), {
    decode: (text) => /^(true|1)$/i.test(text),
    encode: (value) => (value ? encoded : "false"),
  });
  return z._default(codec, fallback);
}

/** Creates the schema of a query parameter that can be repeated. Default: no values. */
export function repeatable() {
  const codec = z.codec(z.union([z.string(), z.array(z.string())]), z.array(z.string()), {
    decode: (sent) => [sent].flat(),
    encode: (values) => values,
  });
  return z._default(codec, []);
}

import * as z from "zod/mini";
import { repoTypes } from "../payload/schema.ts";
import { withJsonRule } from "./validation/json-rule.ts";

/*
 * In comments, "the specification" is the one that the Hub published in April 2026. docs/reference/hub-api.md documents it,
 * and the additions since.
 *
 * The Hub adds values to some fields from time to time. The local Hub accepts only the known values. The client sends
 * unknown values with a warning (`unknown-parts.ts`) and accepts them in responses (`lenient.ts`), so its types are open.
 */

/** A known value, or one that the Hub added after this release. Editors suggest the known values. */
export type Open<Known extends string> = Known | (string & {});

/**
 * An enum of a response or a query. Closed here, which the local Hub uses; `lenient()` and `acceptUnknown()` open it for the
 * client.
 */
export function responseEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodMiniType<Open<Known[number]>, Open<Known[number]>> {
  return z.enum(known);
}

/** An enum of a request body. Like {@link responseEnum}, but its parsed type has only the known values. */
export function requestEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodMiniType<Known[number], Open<Known[number]>> {
  return z.enum(known);
}

/** An ID of 24 lowercase hexadecimal digits. */
export const objectId = z.string().check(z.regex(/^[0-9a-f]{24}$/, "expected 24 lowercase hexadecimal digits"));

/** An ID of 24 hexadecimal digits, which some requests accept in uppercase or lowercase. */
export const objectIdInEitherCase = z.string().check(z.regex(/^[0-9a-fA-F]{24}$/, "expected 24 hexadecimal digits"));

/** A date and time in ISO 8601 format, in UTC with a trailing `Z`. Fractional seconds are optional. */
export const timestamp = withJsonRule(
  z.iso.datetime("expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z"),
  { pattern: "^\\S+Z$" },
);

/** A response body that the Hub does not document. Callers must not rely on it. */
export const undocumentedBody = z.unknown();

/** The type of a repository. */
export const repoType = requestEnum(repoTypes);

/** A repository by name and type. */
export const repoRef = z.strictObject({
  /** `<owner>/<repo_name>`. */
  name: z.string().check(z.regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"')),
  type: repoType,
});

/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
export type RepoRef = {
  /** `<owner>/<repo_name>`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};

/** A repository of a type that this release lists. */
export type KnownRepoRef = z.output<typeof repoRef>;

/** The built-in roles of every organization. An organization can also define custom roles. */
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

/** The decoded query of an operation. Every field is optional. */
export type SearchOf<Query extends z.ZodMiniType> = {
  [Name in keyof z.output<Query>]?: z.output<Query>[Name] | undefined;
};

/** A query parameter: a whole number from `minimum` to `maximum`, with the default `fallback`. */
export function wholeNumber({ minimum, maximum, fallback }: { minimum: number; maximum: number; fallback: number }) {
  const expected = `expected a whole number from ${minimum} to ${maximum}`;
  const text = z.string().check(z.regex(/^(?:0|[1-9]\d{0,15})$/, expected));
  const number = z.int(expected).check(z.minimum(minimum, expected), z.maximum(maximum, expected));
  return z._default(z.codec(text, number, { decode: Number, encode: String }), fallback);
}

/** A query parameter: `true` or `false`. Default `false`. */
export function flag() {
  const codec = z.codec(z.enum(["true", "false"]), z.boolean(), {
    decode: (text) => text === "true",
    encode: (value) => (value ? "true" : "false"),
  });
  return z._default(codec, false);
}

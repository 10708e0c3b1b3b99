import * as z from "zod";
import { repoTypes } from "../payload/schema.ts";

/*
 * The values of a field that the Hub extends from time to time. A local Hub accepts the known ones. The client sends any
 * other with a warning (`newer-values.ts`) and reads any other as it comes (`lenient.ts`), so its types are open.
 */

/** One of the known values, or one that is newer than this release. Editors complete the known ones. */
export type Open<Known extends string> = Known | (string & {});

/** An enum of an answer or of a search. */
export function openEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodType<Open<Known[number]>, Open<Known[number]>> {
  return z.enum(known);
}

/** An enum of the body of a request: what is read from it is a known value. */
export function requestEnum<const Known extends readonly [string, ...string[]]>(
  known: Known,
): z.ZodType<Known[number], Open<Known[number]>> {
  return z.enum(known);
}

/** A 24-character lower-case hexadecimal id. */
export const objectId = z.string().regex(/^[0-9a-f]{24}$/, "expected 24 lower-case hexadecimal digits");

/** The same as some requests take it: in either case. */
export const objectIdInEitherCase = z.string().regex(/^[0-9a-fA-F]{24}$/, "expected 24 hexadecimal digits");

/** A date and time in UTC, ISO 8601, that ends in `Z`; the fraction of a second is optional. */
export const timestamp = z.iso
  .datetime("expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z")
  .meta({ pattern: "^\\S+Z$" });

/** A response body that hub-api.md does not document. Callers must not rely on it. */
export const undocumentedBody = z.unknown();

/** The type of a repository. */
export const repoType = requestEnum(repoTypes);

/** A repository by name and type. */
export const repoId = z.strictObject({
  /** `<owner>/<repo_name>`. */
  name: z.string().regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'),
  type: repoType,
});

/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
export type RepoId = {
  /** `<owner>/<repo_name>`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};

/** A repository of a type that this release lists. */
export type KnownRepoId = z.output<typeof repoId>;

/** The roles that every organization has; others are its own. */
export const organizationRoles = ["admin", "write", "contributor", "read", "no_access"] as const;

/** A role in an organization or in a resource group: one of five, or the name of a custom one. */
export type OrganizationRole = (typeof organizationRoles)[number] | (string & {});

/** The schema of a role; its type keeps the known ones, so that editors complete them. */
export const organizationRole: z.ZodType<OrganizationRole, OrganizationRole> = z.union(
  [z.enum(organizationRoles), z.string().min(1)],
  `expected a role: ${organizationRoles.join(", ")}, or the name of a custom one`,
);

/** The name of an organization, as a part of the path. */
export const organizationName = z.object({ name: z.string() });

/*
 * A query has only texts, where the client and the document speak of numbers and booleans: so each of these reads a text
 * and writes it, and tells the document by hand what it stands for.
 */

/** What a program may ask for: each field may be left out. */
export type SearchOf<Query extends z.ZodType> = {
  [Name in keyof z.output<Query>]?: z.output<Query>[Name] | undefined;
};

/** A whole number from `minimum` to `maximum`, and `fallback` where it is left out. */
export function wholeNumber({ minimum, maximum, fallback }: { minimum: number; maximum: number; fallback: number }) {
  const expected = `expected a whole number from ${minimum} to ${maximum}`;
  return z
    .codec(
      z.string().regex(/^(?:0|[1-9]\d{0,15})$/, expected),
      z.int(expected).min(minimum, expected).max(maximum, expected),
      {
        decode: Number,
        encode: String,
      },
    )
    .default(fallback)
    .meta({ type: "integer", minimum, maximum, default: fallback });
}

/** `true` or `false`, and `false` where it is left out. */
export function flag() {
  return z
    .codec(z.enum(["true", "false"]), z.boolean(), {
      decode: (text) => text === "true",
      encode: (value) => (value ? "true" : "false"),
    })
    .default(false)
    .meta({ type: "boolean", default: false });
}

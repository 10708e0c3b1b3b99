import { z } from "@hono/zod-openapi";

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

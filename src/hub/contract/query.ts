import { z } from "@hono/zod-openapi";

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
    .openapi({ type: "integer", minimum, maximum, default: fallback });
}

/** `true` or `false`, and `false` where it is left out. */
export function flag() {
  return z
    .codec(z.enum(["true", "false"]), z.boolean(), {
      decode: (text) => text === "true",
      encode: (value) => (value ? "true" : "false"),
    })
    .default(false)
    .openapi({ type: "boolean", default: false });
}

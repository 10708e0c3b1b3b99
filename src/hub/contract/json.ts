import type { z } from "@hono/zod-openapi";

/** An answer of JSON: for the `responses` of a route. */
export function jsonAnswer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { "application/json": { schema } } };
}

/** A body of JSON that must be sent: for the `request` of a route. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { content: { "application/json": { schema } }, required: true } as const;
}

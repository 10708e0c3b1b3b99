import type { z } from "@hono/zod-openapi";
import type { Bound } from "./bounds.ts";
import type { JsonObject } from "./read-bodies.ts";

/** What hub-api.md says of one body, and the two that must hold to it: our schema and the document's. */
export interface BoundTable {
  /** What the body is of. */
  subject: string;
  /** A valid body, in which each value is placed. */
  body: JsonObject;
  bounds: Bound[];
  schema: z.ZodType;
  /** The name of the schema in the document. */
  component: string;
  /** What is there once it is read, where it is left out. */
  defaults?: JsonObject;
}

/** A table of a body that is sent. */
export interface RequestTable extends BoundTable {
  /** A request that it goes with, such as `PATCH /api/settings/watch`. */
  line: string;
}

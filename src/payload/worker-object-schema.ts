/*
 * Replaces `object-schema.ts` in bundles for edge workers and browsers (see the "browser" field of package.json): workers cannot
 * compile code, and the compiler would add 1 kB to a compressed bundle.
 */
import { type $constructor, $ZodObject } from "zod/v4/core";

/** The base of the payload schemas. */
export const objectSchema: $constructor<$ZodObject> = $ZodObject;

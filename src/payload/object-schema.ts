import { type $constructor, type $ZodObject, $ZodObjectJIT } from "zod/v4/core";

/** The base of the payload schemas, which is compiled at its first use if the runtime allows it. A compiled schema is four times as fast. */
export const objectSchema: $constructor<$ZodObject> = $ZodObjectJIT;

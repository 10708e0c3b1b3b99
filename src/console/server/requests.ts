import type { Context } from "hono";
import type * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { readHonoBody } from "../../http/body.ts";
import { parseJson } from "../../http/json.ts";

/** The maximum size of a request, in bytes. An edited payload can be as large as the largest delivery. */
const maxRequestBytes = 11 * 1024 * 1024;

/**
 * Reads the query of a request.
 *
 * @throws `ARGUMENT_INVALID` (400).
 */
export function readQuery<Schema extends z.ZodMiniType>(context: Context, schema: Schema): z.output<Schema> {
  return parse(context.req.query(), schema);
}

/**
 * Reads the JSON body of a request. `maxBytes`: the maximum size of the body.
 *
 * @throws `ARGUMENT_INVALID`, `BODY_NOT_JSON`, `BODY_TOO_DEEP` (400), `BODY_TOO_LARGE` (413).
 */
export async function readBody<Schema extends z.ZodMiniType>(
  context: Context,
  schema: Schema,
  { maxBytes = maxRequestBytes }: { maxBytes?: number } = {},
): Promise<z.output<Schema>> {
  return parse(parseJson(await readHonoBody(context, maxBytes)), schema);
}

function parse<Schema extends z.ZodMiniType>(value: unknown, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "request"}: ${message}`);
  throw new WebhookError(`Invalid request. Fix these fields: ${problems.join("; ")}.`, {
    code: "ARGUMENT_INVALID",
    status: 400,
  });
}

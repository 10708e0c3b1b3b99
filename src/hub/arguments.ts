import type { z } from "@hono/zod-openapi";
import { HubError } from "../core/errors.ts";
import { type FieldProblem, fieldProblems } from "./contract/problems.ts";
import { acceptNewer } from "./newer-values.ts";

/** How many invalid fields a message names; the error lists them all. */
const fieldsNamed = 5;

/**
 * Checks an argument before anything is sent, and returns it with its defaults. Fields and enum values that this release
 * does not list stay as they are. `name` is what the argument is called where the whole of it is wrong.
 *
 * @throws `ARGUMENT_INVALID`, naming each field that is wrong and never what stands there.
 */
export function checkArgument<Schema extends z.core.$ZodType>(
  schema: Schema,
  { name, value }: { name: string; value: unknown },
): z.output<Schema> {
  const result = acceptNewer(schema).safeParse(value);
  if (result.success) return result.data;
  throw argumentInvalid(fieldProblems(result.error, { name }));
}

/** The refusal of arguments that are wrong in these fields. */
export function argumentInvalid(problems: readonly FieldProblem[]): HubError {
  const named = problems.slice(0, fieldsNamed).map(({ field, problem }) => `${field}: ${problem.slice(0, 500)}`);
  const more = problems.length > fieldsNamed ? ` (and ${problems.length - fieldsNamed} more)` : "";
  return new HubError(`Nothing was sent, the arguments are invalid. Correct ${named.join("; ")}${more}.`, {
    code: "ARGUMENT_INVALID",
    fields: problems.map(({ field }) => field),
  });
}

import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { HubError } from "../../core/errors.ts";
import { type FieldProblem, fieldProblems } from "./field-problems.ts";
import { acceptUnknown } from "./lenient.ts";

/** The maximum number of invalid fields in a message. The error's `fields` property contains all invalid fields. */
const maxListedFields = 5;

/**
 * Validates an argument before a request is sent. Returns the argument with default values. Unknown fields and enum values are
 * kept. Problems with the argument as a whole are reported under `name`.
 *
 * @throws `ARGUMENT_INVALID` with the invalid fields. The message never contains the values of these fields.
 */
export function checkArgument<Schema extends z.ZodMiniType>(
  schema: Schema,
  { name, value }: { name: string; value: unknown },
): z.output<Schema> {
  const result = z.safeParse(acceptUnknown(schema), value, { error: describeIssue });
  if (result.success) return result.data;
  throw argumentInvalid(fieldProblems(result.error, { name }));
}

/** Creates the `ARGUMENT_INVALID` error for these fields. */
export function argumentInvalid(problems: readonly FieldProblem[]): HubError {
  const listed = problems.slice(0, maxListedFields).map(({ field, problem }) => `${field}: ${problem.slice(0, 500)}`);
  const more = problems.length > maxListedFields ? ` (and ${problems.length - maxListedFields} more)` : "";
  return new HubError(
    `No request was sent, because the arguments are invalid. Fix these fields: ${listed.join("; ")}${more}.`,
    {
      code: "ARGUMENT_INVALID",
      fields: problems.map(({ field }) => field),
    },
  );
}

import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { HubError } from "../../core/errors.ts";
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

/** Creates the `ARGUMENT_INVALID` error for one field. */
export function fieldInvalid(field: string, problem: string): HubError {
  return argumentInvalid([{ field, problem }]);
}

/** An invalid field and the problem with its value. */
export interface FieldProblem {
  /** The path in JavaScript notation, such as `watched[0].type`. */
  field: string;
  problem: string;
}

/**
 * Lists the invalid fields of a value that was parsed with `describeIssue`. Problems with the value as a whole are
 * listed under `name`. The result never contains the invalid values.
 */
export function fieldProblems(error: z.core.$ZodError, { name }: { name: string }): FieldProblem[] {
  const problems = error.issues.flatMap((issue) => problemsOf(issue, name));
  // Several rules for one field can produce the same message.
  return [...new Map(problems.map((problem) => [`${problem.field}: ${problem.problem}`, problem])).values()];
}

function problemsOf(issue: z.core.$ZodIssue, name: string): FieldProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ field: fieldName([...issue.path, key]), problem: "unknown field" }));
  }
  const problem = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return [{ field: fieldName(issue.path) || name, problem }];
}

/** Formats the path of a field in JavaScript notation, such as `watched[0].type`. */
export function fieldName(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    const key = String(part).slice(0, 100);
    return /^[a-zA-Z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

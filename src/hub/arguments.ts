import type * as z from "zod";
import { HubError } from "../core/errors.ts";
import { acceptUnknown } from "./lenient.ts";

/** How many invalid fields a message names; the error lists them all. */
const maxListedFields = 5;

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
  const result = acceptUnknown(schema).safeParse(value);
  if (result.success) return result.data;
  throw argumentInvalid(fieldProblems(result.error, { name }));
}

/** The refusal of arguments that are wrong in these fields. */
export function argumentInvalid(problems: readonly FieldProblem[]): HubError {
  const named = problems.slice(0, maxListedFields).map(({ field, problem }) => `${field}: ${problem.slice(0, 500)}`);
  const more = problems.length > maxListedFields ? ` (and ${problems.length - maxListedFields} more)` : "";
  return new HubError(`Nothing was sent, the arguments are invalid. Correct ${named.join("; ")}${more}.`, {
    code: "ARGUMENT_INVALID",
    fields: problems.map(({ field }) => field),
  });
}

/** One field that is wrong, and how. */
export interface FieldProblem {
  /** As one would write it in code: `watched[0].type`. */
  field: string;
  problem: string;
}

/**
 * Says of each problem of a value in which field it is, and never what stands there. `name` is what the value itself is
 * called, where the whole of it is wrong.
 */
export function fieldProblems(error: z.core.$ZodError, { name }: { name: string }): FieldProblem[] {
  const problems = error.issues.flatMap((issue) => problemsOf(issue, name));
  // Of a number, one rule may be broken in two ways that are told in the same words.
  return [...new Map(problems.map((problem) => [`${problem.field}: ${problem.problem}`, problem])).values()];
}

function problemsOf(issue: z.core.$ZodIssue, name: string): FieldProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ field: fieldOf([...issue.path, key], name), problem: "there is no such field" }));
  }
  return [{ field: fieldOf(issue.path, name), problem: problemOf(issue) }];
}

/** Where the library speaks to programmers of its own, a plainer word. */
function problemOf(issue: z.core.$ZodIssue): string {
  // What is wrong with a key of a map is told inside.
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  if (issue.code === "too_small" && issue.minimum === 1) {
    if (issue.origin === "array") return "give at least one";
    if (issue.origin === "string") return "it is empty";
  }
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined")) return "it is missing";
  // So a query arrives in which a parameter is there twice.
  if (issue.code === "invalid_type" && issue.message.endsWith("expected string, received array")) return "give it once";
  if (issue.code === "invalid_value")
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
  return issue.message.replace(/^Invalid input: /, "");
}

function fieldOf(path: readonly PropertyKey[], name: string): string {
  return fieldName(path) || name;
}

/** A place in a value, as one would write it in code: `watched[0].type`. */
export function fieldName(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    const key = String(part).slice(0, 100);
    return /^[a-zA-Z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

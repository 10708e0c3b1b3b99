import type * as z from "zod/mini";

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

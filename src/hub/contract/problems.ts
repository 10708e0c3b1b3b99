import type { z } from "@hono/zod-openapi";

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
  return error.issues.flatMap((issue) => problemsOf(issue, name));
}

function problemsOf(issue: z.core.$ZodIssue, name: string): FieldProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ field: fieldOf([...issue.path, key], name), problem: "there is no such field" }));
  }
  // What is wrong with a key of a map is told inside.
  const problem = (issue.code === "invalid_key" && issue.issues[0]?.message) || issue.message;
  return [{ field: fieldOf(issue.path, name), problem }];
}

function fieldOf(path: readonly PropertyKey[], name: string): string {
  const parts = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    const key = String(part).slice(0, 100);
    return /^[a-zA-Z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  const field = parts.join("").replace(/^\./, "");
  return field === "" ? name : field;
}

import type * as z from "zod/mini";

/** An invalid field and the problem with its value. */
export interface FieldProblem {
  /** The path in JavaScript notation, such as `watched[0].type`. */
  field: string;
  problem: string;
}

/**
 * Lists the invalid fields of a value that was parsed with {@link describeIssue}. Problems with the value as a whole are
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

/**
 * Creates messages for issues whose schema does not define a message. Pass this function as `error` to the parser, because zod/mini
 * has no built-in messages, and zod's messages depend on zod's global configuration.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "required";
      // A query parameter that occurs more than once is parsed as an array.
      if (issue.expected === "string" && Array.isArray(issue.input)) return "expected only one value";
      return `expected ${issue.expected}, received ${typeName(issue.input)}`;
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      if (issue.minimum === 1 && issue.origin === "array") return "expected at least one item";
      if (issue.minimum === 1 && issue.origin === "string") return "must not be empty";
      return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `expected ${issue.inclusive ? "at most" : "less than"} ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_format":
      return `invalid ${issue.format}`;
    default:
      return "invalid value";
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
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

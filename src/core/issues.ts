import type * as z from "zod/mini";

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

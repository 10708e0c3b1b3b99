import { describe, expect, test } from "vitest";
import * as z from "zod";
import { describeIssue } from "../../../src/core/describe.ts";
import { webhookJobRequest } from "../../../src/hub/jobs/definition.ts";
import { memberOperations } from "../../../src/hub/organizations/organizations.ts";
import { timestamp, wholeNumber } from "../../../src/hub/schemas.ts";
import { fieldProblems } from "../../../src/hub/validation/arguments.ts";

/** Returns the problems that `fieldProblems` reports for a value. */
function problemsOf(schema: z.core.$ZodType, value: unknown) {
  const { error } = z.safeParse(schema, value, { error: describeIssue });
  return error && fieldProblems(error, { name: "body" }).map(({ field, problem }) => `${field}: ${problem}`);
}

const query = z.strictObject({ p: wholeNumber({ minimum: 0, maximum: 9, fallback: 0 }), name: z.string().optional() });

describe("fieldProblems", () => {
  test.each<[what: string, schema: z.core.$ZodType, value: unknown, problems: string[]]>([
    ["that is empty", z.object({ name: z.string().min(1) }), { name: "" }, ["name: must not be empty"]],
    [
      "that has no items",
      z.object({ names: z.array(z.string()).min(1) }),
      { names: [] },
      ["names: expected at least one item"],
    ],
    ["that is missing", z.object({ name: z.string() }), {}, ["name: required"]],
    ["that is unknown", z.strictObject({}), { "a b": 1 }, ['["a b"]: unknown field']],
    ["of another type", z.object({ on: z.boolean() }), { on: "yes" }, ["on: expected boolean, received string"]],
    ["of an enumeration", z.object({ a: z.enum(["x", "y"]) }), { a: "z" }, ['a: expected "x" or "y"']],
    ["of a query that is given twice", query, { name: ["a", "b"] }, ["name: expected only one value"]],
    ["that is not a whole number", query, { p: "1.5" }, ["p: expected a whole number from 0 to 9"]],
    [
      "that is above the maximum and the safe integers",
      query,
      { p: "9007199254740993" },
      ["p: expected a whole number from 0 to 9"],
    ],
    [
      "that is a time with another UTC offset",
      z.object({ at: timestamp }),
      { at: "2026-01-31T09:15:27+01:00" },
      ["at: expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z"],
    ],
    [
      "that is an incomplete email address",
      memberOperations.list.request.query,
      { email: "ada@" },
      ["email: expected a complete email address"],
    ],
    [
      "that is a name in a map",
      webhookJobRequest,
      { flavor: "h200", environment: { A: "x" }, secrets: { _: "x" }, labels: { "": "x" } },
      [
        "environment.A: expected at least two characters: a letter, then letters, digits, or _",
        "secrets._: expected a letter, then letters, digits, or _",
        'labels[""]: expected 1 to 100 letters, digits, dots, _, or -',
      ],
    ],
    ["that is the body itself", z.object({}), [], ["body: expected object, received array"]],
  ])("describes a field %s", (_what, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual(expected);
  });
});

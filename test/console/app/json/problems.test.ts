import { expect, test } from "vitest";
import { findSyntaxProblem, keepUnchanged, placeFieldProblems } from "../../../../src/console/app/json/parse.ts";

const text = '{\n  "repo": {\n    "type": "dataset"\n  }\n}';

test("finds the line of a syntax error", () => {
  expect(findSyntaxProblem(text)).toBeUndefined();
  expect(findSyntaxProblem(text.replace('"dataset"', "dataset"))).toMatchObject({ line: 3, position: 26 });
});

test("places the problems of fields at their lines", () => {
  const problems = placeFieldProblems(text, [
    { path: ["repo", "type"], problem: "is unknown" },
    { path: ["repo", "name"], problem: "is missing" },
    { path: [], problem: "is too large" },
  ]);
  expect(problems.map(({ line, message }) => [line, message])).toEqual([
    [3, "repo.type: is unknown"],
    [2, "repo.name: is missing"],
    [1, "is too large"],
  ]);
});

test("keeps the problems of fields that were not edited", () => {
  const fields = [
    { path: ["repo", "type"], problem: "is unknown" },
    { path: ["x"], problem: "is missing" },
  ];
  const current = text.replace("dataset", "model");
  expect(keepUnchanged(fields, { sent: text, current: text })).toEqual(fields);
  expect(keepUnchanged(fields, { sent: text, current })).toEqual([]);
});

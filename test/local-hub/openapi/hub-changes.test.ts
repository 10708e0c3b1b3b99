import { describe, expect, test } from "vitest";
import { operationsOf, partsOf } from "../../../scripts/contract-diff/compare.ts";
import { endsWithField } from "../../../scripts/contract-diff/explain.ts";
import {
  type ChangedPart,
  contractRules,
  hubChanges,
  publishedOn,
} from "../../../scripts/contract-diff/hub-changes.ts";
import type { Fact, JsonObject } from "../../../scripts/contract-diff/schema-facts.ts";
import { variantsOf } from "../../hub/contract/cases.ts";
import { document } from "../../hub/contract/document.ts";
import { operations as facts } from "../../hub/contract/operations.ts";

const contract: JsonObject = JSON.parse(JSON.stringify(document));
const operations = new Map([...operationsOf(contract).values()].map((operation) => [operation.operationId, operation]));

const rows = [
  ...hubChanges.map(({ what, parts }) => ({ what, parts })),
  ...contractRules.map(({ why, parts }) => ({ what: why, parts })),
];

/** Returns the contract's facts about the places of a changed part. */
function factsOf(operation: string, { in: where, field }: ChangedPart): [string, Fact][] {
  const facts = partsOf(operations.get(operation) ?? {}, contract).get(where) ?? new Map<string, Fact>();
  return [...facts].filter(([place]) => endsWithField(place, field));
}

describe("The contract matches the recorded changes of the Hub:", () => {
  test.each(rows)("$what", ({ parts }) => {
    for (const part of parts) for (const operation of part.operations) checkPart(operation, part);
  });

  function checkPart(operation: string, part: ChangedPart): void {
    expect([...operations.keys()]).toContain(operation);
    if (part.in === "operation") return;
    const found = factsOf(operation, part);
    const title = `${operation} ${part.in} ${part.field} is ${part.change}`;
    expect(found.length > 0, title).toBe(part.change !== "passed through");
    if (part.change === "passed through" || part.change === "differs") return;
    for (const [place, { required, values = [] }] of found) {
      // A field that only one of the two shapes has cannot be required.
      if (part.values === undefined && !place.endsWith("{value}")) expect([place, required]).toEqual([place, false]);
      if (part.values) expect(values, place).toEqual(expect.arrayContaining([...part.values]));
    }
  }
});

/** The changes that the facts mark, each as `operation where field change`. */
const marked = facts.flatMap(({ operationId, request = "", response = "", change: own }) => {
  if (own !== undefined) return [`${operationId} operation  ${own}`];
  const answers = typeof response === "string" ? [response.replace("[]", "")] : Object.values(response);
  const bodies = [["request", request.replace("?", "")] as const, ...answers.map((name) => ["answer", name] as const)];
  return bodies
    .filter(([, name]) => /^[A-Z]/.test(name))
    .flatMap(([where, name]) =>
      variantsOf(name).flatMap((variant) => [
        ...variant
          .filter(({ change }) => change)
          .map(({ path, change }) => `${operationId} ${where} ${path} ${change}`),
        ...variant.flatMap(({ path, kind }) => [
          ...(/ \+/.test(kind) ? [`${operationId} ${where} ${path} added`] : []),
          ...(/ -/.test(kind) ? [`${operationId} ${where} ${path} removed`] : []),
        ]),
      ]),
    );
});

test("The facts mark the same changes of the Hub", () => {
  const recorded = hubChanges.flatMap(({ parts }) =>
    parts
      .filter(({ change }) => change === "added" || change === "removed")
      .flatMap(({ operations: ids, in: where, field, change }) =>
        ids.map((id) => `${id} ${where} ${field.replace(/<.*?>|^\[\]\./g, "")} ${change}`),
      ),
  );
  expect([...new Set(marked)].sort()).toEqual([...new Set(recorded)].sort());
});

describe("The recorded changes", () => {
  test("have dates in ascending order, up to the date of the compared document", () => {
    const days = hubChanges.map(({ since }) => since);
    expect(days).toEqual([...days].sort());
    for (const day of days) expect(day).toMatch(/^2026-\d\d-\d\d$/);
    expect(days.at(-1)).toBe(publishedOn);
  });

  test("describe how the client and the local Hub handle each change", () => {
    for (const { what, client, localHub, parts } of hubChanges) {
      for (const text of [what, client, localHub]) expect(text).toMatch(/^[^|]{5,}[^.]$/);
      expect(parts).not.toEqual([]);
    }
  });
});

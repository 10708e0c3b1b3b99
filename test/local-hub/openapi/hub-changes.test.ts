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
import { openApiDocument } from "../../../src/local-hub/openapi/openapi-document.ts";
import { specifiedRoutes } from "../../../src/local-hub/routes/index.ts";

const contract: JsonObject = JSON.parse(
  JSON.stringify(openApiDocument({ serverUrl: "http://localhost", routes: specifiedRoutes })),
);
const operations = new Map([...operationsOf(contract).values()].map((operation) => [operation.operationId, operation]));

const rows = [
  ...hubChanges.map(({ what, parts }) => ({ what, parts })),
  ...contractRules.map(({ why, parts }) => ({ what: why, parts })),
].flatMap(({ what, parts }) =>
  parts.flatMap((part) =>
    part.operations.map((operation) => ({
      what,
      operation,
      part,
      change: part.change,
      in: part.in,
      field: part.field,
    })),
  ),
);

/** Returns the contract's facts about the places of a changed part. */
function factsOf(operation: string, { in: where, field }: ChangedPart): [string, Fact][] {
  const facts = partsOf(operations.get(operation) ?? {}, contract).get(where) ?? new Map<string, Fact>();
  return [...facts].filter(([place]) => endsWithField(place, field));
}

describe("The contract matches the recorded changes of the Hub:", () => {
  test.each(rows)("$operation $in $field is $change ($what)", ({ operation, part }) => {
    expect([...operations.keys()]).toContain(operation);
    if (part.in === "operation") return;
    const facts = factsOf(operation, part);
    if (part.change === "passed through") return expect(facts).toEqual([]);
    expect(facts).not.toEqual([]);
    if (part.change === "differs") return;
    for (const [place, { required, values = [] }] of facts) {
      // A field that only one of the two shapes has cannot be required.
      if (part.values === undefined && !place.endsWith("{value}")) expect([place, required]).toEqual([place, false]);
      if (part.values) expect(values, place).toEqual(expect.arrayContaining([...part.values]));
    }
  });
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

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { operationsOf, partsOf } from "../../scripts/contract-diff/compare.ts";
import { type ChangedPart, contractRules, hubChanges, publishedOn } from "../../scripts/contract-diff/hub-changes.ts";
import { endsWithField, formatDifference, reportOn } from "../../scripts/contract-diff/report.ts";
import type { Fact, JsonObject } from "../../scripts/contract-diff/schema-facts.ts";
import { currentDocument, document } from "../hub/contract/document.ts";
import { createFolder } from "../support/temporary-folder.ts";

const contract: JsonObject = JSON.parse(JSON.stringify(document));
const current = JSON.stringify(currentDocument());

/** Returns the document of the current Hub, with a change. */
function published(change: (text: string) => string = (text) => text): JsonObject {
  return JSON.parse(change(current));
}

function differencesOf(document: JsonObject): string[] {
  return reportOn(contract, document).open.map(formatDifference);
}

/** The required fields of a change of the notification settings. */
const required = '"required":["notifications"]';

describe("A published document", () => {
  test("of the current Hub has only the recorded differences", () => {
    const { open, explained } = reportOn(contract, published());
    expect(open.map(formatDifference)).toEqual([]);
    expect(explained).toBeGreaterThan(50);
  });

  test.each<[expected: string, old: string, replacement: string]>([
    ["request job.flavor: values (document: b300)", '"inf2x6"', '"inf2x6","b300"'],
    ["job.flavor: values (contract: h200)", '"h200",', ""],
    ["hasSecret: only in the contract", '"hasSecret"', '"secretIsSet"'],
    ["secretIsSet: only in the document (document: boolean)", '"hasSecret"', '"secretIsSet"'],
    ["request job.gpus: only in the document", '"dockerImage":', '"gpus":{"type":"number"},"dockerImage":'],
    ["isPro: types (contract: boolean; document: string)", '"isPro":{"type":"boolean"}', '"isPro":{"type":"string"}'],
    ["rules (contract: maxLength: 500; document: maxLength: 100)", '"maxLength":500', '"maxLength":100'],
    ["query.limit: rules (contract: default: 500; document: default: 50)", '"default":500', '"default":50'],
    ["prepaidAmount: required (contract: false; document: true)", required, required.replace("]", ',"prepaidAmount"]')],
    ["notifications: required (contract: true; document: false)", required, '"required":[]'],
    ["GET /api/settings/mcp: only in the contract", "/api/settings/mcp", "/api/settings/mcp-tools"],
    ["query.after: only in the document", '"name":"cursor"', '"name":"after"'],
    ["resources[]<blog|post>", '{"type":"string","const":"blog"}', '{"enum":["blog","post"]}'],
    ["rules (document: no other fields)", required, `${required},"additionalProperties":false`],
  ])("has the difference, and few others: %s", (expected, old, replacement) => {
    const found = differencesOf(published((text) => text.replaceAll(old, replacement)));
    expect(found).toContainEqual(expect.stringContaining(expected));
    expect(found.length).toBeLessThan(30);
  });

  test("can have operations that the contract does not have, which are counted", () => {
    const document = published((text) =>
      text.replace('"paths":{"/', '"paths":{"/api/other":{"get":{"responses":{}}},"/'),
    );
    expect(reportOn(contract, document)).toMatchObject({ open: [], others: 1 });
  });

  test("can write the same schema with references, unions of one element and lists of types", () => {
    const document = published((text) =>
      text
        .replaceAll('{"type":"boolean"}', '{"anyOf":[{"type":["boolean"]}]}')
        .replaceAll('{"type":"number"}', '{"$ref":"#/components/schemas/Number"}')
        .replace('"schemas":{', '"schemas":{"Number":{"type":"number"},'),
    );
    expect(differencesOf(document)).toEqual([]);
  });
});

describe("npm run contract:diff", () => {
  const script = fileURLToPath(new URL("../../scripts/contract-diff.ts", import.meta.url));

  function run(...args: string[]) {
    return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, stdout, stderr });
      });
    });
  }

  /** Runs the script in this process, which has loaded the local Hub. */
  async function runHere(file: string) {
    const [output, errors] = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
    for (const spy of [output, errors]) spy.mockImplementation(() => {});
    const { argv, exitCode } = process;
    onTestFinished(() => {
      for (const spy of [output, errors]) spy.mockRestore();
      Object.assign(process, { argv, exitCode });
    });
    process.argv = [process.execPath, script, file];
    await import("../../scripts/contract-diff.ts");
    const [stdout = "", stderr = ""] = [output, errors].map(({ mock }) => mock.calls.join("\n"));
    return { code: process.exitCode, stdout, stderr };
  }

  function write(text: string): string {
    const file = join(createFolder(), "openapi.json");
    writeFileSync(file, text);
    return file;
  }

  test("exits with 0 without differences, with 1 and a line per difference, and with 2 after wrong arguments", {
    tags: "slow",
  }, async () => {
    const same = write(JSON.stringify(published()));
    const other = write(JSON.stringify(published((text) => text.replaceAll('"inf2x6"', '"b300"'))));
    expect(await runHere(same)).toEqual({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/^0 unexplained differences/),
    });
    const some = await run(other);
    expect(some.code).toBe(1);
    expect(some.stdout.trim().split("\n")).toContainEqual(expect.stringContaining("contract: inf2x6; document: b300"));
    for (const args of [[], [write("{}")]]) {
      expect(await run(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^error: /) });
    }
  });
});

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

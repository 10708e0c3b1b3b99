import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/guides/security.md", root), "utf8");

/** Each guarantee with its tests: files and the IDs of rows in them. */
const guarantees = page
  .slice(page.indexOf("| guarantee | tests |"))
  .split("\n\n")[0]
  ?.split("\n")
  .slice(2)
  .map((row) => row.split("|").map((cell) => cell.trim()))
  .map(([, guarantee = "", tests = ""]) => ({ guarantee, tests: tests.split(";") }));

test.each(guarantees ?? [])("Existing tests check: $guarantee", ({ tests }) => {
  for (const named of tests) {
    const file = /`([^`]+)`/.exec(named)?.[1] ?? "no file";
    expect(existsSync(new URL(file, root)), file).toBe(true);
    const text = readFileSync(new URL(file, root), "utf8");
    for (const id of named.replace(/`.*`/, "").match(/\b[A-Z]\d+\b/g) ?? []) expect(text).toContain(`${id}: `);
  }
});

test("The page lists guarantees", () => {
  expect(guarantees?.length).toBeGreaterThan(15);
});

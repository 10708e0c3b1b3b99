import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/security.md", root), "utf8");

/** The promises of the page with their tests: files, and row ids in them. */
const promises = page
  .slice(page.indexOf("| promise | held by |"))
  .split("\n\n")[0]
  ?.split("\n")
  .slice(2)
  .map((row) => row.split("|").map((cell) => cell.trim()))
  .map(([, promise = "", held = ""]) => ({ promise, held: held.split(";") }));

test.each(promises ?? [])("The named tests exist for: $promise", ({ held }) => {
  for (const named of held) {
    const file = /`([^`]+)`/.exec(named)?.[1] ?? "no file";
    expect(existsSync(new URL(file, root)), file).toBe(true);
    const text = readFileSync(new URL(file, root), "utf8");
    for (const id of named.replace(/`.*`/, "").match(/\b[A-Z]\d+\b/g) ?? []) expect(text).toContain(`${id}: `);
  }
});

test("The page contains the table of promises", () => {
  expect(promises?.length).toBeGreaterThan(15);
});

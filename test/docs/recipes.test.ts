import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sections } from "../../docs/.vitepress/pages.ts";
import { exampleNames } from "../../src/cli/commands/init/example.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { readBlocks, readPage } from "./doc-page.ts";

const recipes = sections.flatMap(({ title, pages }) =>
  title === "Recipes" ? pages.map(({ path }) => `docs/${path}.md`) : [],
);

/** Returns the files of a recipe by name. */
function filesOf(page: string): ReadonlyMap<string, string> {
  return new Map(readBlocks(page).flatMap(({ mark, text }) => (mark?.name === "file" ? [[mark.value, text]] : [])));
}

/** Returns the example from which a recipe creates a project. */
function exampleOf(page: string): string {
  return /--example ([\w-]+)/.exec(readPage(page))?.[1] ?? "";
}

test("There is a recipe for each example", () => {
  expect([...recipes.map(exampleOf), "trigger-training"].sort()).toEqual([...exampleNames]);
});

describe.each(recipes)("%s", (page) => {
  test("has the code of its example", () => {
    const files = filesOf(page);
    expect([...files.keys()]).toEqual(expect.arrayContaining(["server.ts", "server.test.ts", "start.ts"]));
    for (const [name, text] of files) {
      if (name === "server.test.ts") continue;
      expect(text, name).toBe(readFileSync(join(root, "examples", exampleOf(page), name), "utf8"));
    }
  });

  test("is linked from the README of its example", () => {
    const readme = readFileSync(join(root, "examples", exampleOf(page), "README.md"), "utf8");
    expect(readme).toContain(`](../../${page})`);
    expect(readme.split("\n", 1)).toEqual(readPage(page).split("\n", 1));
  });
});

test("The tests in the recipes pass", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "recipes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "hub-webhooks"));
  for (const name of ["vitest", "@huggingface"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  for (const page of recipes) {
    const own = join(folder, exampleOf(page));
    mkdirSync(own);
    for (const [name, text] of filesOf(page)) writeFileSync(join(own, name), text);
  }
  // The environment variables of the surrounding test run would change vitest's behavior.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const vitest = join(root, "node_modules", ".bin", "vitest");
  const { code, output } = await runProgram([vitest, "run"], { cwd: folder, env });
  expect(code, output).toBe(0);
  expect(output).toContain(`${recipes.length} passed`);
});

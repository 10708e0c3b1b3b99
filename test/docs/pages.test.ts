import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sections } from "../../docs/.vitepress/pages.ts";
import { exampleNames } from "../../src/cli/commands/init-project.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { readBlocks, readPage, sitePages } from "./doc-page.ts";

const text = readPage("llms.txt");
const [intro = "", ...lists] = text.split(/^## /m);
const pages = sections.flatMap((section) => section.pages);

test("The generated files are up to date", async () => {
  const check = [process.execPath, "--no-warnings", "docs/scripts/generate.ts", "--check"];
  const { code, output } = await runProgram(check, { cwd: root });
  expect(code, output).toBe(0);
});

describe("llms.txt", () => {
  test("has a title, a summary, an introduction, and a list for each section of the site", () => {
    expect(intro).toMatch(/^# hub-webhooks\n\n> [^\n]+\n\n\S/);
    expect(lists.map((list) => list.split("\n", 1)[0])).toEqual(sections.map(({ title }) => title));
  });

  test("lists every page of the site with a description", () => {
    const listed = lists.flatMap((list) => list.split("\n").slice(1)).filter((line) => line !== "");
    expect(listed).toEqual(pages.map(({ title, path, about }) => `- [${title}](docs/${path}.md): ${about}`));
    for (const { about } of pages) expect(about).toMatch(/^[A-Z].*\.$/);
  });

  test("is packed, with the pages that it lists", () => {
    const { files }: { files: string[] } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(files).toEqual(expect.arrayContaining(["llms.txt", "SKILL.md", "docs/**/*.md"]));
    expect(files).not.toContain("AGENTS.md");
  });
});

describe("The list of pages", () => {
  test.each(pages)("has the title of $path", ({ title, path }) => {
    expect(readPage(`docs/${path}.md`).match(/^# .*$/m)?.[0]).toBe(`# ${title}`);
  });

  test("contains every page of the site", () => {
    const others = ["docs/index.md", "docs/llms-intro.md"];
    const listed = pages.map(({ path }) => `docs/${path}.md`);
    expect([...listed, ...others].sort()).toEqual(sitePages);
  });
});

/** The page about all recipes. */
const guide = "recipes/run-a-recipe";

const recipes = sections.flatMap(({ title, pages }) =>
  title === "Recipes" ? pages.filter(({ path }) => path !== guide).map(({ path }) => `docs/${path}.md`) : [],
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
    expect([...files.keys()]).toContain("server.ts");
    for (const [name, text] of files) {
      expect(text, name).toBe(readFileSync(join(root, "examples", exampleOf(page), name), "utf8"));
    }
  });

  test("is linked from the README of its example", () => {
    const readme = readFileSync(join(root, "examples", exampleOf(page), "README.md"), "utf8");
    expect(readme).toContain(`](../../${page})`);
    expect(readme.split("\n", 1)).toEqual(readPage(page).split("\n", 1));
  });
});

test("The page about all recipes lists each recipe with its example, and has the start file of all examples", () => {
  const text = readPage(`docs/${guide}.md`);
  for (const page of recipes) {
    const title = readPage(page).match(/^# (.*)$/m)?.[1];
    expect(text).toContain(`| [${title}](${page.replace("docs/recipes/", "")}) | \`${exampleOf(page)}\` |`);
  }
  for (const page of recipes) {
    const start = readFileSync(join(root, "examples", exampleOf(page), "start.ts"), "utf8");
    expect(filesOf(`docs/${guide}.md`).get("start.ts")).toBe(start);
  }
});

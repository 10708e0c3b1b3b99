import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sections } from "../../docs/.vitepress/pages.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { readPage, sitePages } from "./doc-page.ts";

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

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = globSync(["*.md", "{docs,templates,examples,bench}/**/*.md"], {
  cwd: root,
  exclude: (name) => name === "node_modules",
}).sort();

/** The text of a page without its code, in which brackets mean something else. */
function proseOf(page: string): string {
  return readFileSync(resolve(root, page), "utf8")
    .replace(/^```.*?^```$/gms, "")
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ""));
}

/** Headings as GitHub makes anchors of them. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** What a link of a page leads to, where that is in this repository and is not there. */
function brokenLinks(page: string): string[] {
  return [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? resolve(root, page) : resolve(root, dirname(page), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(relative(root, file)).includes(anchor);
    });
}

test.each(pages)("Every link of %s leads somewhere", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test("There are pages to look at", () => {
  expect(pages).toContain("README.md");
  expect(pages.length).toBeGreaterThan(15);
});

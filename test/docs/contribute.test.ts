import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { root } from "../support/project-folder.ts";
import { pages, readPage } from "./doc-page.ts";

const files = globSync(
  ["{src,test,scripts,bench,docs,examples,templates,api}/**/*.*", "docs/.vitepress/*.ts", "*.ts"],
  {
    cwd: root,
    exclude: ["**/node_modules/**", "docs/.vitepress/{cache,dist}/**"],
  },
);
const source = files
  .filter((file) => /^(?:src|test|scripts)\/.*\.(?:ts|tsx|css)$/.test(file))
  .map((file) => readFileSync(`${root}/${file}`, "utf8"))
  .join("\n");
/** Words of the source, and names of other projects that the pages mention. */
const words = new Set([...(source.match(/[\w$]+/g) ?? []), "dangerouslySetInnerHTML"]);

/** Whether inline code names a file, folder or identifier that does not exist. Other code, such as commands, is not checked. */
function isMissing(code: string): boolean {
  if (/^[\w./-]+\.(?:ts|tsx|css)$/.test(code)) return !files.some((file) => `/${file}`.endsWith(`/${code}`));
  if (/^[\w-]+(?:\/[\w-]+)*\/$/.test(code)) return !files.some((file) => `/${file}`.includes(`/${code}`));
  if (/^#?[A-Za-z]+[a-z][A-Z]\w*(?:\.\w+)?$/.test(code))
    return !code
      .replace("#", "")
      .split(".")
      .every((word) => words.has(word));
  return false;
}

test.each(["CONTRIBUTING.md", "AGENTS.md", ...pages.filter((page) => page.startsWith("docs/contribute/"))])(
  "%s names only files, folders and identifiers that exist",
  (page) => {
    const prose = readPage(page).replaceAll(/^ *```.*?^ *```$/gms, "");
    expect([...prose.matchAll(/`([^`\s]+)`/g)].map(([, code = ""]) => code).filter(isMissing)).toEqual([]);
  },
);

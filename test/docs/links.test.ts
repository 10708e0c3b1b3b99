import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/project-folder.ts";
import { readPage } from "./doc-page.ts";

const pages = globSync(["*.md", "{docs,templates,examples,bench}/**/*.md"], {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "api",
}).sort();

const { files }: { files: string[] } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8"));
const isLeftOut = (path: string) => files.includes(`!${path.split("/", 2).join("/")}`);
/** The files and folders that npm packs. */
const packed = ["README.md", "LICENSE", "package.json"]
  .concat(
    globSync(
      files.filter((pattern) => !pattern.startsWith("!")),
      { cwd: root },
    ),
  )
  .filter((path) => !isLeftOut(path));

/** Whether the package contains a file or part of a folder. */
function isPacked(path: string): boolean {
  return packed.some((item) => item === path || path.startsWith(`${item}/`) || item.startsWith(`${path}/`));
}

/** Returns the text of a page without brackets in code, because those are not links. */
function proseOf(page: string): string {
  return readPage(page)
    .replace(/^```.*?^```$/gms, "")
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ""));
}

/** Returns the anchors that GitHub creates for the headings. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** Returns the links of a page to files of this repository. */
function linksOf(page: string): { target: string; file: string; anchor: string | undefined }[] {
  return [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : relative(root, resolve(root, dirname(page), path));
      return { target, file, anchor };
    });
}

/** Returns the links of a page whose target does not exist. */
function brokenLinks(page: string): string[] {
  return linksOf(page)
    .filter(({ file, anchor }) => {
      if (!existsSync(resolve(root, file))) return true;
      return anchor !== undefined && !anchorsOf(file).includes(anchor);
    })
    .map(({ target }) => target);
}

test.each(pages)("Every link of %s has a target", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test.each(pages.filter(isPacked))("Every link of %s has a target inside the package", (page) => {
  const missing = linksOf(page).filter(({ file }) => !isPacked(file));
  expect(missing.map(({ target }) => target)).toEqual([]);
});

test("The pages contain links", () => {
  expect(pages).toContain("README.md");
  expect(pages.length).toBeGreaterThan(15);
  expect(
    ["docs/guides/background.md", "examples/trigger-training/README.md", "LICENSE", "templates"].filter(isPacked),
  ).toHaveLength(4);
  expect(["bench/README.md", "CONTRIBUTING.md", "examples/hello", "examples/hello/README.md"].filter(isPacked)).toEqual(
    [],
  );
});

const sourceFiles = globSync(
  ["{src,test,scripts,bench,docs,examples,templates,api}/**/*.*", "docs/.vitepress/*.ts", "*.ts"],
  {
    cwd: root,
    exclude: ["**/node_modules/**", "docs/.vitepress/{cache,dist}/**"],
  },
);
const source = sourceFiles
  .filter((file) => /^(?:src|test|scripts)\/.*\.(?:ts|tsx|css)$/.test(file))
  .map((file) => readFileSync(`${root}/${file}`, "utf8"))
  .join("\n");
/** Words of the source, and names of other projects that the pages mention. */
const words = new Set([...(source.match(/[\w$]+/g) ?? []), "dangerouslySetInnerHTML"]);

/** Whether inline code names a file, folder or identifier that does not exist. Other code, such as commands, is not checked. */
function isMissing(code: string): boolean {
  if (/^[\w./-]+\.(?:ts|tsx|css)$/.test(code)) return !sourceFiles.some((file) => `/${file}`.endsWith(`/${code}`));
  if (/^[\w-]+(?:\/[\w-]+)*\/$/.test(code)) return !sourceFiles.some((file) => `/${file}`.includes(`/${code}`));
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

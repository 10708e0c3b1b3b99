import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatDiff, formatRawDiff } from "../../../src/local-hub/git/diff.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { createFolder } from "../../support/temporary-folder.ts";

const before: Readonly<Record<string, string>> = {
  "deleted.txt": "gone\n",
  "empty.txt": "",
  "long.txt": Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join(""),
  "binary.bin": "a\0b",
  "no-end.txt": "no line feed",
};
const after: Readonly<Record<string, string>> = {
  "empty.txt": "no longer\n",
  "long.txt": before["long.txt"]?.replace("line 3\n", "third\n").replace("line 25\n", "") ?? "",
  "binary.bin": "a\0c",
  "no-end.txt": "no line feed at the end",
  "new.txt": "new\n",
  'names/with "quotes", ä.txt': "1\n",
};

function commitBoth() {
  const store = openStore({});
  onTestFinished(() => store.close());
  const { content } = store;
  const commit = (files: Readonly<Record<string, string>>) => {
    const changes = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) }));
    return content.createCommit("1", { parents: [], changes, title: "", message: "", author: "me", date: 0 });
  };
  return { content, first: commit(before), second: commit(after) };
}

/** Returns the difference that git reports for the same files. */
function gitDiff(...options: string[]): string {
  const root = createFolder();
  const git = (args: readonly string[], { input = "", index = "" } = {}) =>
    execFileSync("git", ["-C", root, ...args], {
      input,
      encoding: "utf8",
      env: { ...process.env, GIT_INDEX_FILE: index },
    });
  git(["init", "--quiet"]);
  const trees = [before, after].map((files, number) => {
    const index = join(root, `index-${number}`);
    for (const [path, input] of Object.entries(files)) {
      const blob = git(["hash-object", "-w", "--stdin"], { input, index }).trim();
      git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], { index });
    }
    return git(["write-tree"], { index }).trim();
  });
  return git(["diff-tree", "-r", "--no-renames", "--abbrev=10", ...options, ...trees]);
}

test("A raw difference equals that of git", () => {
  const { content, first, second } = commitBoth();
  expect(formatRawDiff(content.compare(first.tree, second.tree))).toBe(gitDiff());
});

test("A difference equals that of git, except for the names of functions", () => {
  const { content, first, second } = commitBoth();
  const expected = gitDiff("--patch").replaceAll(/^(@@ [^@]*@@).*$/gm, "$1");
  expect(formatDiff(content, content.compare(first.tree, second.tree))).toBe(expected);
});

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findRenames, formatDiff, formatRawDiff } from "../../../src/local-hub/git/diff.ts";
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

interface Versions {
  older: Readonly<Record<string, string>>;
  newer: Readonly<Record<string, string>>;
}

const versions: Versions = { older: before, newer: after };

function commitBoth({ older, newer }: Versions = versions) {
  const store = openStore({});
  onTestFinished(() => store.close());
  const { content } = store;
  const commit = (files: Readonly<Record<string, string>>) => {
    const changes = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) }));
    return content.createCommit("1", { parents: [], changes, title: "", message: "", author: "me", date: 0 });
  };
  return { content, first: commit(older), second: commit(newer) };
}

/** Returns the difference that git reports for the same files. */
function gitDiff(options: readonly string[], { older, newer }: Versions = versions): string {
  const root = createFolder();
  const git = (args: readonly string[], { input = "", index = "" } = {}) =>
    execFileSync("git", ["-C", root, ...args], {
      input,
      encoding: "utf8",
      env: { ...process.env, GIT_INDEX_FILE: index },
    });
  git(["init", "--quiet"]);
  const trees = [older, newer].map((files, number) => {
    const index = join(root, `index-${number}`);
    for (const [path, input] of Object.entries(files)) {
      const blob = git(["hash-object", "-w", "--stdin"], { input, index }).trim();
      git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], { index });
    }
    return git(["write-tree"], { index }).trim();
  });
  return git(["diff-tree", "-r", "--abbrev=10", ...options, ...trees]);
}

test("A raw difference equals that of git", () => {
  const { content, first, second } = commitBoth();
  expect(formatRawDiff(content.compare(first.tree, second.tree))).toBe(gitDiff(["--no-renames"]));
});

test("A difference equals that of git, except for the names of functions", () => {
  const { content, first, second } = commitBoth();
  const expected = gitDiff(["--no-renames", "--patch"]).replaceAll(/^(@@ [^@]*@@).*$/gm, "$1");
  expect(formatDiff(content, content.compare(first.tree, second.tree))).toBe(expected);
});

test("A difference with renamed files equals that of git", () => {
  const moved = {
    older: { "a.txt": "a\n", "b 1.txt": "b\n", "c.txt": "c\n", "same.txt": "s\n" },
    newer: { "x/a.txt": "a\n", "b 2.txt": "b\n", "c.txt": "d\n", "same.txt": "s\n", "copy.txt": "c\n" },
  };
  const { content, first, second } = commitBoth(moved);
  const changes = findRenames(content.compare(first.tree, second.tree));
  expect(formatRawDiff(changes)).toBe(gitDiff(["--find-renames=100%"], moved));
  expect(formatDiff(content, changes)).toBe(gitDiff(["--find-renames=100%", "--patch"], moved));
});

test("A file that was rewritten is replaced as a whole, without a long comparison", () => {
  const lines = (name: string) => Array.from({ length: 20_000 }, (_, line) => `${name}${line}\n`).join("");
  const { content, first, second } = commitBoth({
    older: { "a.txt": lines("a") },
    newer: { "a.txt": `${lines("b")}c` },
  });
  const before = process.cpuUsage();
  const diff = formatDiff(content, content.compare(first.tree, second.tree));
  // Other processes of a busy machine do not count.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect(diff).toContain("@@ -1,20000 +1,20001 @@\n-a0\n");
  expect(diff.endsWith("+b19999\n+c\n\\ No newline at end of file\n")).toBe(true);
});

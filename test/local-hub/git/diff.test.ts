import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { FileChange } from "../../../src/local-hub/git/content-store.ts";
import { findRenames, formatDiff, formatRawDiff, mergeTrees } from "../../../src/local-hub/git/diff.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openMemoryStore } from "../support/context.ts";

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
  const store = openMemoryStore();
  const { content } = store;
  const commit = (files: Readonly<Record<string, string>>) => {
    const changes = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) }));
    return content.createCommit("1", { parents: [], changes, title: "", message: "", author: "me", date: 0 });
  };
  return { content, first: commit(older), second: commit(newer) };
}

/** Stores both versions with git, and returns the difference that git reports for them. */
function openGit({ older, newer }: Versions = versions) {
  const root = createFolder();
  const git = (args: readonly string[], input = "") =>
    execFileSync("git", ["-C", root, ...args], { input, encoding: "utf8" });
  git(["init", "--quiet"]);
  const commitOf = (files: Readonly<Record<string, string>>, name: string) => {
    const file = ([path, text]: [string, string]) =>
      `M 100644 inline ${JSON.stringify(path)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
    const changes = Object.entries(files).map(file).join("");
    return `commit refs/heads/${name}\ncommitter me <me@localhost> 0 +0000\ndata 0\n${changes}\n`;
  };
  git(["fast-import", "--quiet"], commitOf(older, "older") + commitOf(newer, "newer"));
  return (...options: string[]) => git(["diff-tree", "-r", "--abbrev=10", ...options, "older", "newer"]);
}

test("A difference equals that of git, except for the names of functions", () => {
  const { content, first, second } = commitBoth();
  const git = openGit();
  expect(formatRawDiff(content.compare(first.tree, second.tree))).toBe(git("--no-renames"));
  const expected = git("--no-renames", "--patch").replaceAll(/^(@@ [^@]*@@).*$/gm, "$1");
  expect(formatDiff(content, content.compare(first.tree, second.tree))).toBe(expected);
});

test("A difference with renamed files equals that of git", () => {
  const moved = {
    older: { "a.txt": "a\n", "b 1.txt": "b\n", "c.txt": "c\n", "same.txt": "s\n" },
    newer: { "x/a.txt": "a\n", "b 2.txt": "b\n", "c.txt": "d\n", "same.txt": "s\n", "copy.txt": "c\n" },
  };
  const { content, first, second } = commitBoth(moved);
  const changes = findRenames(content.compare(first.tree, second.tree));
  const git = openGit(moved);
  expect(formatRawDiff(changes)).toBe(git("--find-renames=100%"));
  expect(formatDiff(content, changes)).toBe(git("--find-renames=100%", "--patch"));
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

const repository = "a".repeat(24);

function file(path: string, text = path): FileChange {
  return { path, content: Buffer.from(text) };
}

/** Merges two sets of changes of the files `a`, `b`, and `c/d`. Returns the conflicts, or the files of the merged tree. */
function merge({ target, source }: { target: FileChange[]; source: FileChange[] }) {
  const store = openMemoryStore();
  const { content } = store;
  const commit = (parents: string[], changes: FileChange[]) =>
    content.createCommit(repository, { parents, changes, title: "", message: "", author: "me", date: 0 });
  const base = commit([], [file("a"), file("b"), file("c/d")]);
  const ours = commit([base.oid], target);
  const theirs = commit([base.oid], source);
  const merged = mergeTrees(content, { base: base.tree, target: ours.tree, source: theirs.tree });
  if (merged.conflicts.length > 0) return { conflicts: merged.conflicts };
  const { tree } = commit([ours.oid], merged.changes);
  const entries = [...content.list(tree, { recursive: true })].filter(({ type }) => type === "file");
  return { files: entries.map((entry) => `${entry.path}: ${Buffer.from(content.read(entry))}`) };
}

const deleted = (path: string, kind: "file" | "folder" = "file"): FileChange => ({ path, deleted: kind });

test("A merge takes the changes of both sides, and changes that both sides made once", () => {
  const target = [file("a", "1"), file("e", "1"), deleted("b")];
  const source = [file("c/d", "2"), file("e", "1"), deleted("b"), file("f", "2")];
  expect(merge({ target, source })).toEqual({ files: ["a: 1", "c/d: 2", "e: 1", "f: 2"] });
});

test("A merge finds conflicts of different contents, of a deletion with a change, and of a file with a folder", () => {
  const target = [file("a", "1"), deleted("b"), file("g"), file("i/j")];
  const source = [file("a", "2"), file("b", "2"), file("g/h"), file("i")];
  expect(merge({ target, source })).toEqual({ conflicts: ["a", "b", "g/h", "i"] });
});

test("A merge replaces a file with a folder, and a folder with a file, if the target changed neither", () => {
  const source = [deleted("a"), file("a/x"), deleted("c", "folder"), file("c")];
  expect(merge({ target: [file("b", "1")], source })).toEqual({ files: ["a/x: a/x", "b: 1", "c: c"] });
  expect(merge({ target: [file("c/e")], source })).toEqual({ conflicts: ["c"] });
});

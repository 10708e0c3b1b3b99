import { expect, onTestFinished, test } from "vitest";
import type { FileChange } from "../../../src/local-hub/git/content-store.ts";
import { mergeTrees } from "../../../src/local-hub/git/diff.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";

const repository = "a".repeat(24);

function file(path: string, text = path): FileChange {
  return { path, content: Buffer.from(text) };
}

/** Merges two sets of changes of the files `a`, `b`, and `c/d`. Returns the conflicts, or the files of the merged tree. */
function merge({ target, source }: { target: FileChange[]; source: FileChange[] }) {
  const store = openStore({});
  onTestFinished(() => store.close());
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

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ContentStore, FileChange, NewCommit } from "../../../src/local-hub/git/content-store.ts";
import { editTree, type TreeChange } from "../../../src/local-hub/git/edit-tree.ts";
import { TreeStore } from "../../../src/local-hub/git/tree-store.ts";
import { openDatabase } from "../../../src/local-hub/store/database.ts";
import { openStore, type Store } from "../../../src/local-hub/store/store.ts";
import { createFolder } from "../../support/temporary-folder.ts";

const repositoryId = "1".repeat(24);
const otherId = "2".repeat(24);

let store: Store;
let content: ContentStore;
let clock: number;

beforeEach(() => {
  store = openStore({});
  content = store.content;
  clock = Date.UTC(2026, 0, 1);
});
afterEach(() => store.close());

const add = (path: string, value = path): FileChange => ({ path, content: new TextEncoder().encode(value) });

/** Creates a commit one second after the previous commit. */
function commit(changes: readonly FileChange[], details: Partial<NewCommit> = {}) {
  clock += 1_000;
  return content.createCommit(repositoryId, {
    ...{ parents: [], title: "Change", message: "", author: "me", date: clock },
    ...details,
    changes,
  });
}

function pathsOf(tree: string): string[] {
  const entries = Array.from(content.list(tree, { recursive: true }));
  return entries.filter(({ type }) => type === "file").map(({ path }) => path);
}

test("Objects have the IDs of git", () => {
  const root = createFolder();
  const git = (args: string[], input = "") =>
    execFileSync("git", ["-C", root, "-c", "core.quotePath=off", ...args], { input, encoding: "utf8" }).trim();
  git(["init", "--quiet"]);
  const files = ["a.txt", "a/b.txt", "a-b", "a0", "ä/ö.txt", "z/y/x", "\u{1f917}", "\uff5e", "\uff5e-x"];
  const made = commit(
    files.map((path) => add(path)),
    { title: "First", message: "More\nwords" },
  );
  const blobs = files.map((path) => `M 100644 inline "${path}"\ndata ${Buffer.byteLength(path)}\n${path}\n`);
  const details = "committer me <me@users.noreply.localhost> 1767225601 +0000\ndata 18\nFirst\n\nMore\nwords\n";
  git(["fast-import", "--quiet"], `commit refs/heads/main\n${details}${blobs.join("")}`);
  expect(made.oid).toBe(git(["rev-parse", "refs/heads/main"]));
  const entries = files.map((path) => `100644 blob ${content.find(made.tree, path)?.oid}\t${path}`);
  const listed = git(["ls-tree", "-r", made.tree]).split("\n");
  expect(listed.toSorted()).toEqual(entries.sort());
  expect(pathsOf(made.tree)).toEqual(listed.map((line) => line.split("\t")[1]));
});

describe("createCommit", () => {
  test("removes folders without files", () => {
    const first = commit([add("keep"), add("data/deep/file")]);
    const second = commit([{ path: "data/deep/file", deleted: "file" }], { parents: [first.oid] });
    expect(Array.from(content.list(second.tree), ({ path }) => path)).toEqual(["keep"]);
    const third = commit([{ path: "keep", deleted: "file" }], { parents: [second.oid] });
    expect(pathsOf(third.tree)).toEqual([]);
  });

  test("deletes folders, and replaces them with files", () => {
    const first = commit([add("data/one"), add("data/two"), add("other")]);
    const second = commit([add("data", "a file now"), { path: "data", deleted: "folder" }], { parents: [first.oid] });
    expect(pathsOf(second.tree)).toEqual(["data", "other"]);
  });

  test("copies folders, but not over other files or folders", () => {
    const first = commit([add("data/one"), add("data/deep/two"), add("file")]);
    const entry = content.find(first.tree, "data");
    if (!entry) throw new Error("The folder is missing.");
    const second = commit([{ path: "copies/data", entry }, add("copies/data/three")], { parents: [first.oid] });
    expect(content.find(second.tree, "copies/data/deep")?.oid).toBe(content.find(first.tree, "data/deep")?.oid);
    expect(pathsOf(second.tree).slice(0, 3)).toEqual(["deep/two", "one", "three"].map((name) => `copies/data/${name}`));
    for (const path of ["file", "data", "file/inside"]) {
      expect(() => commit([{ path, entry }], { parents: [first.oid] }), path).toThrow(
        expect.objectContaining({ code: "ARGUMENT_INVALID" }),
      );
    }
  });

  test("rejects parents of other repositories", () => {
    const { oid } = content.createCommit(otherId, {
      ...{ parents: [], changes: [add("secret")], title: "Secret", message: "", author: "other", date: clock },
    });
    expect(() => commit([], { parents: [oid] })).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    const set = () => content.setRefs(repositoryId, [{ name: "refs/heads/main", oid }]);
    expect(set).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  test.each([
    ...["", "/a", "a/", "a//b", "a/../b", "./a", ".git/config", "x/.GIT/y", "a\0b", "a\nb", "a\tb", "\ud800"],
    ...["x".repeat(256), "x/".repeat(500).concat("y")],
  ])("rejects the path %j", (path) => {
    expect(() => commit([add(path)])).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  test.each<[string, FileChange]>([
    ["a file in a file", add("file/inside")],
    ["a file in the place of a folder", add("folder")],
    ["the deletion of a missing file", { path: "missing", deleted: "file" }],
    ["the deletion of a file in a missing folder", { path: "missing/file", deleted: "file" }],
    ["the deletion of a folder as a file", { path: "folder", deleted: "file" }],
    ["the deletion of a file as a folder", { path: "file", deleted: "folder" }],
    ["a file that was not uploaded", { path: "big", lfs: { oid: "a".repeat(64), size: 3 } }],
  ])("rejects %s", (_what, change) => {
    const first = commit([add("file"), add("folder/file")]);
    expect(() => commit([change], { parents: [first.oid] })).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
  });
});

describe("read", () => {
  test("returns a part of a file", () => {
    const { tree } = commit([add("file", "0123456789")]);
    const entry = content.find(tree, "file");
    if (!entry) throw new Error("The file is missing.");
    const read = (range?: { start?: number; end?: number }) => Buffer.from(content.read(entry, range)).toString();
    expect(read()).toBe("0123456789");
    expect(read({ start: 3, end: 5 })).toBe("345");
    expect(read({ start: 7 })).toBe("789");
    expect(read({ start: 8, end: 100 })).toBe("89");
  });

  test("returns empty files, and throws if a file is missing", () => {
    const { tree } = commit([add("empty", "")]);
    expect(content.read(content.find(tree, "empty") ?? { oid: "" })).toHaveLength(0);
    expect(() => content.read({ oid: "0".repeat(40) })).toThrow("missing");
  });
});

describe("Revisions", () => {
  test("are branches, tags, names of refs, and IDs of commits", () => {
    const [main, tagged, proposed] = [commit([add("1")]), commit([add("2")]), commit([add("3")])];
    content.setRefs(repositoryId, [
      { name: "refs/heads/main", oid: main.oid },
      { name: "refs/tags/v1", oid: tagged.oid },
      { name: "refs/pr/1", oid: proposed.oid },
    ]);
    const resolve = (revision: string) => content.resolve(repositoryId, revision)?.oid;
    expect(resolve("main")).toBe(main.oid);
    expect(resolve("v1")).toBe(tagged.oid);
    expect(resolve("refs/pr/1")).toBe(proposed.oid);
    expect(resolve(main.oid)).toBe(main.oid);
    expect(resolve(main.oid.slice(0, 7))).toBe(main.oid);
    for (const unknown of ["dev", "refs/pr/2", main.oid.slice(0, 6), "0".repeat(40), `${main.oid}0`, ""]) {
      expect(resolve(unknown), unknown).toBeUndefined();
    }
    content.setRefs(repositoryId, [{ name: "refs/heads/main", oid: null }]);
    expect(content.refs(repositoryId).map(({ name }) => name)).toEqual(["refs/pr/1", "refs/tags/v1"]);
  });

  test("belong to one repository", () => {
    const { oid } = commit([add("secret")]);
    expect(content.resolve(otherId, oid)).toBeUndefined();
    expect(content.getCommit(otherId, oid)).toBeUndefined();
  });

  test("disappear with their repository", () => {
    const { oid } = commit([add("file")]);
    content.setRefs(repositoryId, [{ name: "refs/heads/main", oid }]);
    content.deleteRepository(repositoryId);
    expect(content.resolve(repositoryId, "main")).toBeUndefined();
    expect(content.resolve(repositoryId, oid)).toBeUndefined();
  });
});

describe("The history", () => {
  test("contains children before their parents, even if dates are equal or clocks differ", () => {
    const base = commit([add("base")], { date: clock });
    const left = commit([add("left")], { parents: [base.oid], date: clock - 60_000 });
    const leftTip = commit([add("left", "2")], { parents: [left.oid], date: clock - 60_000 });
    const right = commit([add("right")], { parents: [base.oid], date: clock });
    const rightTip = commit([add("right", "2")], { parents: [right.oid], date: clock });
    const merge = commit([add("merge")], { parents: [leftTip.oid, rightTip.oid], date: 0 });
    const history = Array.from(content.history(repositoryId, merge.oid));
    expect(new Set(history.map(({ oid }) => oid)).size).toBe(6);
    expect(history).toHaveLength(6);
    for (const [at, { parents }] of history.entries()) {
      for (const parent of parents) expect(history.findIndex(({ oid }) => oid === parent)).toBeGreaterThan(at);
    }
    expect(content.mergeBase(repositoryId, leftTip.oid, rightTip.oid)).toBe(base.oid);
    expect(content.mergeBase(repositoryId, left.oid, leftTip.oid)).toBe(left.oid);
    expect(content.mergeBase(repositoryId, merge.oid, merge.oid)).toBe(merge.oid);
    expect(content.mergeBase(repositoryId, base.oid, commit([add("unrelated")]).oid)).toBeUndefined();
  });

  test("contains the last commit that changed each path", () => {
    const base = commit([add("a"), add("folder/b")]);
    const left = commit([add("a", "left")], { parents: [base.oid] });
    const right = commit([add("folder/c")], { parents: [base.oid] });
    const merge = commit([add("folder/c")], { parents: [left.oid, right.oid] });
    const paths = ["a", "folder/b", "folder/c", "folder"];
    const last = content.lastCommits(repositoryId, merge.oid, paths);
    expect(paths.map((path) => last.get(path)?.oid)).toEqual([left, base, right, right].map(({ oid }) => oid));
    const [root] = content.lastCommits(repositoryId, merge.oid, ["", "missing", "folder/missing"]);
    expect(root).toEqual(["", merge]);
    const unchanged = commit([], { parents: [merge.oid] });
    expect(content.lastCommits(repositoryId, unchanged.oid, paths)).toEqual(last);
  });
});

const blobs = ["1", "2", "3"].map((digit) => digit.repeat(40));
const segment = fc.constantFrom("a", "b", "c", "d.txt");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
/** New contents by path. `undefined` deletes the file. */
const step = fc.dictionary(path, fc.option(fc.constantFrom(...blobs), { nil: undefined }), { maxKeys: 4 });

test("Trees have the same files as a map after any changes", () => {
  const database = openDatabase(undefined);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      const trees = new TreeStore(database);
      let files = new Map<string, string>();
      let tree: string | undefined;
      for (const wanted of steps) {
        const before = files;
        files = new Map(before);
        const changes: TreeChange[] = [];
        for (const [path, oid] of Object.entries(wanted)) {
          const isConflict = [...before.keys(), ...files.keys()].some(
            (other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
          );
          if (oid === undefined ? !before.has(path) : isConflict) continue;
          changes.push(oid === undefined ? { path, deleted: "file" } : { path, file: { oid, size: 1 } });
          if (oid === undefined) files.delete(path);
          else files.set(path, oid);
        }
        const after = editTree(trees, tree, changes);
        trees.clearCache();
        const listed = Array.from(trees.list(after, { recursive: true })).filter(({ type }) => type === "file");
        expect(new Map(listed.map(({ path, oid }) => [path, oid]))).toEqual(files);
        for (const [path, oid] of files) expect(trees.find(after, path)?.oid).toBe(oid);
        const differing = [...before.keys(), ...files.keys()].filter((path) => before.get(path) !== files.get(path));
        const compared = Array.from(trees.compare(tree, after), ({ path }) => path);
        expect(compared.toSorted()).toEqual([...new Set(differing)].sort());
        tree = after;
      }
    }),
    { numRuns: 60 },
  );
  database.close();
});

const value = "large content";
const file = { oid: createHash("sha256").update(value).digest("hex"), size: value.length };

async function* chunks(...values: string[]) {
  for (const value of values) yield new TextEncoder().encode(value);
}

async function read(range?: { start: number; end: number }): Promise<string> {
  return text(store.content.openLarge(file.oid, range));
}

/** Stores the data in a file instead of in memory. */
function openStateFile(): string {
  const state = join(createFolder(), "state");
  store.close();
  store = openStore({ file: state });
  return state;
}

function storedFiles(state: string): string[] {
  const folder = `${state}.files`;
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

const details = { parents: [], title: "Add", message: "", author: "me", date: 0 };
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${file.oid}\nsize ${file.size}\n`;
const invalid = expect.objectContaining({ code: "ARGUMENT_INVALID" });

describe("Files in LFS", () => {
  test("are stored by their SHA-256, with a pointer in git", async () => {
    const { content } = store;
    await content.saveLarge(repositoryId, file, chunks("large ", "content"));
    const { tree } = content.createCommit(repositoryId, { ...details, changes: [{ path: "big.bin", lfs: file }] });
    const entry = content.find(tree, "big.bin");
    expect(entry).toMatchObject({ size: file.size, lfs: { ...file, pointerSize: pointer.length } });
    expect(entry && Buffer.from(content.read(entry)).toString()).toBe(pointer);
    expect(await read()).toBe(value);
    expect(await read({ start: 6, end: 8 })).toBe("con");
  });

  test("must be uploaded for each repository", async () => {
    const { content } = store;
    await content.saveLarge(otherId, file, chunks(value));
    expect(content.hasLarge(otherId, file)).toBe(true);
    expect(content.hasLarge(repositoryId, file)).toBe(false);
  });

  test("cannot be read through a pointer that another repository commits", async () => {
    const { content } = store;
    await content.saveLarge(otherId, file, chunks(value));
    content.createCommit(otherId, { ...details, changes: [{ path: "big.bin", lfs: file }] });
    const change = { path: "big.bin", content: Buffer.from(pointer) };
    expect(() => content.createCommit(repositoryId, { ...details, changes: [change] })).toThrow(invalid);

    const uploaded = content.createCommit(otherId, { ...details, changes: [change] });
    expect(content.find(uploaded.tree, "big.bin")).toMatchObject({ size: file.size, lfs: file });
  });

  test("can be copied to another repository, also with their folder, and stay there", async () => {
    const { content } = store;
    await content.saveLarge(otherId, file, chunks(value));
    const { tree } = content.createCommit(otherId, { ...details, changes: [{ path: "data/big.bin", lfs: file }] });
    for (const path of ["data", "data/big.bin"]) {
      const id = `copy of ${path}`;
      const entry = content.find(tree, path);
      if (!entry) throw new Error("The entry is missing.");
      const copy = content.createCommit(id, { ...details, changes: [{ path, entry }] });
      expect(content.find(copy.tree, "data/big.bin")).toEqual(content.find(tree, "data/big.bin"));
      expect(content.hasLarge(id, file)).toBe(true);
    }
    content.deleteRepository(otherId);
    content.deleteUnusedFiles([file.oid]);
    expect(await read()).toBe(value);
  });

  test("can be uploaded twice at the same time", async () => {
    const { content } = store;
    await Promise.all([1, 2].map(() => content.saveLarge(repositoryId, file, chunks(value))));
    expect(content.hasLarge(repositoryId, file)).toBe(true);
  });

  test("can be uploaded while another upload is in progress", async () => {
    const state = openStateFile();
    const { content } = store;
    const isStarted = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    async function* slow() {
      yield* chunks("large ");
      isStarted.resolve();
      await rest.promise;
      yield* chunks("content");
    }
    const slowUpload = content.saveLarge(repositoryId, file, slow());
    await isStarted.promise;
    await expect.poll(() => storedFiles(state), { interval: 5 }).toHaveLength(1);
    const value = "another content";
    const other = { oid: createHash("sha256").update(value).digest("hex"), size: value.length };
    await content.saveLarge(repositoryId, other, chunks(value));
    rest.resolve();
    await slowUpload;
    expect([content.hasLarge(repositoryId, file), content.hasLarge(repositoryId, other)]).toEqual([true, true]);
    expect(await read()).toBe("large content");
  });

  test.each<[string, { oid: string; size: number }]>([
    ["a shorter content", { oid: file.oid, size: 100 }],
    ["a longer content", { oid: file.oid, size: 3 }],
    ["another content", { oid: "a".repeat(64), size: file.size }],
    ["an ID that is a path", { oid: `../${"a".repeat(61)}`, size: file.size }],
  ])("are rejected with %s, and leave no file", async (_what, wrong) => {
    const state = openStateFile();
    await expect(store.content.saveLarge(repositoryId, wrong, chunks(value))).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    expect(store.content.hasLarge(repositoryId, wrong)).toBe(false);
    expect(storedFiles(state)).toEqual([]);
  });

  test("are deleted when no repository uses them", async () => {
    const { content } = store;
    for (const id of [repositoryId, otherId]) await content.saveLarge(id, file, chunks(value));
    content.deleteRepository(repositoryId);
    content.deleteUnusedFiles([file.oid]);
    expect(await read()).toBe(value);
    expect(content.largeFiles(otherId)).toEqual([file.oid]);
    content.deleteRepository(otherId);
    content.deleteUnusedFiles([file.oid]);
    await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("are deleted by clear, unless it is rolled back", async () => {
    const state = openStateFile();
    const { content } = store;
    await content.saveLarge(repositoryId, file, chunks(value));
    store.transaction((rollBack) => {
      store.clear();
      rollBack();
    });
    expect(content.hasLarge(repositoryId, file)).toBe(true);
    store.clear();
    expect(storedFiles(state)).toEqual([]);
    expect(content.hasLarge(repositoryId, file)).toBe(false);
  });

  test.skipIf(process.platform === "win32")("are readable only for the current user", async () => {
    const state = openStateFile();
    await store.content.saveLarge(repositoryId, file, chunks(value));
    const [stored = ""] = storedFiles(state);
    expect(statSync(stored).mode & 0o777).toBe(0o600);
    for (const folder of [dirname(stored), `${state}.files`]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("have an error before the first byte if they are missing, and can be read if they are deleted later", async () => {
    const state = openStateFile();
    await store.content.saveLarge(repositoryId, file, chunks(value));
    const opened = store.content.openLarge(file.oid);
    for (const path of storedFiles(state)) rmSync(path);
    expect(await text(opened)).toBe(value);
    expect(() => store.content.openLarge(file.oid)).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });

  test("leave no incomplete upload of a killed process", async () => {
    const state = openStateFile();
    mkdirSync(`${state}.files/incoming`, { recursive: true });
    writeFileSync(`${state}.files/incoming/incomplete`, "large");
    await store.content.saveLarge(repositoryId, file, chunks(value));
    expect(storedFiles(state)).toEqual([join(`${state}.files`, file.oid.slice(0, 2), file.oid)]);
  });

  test("survive a restart with a state file", async () => {
    const state = openStateFile();
    await store.content.saveLarge(repositoryId, file, chunks(value));
    store.close();
    store = openStore({ file: state });
    expect(store.content.hasLarge(repositoryId, file)).toBe(true);
    expect(await read()).toBe(value);
  });
});

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore, type Store } from "../../../src/local-hub/store/store.ts";
import { createFolder } from "../../support/temporary-folder.ts";

const repositoryId = "1".repeat(24);
const otherId = "2".repeat(24);
const value = "large content";
const file = { oid: createHash("sha256").update(value).digest("hex"), size: value.length };

let store: Store;
beforeEach(() => {
  store = openStore({});
});
afterEach(() => store.close());

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

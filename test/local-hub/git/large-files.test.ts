import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
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

describe("Files in LFS", () => {
  test("are stored by their SHA-256, with a pointer in git", async () => {
    const { content } = store;
    await content.saveLarge(repositoryId, file, chunks("large ", "content"));
    const details = { parents: [], title: "Add", message: "", author: "me", date: 0 };
    const { tree } = content.createCommit(repositoryId, { ...details, changes: [{ path: "big.bin", lfs: file }] });
    const entry = content.find(tree, "big.bin");
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${file.oid}\nsize ${file.size}\n`;
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

  test("can be uploaded twice at the same time", async () => {
    const { content } = store;
    await Promise.all([1, 2].map(() => content.saveLarge(repositoryId, file, chunks(value))));
    expect(content.hasLarge(repositoryId, file)).toBe(true);
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
    expect(existsSync(`${state}.files`) ? readdirSync(`${state}.files`) : []).toEqual([]);
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

  test("survive a restart with a state file", async () => {
    const state = openStateFile();
    await store.content.saveLarge(repositoryId, file, chunks(value));
    store.close();
    store = openStore({ file: state });
    expect(store.content.hasLarge(repositoryId, file)).toBe(true);
    expect(await read()).toBe(value);
  });
});

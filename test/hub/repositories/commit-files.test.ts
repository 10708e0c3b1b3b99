import { afterEach, describe, expect, test, vi } from "vitest";
import { findNeededWrites, readCommitFiles } from "../../../src/hub/repositories/create-commit.ts";
import { hashFile, toBase64 } from "../../../src/hub/repositories/file-content.ts";

const text = (content: string) => new TextEncoder().encode(content);

describe("The files of a commit", () => {
  test("are text, bytes, or deleted", () => {
    const bytes = new Uint8Array([0, 255]);
    expect(readCommitFiles({ "a/ü b.txt": "ü", "b.bin": bytes, "c.txt": null, ".gitattributes": "" })).toEqual([
      { path: "a/ü b.txt", content: text("ü") },
      { path: "b.bin", content: bytes },
      { path: "c.txt", content: undefined },
      { path: ".gitattributes", content: text("") },
    ]);
  });

  test.each(["", "/a", "a/", "a//b", ".", "..", "../a", "a/./b", ".git/config", "a/.GIT/hooks", "a\0b", "\ud800"])(
    "cannot have the path %j",
    (path) => {
      expect(() => readCommitFiles({ [path]: "" })).toThrow(
        expect.objectContaining({ code: "ARGUMENT_INVALID", fields: [`files[${JSON.stringify(path)}]`] }),
      );
    },
  );

  test("cannot be empty, or text that UTF-8 cannot encode", () => {
    expect(() => readCommitFiles({})).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", fields: ["files"] }));
    expect(() => readCommitFiles({ a: "\udc00" })).toThrow(expect.objectContaining({ fields: ['files["a"]'] }));
    expect(() => Reflect.apply(readCommitFiles, undefined, [{ a: 7 }])).toThrow(
      expect.objectContaining({ fields: ['files["a"]'] }),
    );
  });

  test("are not needed if the revision contains them, as regular or large files", async () => {
    const existing = [
      { path: "same", type: "file", oid: "ce013625030ba8dba906f756967f9e9ca394464a" },
      { path: "large", type: "file", oid: "fa61e1ef71c9908c0926776a4aa3504b3a27f159" },
      { path: "other", type: "file", oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" },
      { path: "folder", type: "directory", oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" },
    ];
    const content = text("hello\n");
    const writes = ["same", "large", "other", "new"].map((path) => ({ path, content }));
    const deletions = ["same", "missing", "folder"].map((path) => ({ path, content: undefined }));
    expect(await findNeededWrites([...writes, ...deletions], existing)).toEqual([
      { path: "other", content, isFolder: false },
      { path: "new", content, isFolder: false },
      { path: "same", content: undefined, isFolder: false },
      { path: "folder", content: undefined, isFolder: true },
    ]);
  });

  test("of any size are encoded as base64", () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index * 7);
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    expect(toBase64(new Uint8Array())).toBe("");
  });
});

// `git hash-object` prints these IDs.
test.each([
  ["", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"],
  ["hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"],
  ["Grüße 猫\n", "262fcf13bdd961f85e455b1c00713e2e3a8445e5"],
])("The ID of a file with the content %j is the ID of git", async (text, id) => {
  expect(await hashFile(new TextEncoder().encode(text))).toMatchObject({ blob: id });
});

test("The ID of a large file is the ID of its pointer", async () => {
  const pointer = "fa61e1ef71c9908c0926776a4aa3504b3a27f159";
  expect(await hashFile(new TextEncoder().encode("hello\n"))).toMatchObject({ pointer });
});

describe("A blob", () => {
  const parts = Array.from({ length: 5 }, (_, index) => new Uint8Array(300_000).fill(index));

  afterEach(() => void vi.restoreAllMocks());

  test("has the same IDs as its bytes, with and without the modules of Node", async () => {
    const expected = await hashFile(new Uint8Array(await new Blob(parts).arrayBuffer()));
    expect(await hashFile(new Blob(parts))).toEqual(expected);
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(await hashFile(new Blob(parts))).toEqual(expected);
  });

  test("of more than 100 MB is refused in runtimes that cannot hash parts", async () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    const blob = new Blob(parts);
    vi.spyOn(blob, "size", "get").mockReturnValue(100_000_001);
    await expect(hashFile(blob)).rejects.toMatchObject({ code: "ARGUMENT_INVALID", fields: ["files"] });
  });
});

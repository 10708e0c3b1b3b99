import { describe, expect, test } from "vitest";
import { readUploadDocument, readUploadLines } from "../../../../src/local-hub/resources/repositories/upload-lines.ts";
import {
  createIgnore,
  createUploadMode,
  parsePattern,
} from "../../../../src/local-hub/resources/repositories/upload-mode.ts";

const header = { key: "header", value: { summary: "Change files" } };

async function* inChunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.byteLength; start += 7) yield bytes.subarray(start, start + 7);
}

const read = (...lines: readonly (object | string)[]) =>
  readUploadLines(inChunks(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")));

test("The lines of a commit are read, also if chunks split lines and characters", async () => {
  const file = { key: "file", value: { path: "grüße.txt", content: "ü" } };
  const deleted = { key: "deletedFolder", value: { path: "old/" } };
  expect(await read(header, file, "", deleted)).toEqual({
    header: { summary: "Change files", description: "" },
    operations: [{ key: "file", value: { path: "grüße.txt", content: "ü", encoding: "utf-8" } }, deleted],
  });
});

test("A commit in one JSON document is read", async () => {
  const body = { summary: "Change files", files: [{ path: "a", content: "b" }], deletedEntries: [{ path: "c" }] };
  const { operations } = await readUploadDocument(inChunks(JSON.stringify(body)));
  expect(operations.map(({ key }) => key)).toEqual(["file", "deletedEntry"]);
});

test.each([
  ["a missing header", [{ key: "file", value: { path: "a", content: "b" } }]],
  ["an empty summary", [{ key: "header", value: { summary: " " } }]],
  ["an unknown key", [header, { key: "link", value: { path: "a" } }]],
  ["a missing path", [header, { key: "file", value: { content: "b" } }]],
  ["an unknown encoding", [header, { key: "file", value: { path: "a", content: "b", encoding: "hex" } }]],
  ["an invalid SHA-256", [header, { key: "lfsFile", value: { path: "a", oid: "12" } }]],
  ["a line that is not JSON", [header, "{"]],
])("A commit with %s is refused with 400", async (_, lines) => {
  await expect(read(...lines)).rejects.toMatchObject({ status: 400 });
});

test("The size of each line is limited separately", { tags: "slow" }, async () => {
  async function* emptyLines(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify(header));
    const line = Buffer.alloc(8 * 1024 * 1024, " ").fill("\n", 0, 1);
    // Together, they are larger than one line can be.
    for (let count = 0; count < 10; count += 1) yield line;
  }
  expect(await readUploadLines(emptyLines())).toMatchObject({ operations: [] });
});

test("A line that is too large is refused with 413 before all of it is read", async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (const chunk = Buffer.alloc(8 * 1024 * 1024, "a"); ; sent += chunk.byteLength) yield chunk;
  }
  await expect(readUploadLines(endless())).rejects.toMatchObject({ status: 413 });
  expect(sent).toBeLessThan(128 * 1024 * 1024);
});

test("A body that is too large is refused with 413", async () => {
  const body = `${JSON.stringify(header)}\n${" ".repeat(100)}`;
  await expect(readUploadLines(inChunks(body), { maxBytes: 100 })).rejects.toMatchObject({ status: 413 });
  await expect(readUploadDocument(inChunks(body), { maxBytes: 100 })).rejects.toMatchObject({ status: 413 });
});

const text = Buffer.from("text");
const binary = Buffer.from([1, 0, 2]);

describe("The upload mode of a file", () => {
  const modeOf = createUploadMode(
    "# large files\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.png -filter\nplain.bin !filter\n",
  );

  test.each([
    ["a text file", { path: "a.txt", size: 4, sample: text }, "regular"],
    ["a file of 10 MB", { path: "a.txt", size: 10_000_000, sample: text }, "regular"],
    ["a file of more than 10 MB", { path: "a.txt", size: 10_000_001, sample: text }, "lfs"],
    ["a file that .gitattributes assigns to LFS", { path: "x/a.bin", size: 4, sample: text }, "lfs"],
    ["a file that a later rule excludes from LFS", { path: "plain.bin", size: 4, sample: text }, "regular"],
    ["a binary file", { path: "a.dat", size: 3, sample: binary }, "lfs"],
    ["a binary file that a rule excludes from LFS", { path: "a.png", size: 3, sample: binary }, "regular"],
    ["an empty file", { path: "a.bin", size: 0, sample: Buffer.alloc(0) }, "regular"],
  ])("for %s", (_, file, expected) => {
    expect(modeOf(file)).toBe(expected);
  });
});

test.each([
  ["notes.log", true],
  ["deep/notes.log", true],
  ["keep.log", false],
  ["build/out.txt", true],
  ["build", false],
  ["README.md", false],
])("The file %s is ignored: %s", (path, expected) => {
  expect(createIgnore("*.log\n!keep.log\nbuild/\n")(path)).toBe(expected);
});

test.each([
  ["*.bin", "model.bin", true],
  ["*.bin", "deep/model.bin", true],
  ["*.bin", "model.bin.txt", false],
  ["/README.md", "README.md", true],
  ["/README.md", "docs/README.md", false],
  ["data/*", "data/a.csv", true],
  ["data/*", "data/deep/a.csv", false],
  ["data/**", "data/deep/a.csv", true],
  ["**/cache/*", "a/b/cache/c", true],
  ["saved_model/**/*", "saved_model/a/b", true],
  ["*tfevents*", "runs/events.out.tfevents.1", true],
  ["file-?.txt", "file-1.txt", true],
  ["file-[0-9].txt", "file-7.txt", true],
  ["file-[!0-9].txt", "file-7.txt", false],
  ["file.txt", "fileXtxt", false],
  ["[a]-[b", "a-[b", true],
  ["\\*.txt", "*.txt", true],
  ["\\*.txt", "a.txt", false],
])("The pattern %s and the path %s match: %s", (pattern, path, expected) => {
  expect(parsePattern(pattern)(path)).toBe(expected);
});

// With a matcher that tries all combinations, these take years.
test("A pattern with many wildcards is matched before the test times out", () => {
  expect(parsePattern(`${"*a".repeat(50)}b`)("a".repeat(1_000))).toBe(false);
  expect(parsePattern(`${"**/a/".repeat(50)}b`)("a/".repeat(400))).toBe(false);
  expect(parsePattern("[".repeat(100_000))("a")).toBe(false);
});

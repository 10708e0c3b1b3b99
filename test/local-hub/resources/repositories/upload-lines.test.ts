import { expect, test } from "vitest";
import { readUploadDocument, readUploadLines } from "../../../../src/local-hub/resources/repositories/upload-lines.ts";

const header = { key: "header", value: { summary: "Change files" } };

async function* inChunks(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
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

test("The size of each line is limited separately", async () => {
  const lines = ["a", "b", "c"].map((path) => ({
    key: "file",
    value: { path, content: path.repeat(8 * 1024 * 1024) },
  }));
  const text = [header, ...lines].map((line) => JSON.stringify(line)).join("\n");
  const { operations } = await readUploadLines(inChunks(text, 1024 * 1024));
  expect(operations).toHaveLength(3);
});

test("A line that is too large is refused with 413 before all of it is read", async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (const chunk = Buffer.alloc(8 * 1024 * 1024, "a"); ; sent += chunk.byteLength) yield chunk;
  }
  await expect(readUploadLines(endless())).rejects.toMatchObject({ status: 413 });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test("A body that is too large is refused with 413", async () => {
  const body = `${JSON.stringify(header)}\n${" ".repeat(100)}`;
  await expect(readUploadLines(inChunks(body), { maxBytes: 100 })).rejects.toMatchObject({ status: 413 });
  await expect(readUploadDocument(inChunks(body), { maxBytes: 100 })).rejects.toMatchObject({ status: 413 });
});

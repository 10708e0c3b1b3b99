import { describe, expect, test } from "vitest";
import { createIgnore, createUploadMode } from "../../../../src/local-hub/resources/repositories/upload-mode.ts";

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

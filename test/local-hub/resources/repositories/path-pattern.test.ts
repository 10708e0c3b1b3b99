import { expect, test } from "vitest";
import { parsePattern } from "../../../../src/local-hub/resources/repositories/upload-mode.ts";

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

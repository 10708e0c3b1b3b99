import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { isBelow, readCodeFrame } from "../../../src/dev/console/code-frame.ts";

function createProject() {
  const folder = mkdtempSync(join(tmpdir(), "code-frame-"));
  const file = join(folder, "server.ts");
  writeFileSync(file, Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n"));
  mkdirSync(join(folder, "node_modules/other"), { recursive: true });
  writeFileSync(join(folder, "node_modules/other/index.js"), "other");
  return { folder, file };
}

describe("The code frame of an error", () => {
  test.for([
    ["a file URL", (file: string) => `Error: x\n    at ${pathToFileURL(file)}:10:5`],
    ["a file URL in parentheses", (file: string) => `Error: x\n    at run (${pathToFileURL(file)}:10:5)`],
    ["a path", (file: string) => `${file}:10:5\nSyntaxError`],
  ] as const)("shows the lines around %s", ([, stackOf]) => {
    const { folder, file } = createProject();
    const frame = readCodeFrame(stackOf(file), { folder });
    expect(frame).toMatchObject({ file, line: 10, column: 5 });
    expect(frame?.lines.map(({ number }) => number)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(frame?.lines.filter(({ isError }) => isError)).toEqual([{ number: 10, text: "line 10", isError: true }]);
  });

  test("starts at the first line, and has column 1 if the position has no column", () => {
    const { folder, file } = createProject();
    const frame = readCodeFrame(`${file}:2`, { folder });
    expect([frame?.column, frame?.lines[0]?.number]).toEqual([1, 1]);
  });

  test("skips files of other packages, other folders, and lines that do not exist", () => {
    const { folder, file } = createProject();
    const outside = createProject().file;
    const stack = [
      `at ${join(folder, "node_modules/other/index.js")}:1:1`,
      `at ${outside}:3:1`,
      `at ${file}:900:1`,
      `at ${file}:3:1`,
    ].join("\n");
    expect(readCodeFrame(stack, { folder })).toMatchObject({ file, line: 3 });
  });

  test("is found after a long text without spaces", () => {
    const { folder, file } = createProject();
    const message = "/a".repeat(1_000_000);
    expect(readCodeFrame(`Error: ${message}\n    at ${file}:3:1`, { folder })).toMatchObject({ file, line: 3 });
  });

  test("is missing if no position is in the folder", () => {
    const { folder } = createProject();
    expect(readCodeFrame("Error: x\n    at node:internal/modules:10:5", { folder })).toBeUndefined();
    expect(readCodeFrame("", { folder })).toBeUndefined();
  });
});

test.for([
  ["/app/server.ts", true],
  ["/app/src/deep/file.ts", true],
  ["/app", false],
  ["/other/file.ts", false],
  ["/app/../etc/passwd", false],
  ["/application/file.ts", false],
  ["/app/node_modules/x/index.js", false],
] as const)("%s is a file of the project in /app: %s", ([file, expected]) => {
  expect(isBelow(file, "/app")).toBe(expected);
});

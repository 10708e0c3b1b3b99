import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { projectFile, readCodeFrame } from "../../src/server-file/load-failure.ts";

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

  test("starts at the first line, and has column 1 if the position has none", () => {
    const { folder, file } = createProject();
    for (const text of [`${file}:2`, `${file}:2:0`]) {
      const frame = readCodeFrame(text, { folder });
      expect([frame?.column, frame?.lines[0]?.number]).toEqual([1, 1]);
    }
  });

  test("skips files of other packages, other folders, links to them, and lines that do not exist", () => {
    const { folder, file } = createProject();
    const outside = createProject().file;
    symlinkSync(outside, join(folder, "link.ts"));
    const stack = [
      `at ${join(folder, "node_modules/other/index.js")}:1:1`,
      `at ${outside}:3:1`,
      `at ${join(folder, "link.ts")}:3:1`,
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

test("Files of the project are real files below its folder, also through links", () => {
  const { folder, file } = createProject();
  const outside = createProject();
  const at = (path: string) => join(folder, path);
  mkdirSync(at("src"));
  writeFileSync(at("src/..deep.ts"), "deep");
  symlinkSync(outside.file, at("outside.ts"));
  symlinkSync(outside.folder, at("outside"));
  symlinkSync(file, at("src/inside.ts"));
  symlinkSync(at("src/loop"), at("src/loop"));
  const projectLink = join(outside.folder, "project");
  symlinkSync(folder, projectLink);
  spawnSync("mkfifo", [at("pipe")]);
  const found = (path: string) => projectFile(path, folder);
  const inside = { [file]: file, [at("src/inside.ts")]: file, [at("src/../server.ts")]: file };
  for (const [path, expected] of Object.entries(inside)) expect([path, found(path)]).toEqual([path, expected]);
  expect(projectFile(join(projectLink, "server.ts"), projectLink)).toBe(file);
  for (const path of [
    ...["outside.ts", "outside/server.ts", "src/loop", "pipe", "src", ".", "none.ts", "server.ts\0"].map(at),
    ...["node_modules/other/index.js", "../server.ts", "src/../../server.ts"].map(at),
    ...["", "server.ts", "./server.ts", "/etc/passwd", "/dev/stdin", outside.file, `${folder}-other/server.ts`],
    ...[pathToFileURL(file).href, `file:${file}`, `FILE://localhost${file}`, `http://127.0.0.1${file}`],
  ]) {
    expect([path, found(path)]).toEqual([path, undefined]);
  }
});

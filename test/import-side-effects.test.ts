// @module-tag slow

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const manifest: { exports: Record<string, unknown>; sideEffects: unknown } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);
const entryPoints = Object.keys(manifest.exports)
  .filter((path) => path !== "./package.json")
  .map((path) => (path === "." ? "index" : path.slice("./".length)));

/** Compares the state of a process before and after an import. */
const script = `
  // Node opens these as soon as one of its modules reads the colors of the terminal.
  void [process.stdout, process.stderr];
  const state = () => ({
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    resources: process.getActiveResourcesInfo().sort(),
    environment: Object.keys(process.env).sort(),
  });
  const before = state();
  await import(process.argv[1]);
  const after = state();
  process.once("exit", () => process.stdout.write(JSON.stringify({ before, after })));
`;

describe("Importing the package", () => {
  test.each(entryPoints)("has no side effects: %s", async (name) => {
    const entry = new URL(`../src/${name}.ts`, import.meta.url).href;
    // The process exits when no resource keeps it alive. Output of an import would precede the report.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "--eval",
      script,
      entry,
    ]);
    const { before, after } = JSON.parse(stdout);
    expect(after).toEqual(before);
    expect(stderr).toBe("");
  });

  test("is declared free of side effects, so that bundlers can drop unused code", () => {
    expect(manifest.sideEffects).toBe(false);
    expect(entryPoints).toContain("index");
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/core/files.ts";

const maxBytes = 60_000;

test("The app of the console is at most 60 kB with gzip, in all", () => {
  const folder = new URL("dist/console/", packageRoot);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => gzipSync(readFileSync(`${parentPath}/${name}`)).length);
  expect(files.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(maxBytes);
});

import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../../src/receiver/", import.meta.url));

/** Returns the files that these load on first use. */
function importedLater(paths: readonly string[]): Set<string> {
  const imports = paths.flatMap((path) => [
    ...readFileSync(`${folder}${path}`, "utf8").matchAll(/\bimport\("([^"]+)"\)/g),
  ]);
  return new Set(imports.map(([, path = ""]) => basename(path)));
}

// Node 22 caches a failed import, such as one without free file descriptors, so the page would fail permanently.
test("A launched server preloads every page that is loaded on first use", () => {
  const pages = importedLater(globSync(["*.ts", "{console,landing,lifecycle,routes}/*.ts"], { cwd: folder }));
  const ahead = importedLater(["node/start-server.ts"]);
  const shown = [...pages].filter((name) => /page|console/.test(name));
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((name) => !ahead.has(name))).toEqual([]);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageVersion } from "../../src/hub/validation/unknown-parts.ts";

test("packageVersion is the version in package.json", () => {
  const { name, version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(packageVersion).toBe(`${name} ${version}`);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageVersion } from "../../src/hub/package-version.ts";

test("The client names the release that package.json states", () => {
  const { name, version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(packageVersion).toBe(`${name} ${version}`);
});

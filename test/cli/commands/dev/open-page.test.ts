import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openPage } from "../../../../src/cli/commands/dev/run-dev.ts";
import { createFolder } from "../../../support/temporary-folder.ts";

/** Sets PATH to an empty folder until the test ends, and returns the folder. */
function onlyPath(): string {
  const folder = createFolder();
  vi.stubEnv("PATH", folder);
  return folder;
}

test("A page is opened by the program of the system, which may outlive this process", async () => {
  const folder = onlyPath();
  const file = join(folder, "opened");
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf %s "$1" > "${file}"\nexec /bin/sleep 0.3\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const processes = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
  const before = processes();
  expect(await openPage("http://127.0.0.1:7860")).toBe(true);
  expect(processes()).toBeLessThanOrEqual(before);
  await expect.poll(() => readFileSync(file, { encoding: "utf8", flag: "a+" })).toBe("http://127.0.0.1:7860");
});

test("returns false if the system has no program to open a page", async () => {
  onlyPath();
  expect(await openPage("http://127.0.0.1:7860")).toBe(false);
});

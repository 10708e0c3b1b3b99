import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createWorkingFolder } from "../../../src/inbox/bucket/working-database.ts";
import { createFolder } from "../../support/temporary-folder.ts";

/** Sets the age of a folder so that it is older than this process. */
function age(folder: string): string {
  const before = performance.timeOrigin / 1_000 - 60;
  utimesSync(folder, before, before);
  return folder;
}

test("The folder of a killed process with the same PID is removed, but not the folders of this process", () => {
  const parent = createFolder();
  const create = (suffix: string) => {
    const folder = join(parent, `hub-webhooks-inbox-${process.pid}-${suffix}`);
    mkdirSync(folder);
    return folder;
  };
  using first = createWorkingFolder(parent);
  // As if the clock had been set back after the start of this process.
  const own = age(dirname(first.file));
  age(create("killed"));
  const ofAnotherCopy = create("of-another-copy");
  using second = createWorkingFolder(parent);
  const kept = [own, ofAnotherCopy, dirname(second.file)].map((folder) => basename(folder));
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted());
});

import { expect, test } from "vitest";
import { compareTrees } from "../../../src/hub/repositories/changed-files.ts";

test("Two trees differ in added, modified, deleted, and renamed files, sorted by path", () => {
  const older = [
    { path: "same", oid: "1" },
    { path: "modified", oid: "2" },
    { path: "deleted", oid: "3" },
    { path: "old name", oid: "4" },
    { path: "twin 1", oid: "5" },
    { path: "twin 2", oid: "5" },
  ];
  const newer = [
    { path: "new name", oid: "4" },
    { path: "modified", oid: "6" },
    { path: "same", oid: "1" },
    { path: "added", oid: "7" },
    { path: "moved twin", oid: "5" },
  ];
  expect(compareTrees(older, newer)).toEqual([
    { path: "added", status: "added" },
    { path: "deleted", status: "deleted" },
    { path: "modified", status: "modified" },
    { path: "moved twin", status: "renamed", previousPath: "twin 1" },
    { path: "new name", status: "renamed", previousPath: "old name" },
    { path: "twin 2", status: "deleted" },
  ]);
  expect(compareTrees([], older).map(({ status }) => status)).toEqual(Array.from(older, () => "added"));
});

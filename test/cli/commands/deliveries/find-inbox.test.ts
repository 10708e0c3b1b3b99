import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findInbox } from "../../../../src/cli/commands/deliveries/inbox-access.ts";
import { createFolder } from "../../../support/temporary-folder.ts";

/** Creates a folder with these inbox files, each last modified this many seconds ago. */
function folderWith(files: Readonly<Record<string, number>>): string {
  const folder = createFolder();
  mkdirSync(join(folder, ".hub-webhooks"));
  for (const [name, secondsAgo] of Object.entries(files)) {
    const path = join(folder, ".hub-webhooks", name);
    writeFileSync(path, "");
    const time = new Date(Date.now() - secondsAgo * 1_000);
    utimesSync(path, time, time);
  }
  return folder;
}

describe("The default inbox of deliveries", () => {
  test("is the server's if dev has none", () => {
    expect(findInbox(folderWith({ "inbox.db": 1, "registrations.json": 1, "develop.db": 1 }))).toBeUndefined();
    expect(findInbox("/no/such/folder")).toBeUndefined();
  });

  test("is the latest of dev if the server has none", () => {
    const folder = folderWith({ "dev.db": 60, "dev-7861.db": 120, "dev-7861.db-wal": 5 });
    const url = "sqlite:./.hub-webhooks/dev-7861.db";
    expect(findInbox(folder)).toEqual({ url, note: expect.stringContaining(url) });
  });

  test("is the server's, with a note, if dev has a newer one", () => {
    const found = findInbox(folderWith({ "inbox.db": 60, "dev.db": 5 }));
    expect(found).toEqual({ url: undefined, note: expect.stringContaining("--inbox sqlite:./.hub-webhooks/dev.db") });
    expect(findInbox(folderWith({ "inbox.db": 5, "dev.db": 60 }))).toBeUndefined();
  });
});

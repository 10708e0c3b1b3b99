import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { InboxFile } from "../../../src/inbox/sqlite/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming } from "./open-inbox.ts";

/** Opens an inbox file with a filled WAL whose size can be limited. */
function openFile() {
  const path = inboxFile();
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  const file = new InboxFile({ file: path, mustExist: false, log: createMemoryLogger() });
  // SQLite limits the size per connection.
  const connection = exec.mock.contexts.at(-1);
  exec.mockRestore();
  if (!(connection instanceof DatabaseSync)) throw new Error("The file has no connection.");
  onTestFinished(() => file.close());
  const add = (id: string, bytes: number) => {
    file.begin();
    file.table.add(incoming(id, { body: "x".repeat(bytes) }), { now: 1, maxQueued: 10 });
    file.commit();
  };
  add("before", 10);
  return {
    file,
    add,
    limitPages: (count: number) => connection.exec(`PRAGMA max_page_count = ${count}`),
    logBytes: () => statSync(`${path}-wal`).size,
  };
}

/** Returns the error that an operation throws. */
function errorOf(operation: () => void): unknown {
  try {
    operation();
  } catch (error) {
    return error;
  }
  throw new Error("It has thrown nothing.");
}

test("A write without free space empties the WAL, and succeeds when there is space", () => {
  const { file, add, limitPages, logBytes } = openFile();
  // Prevents the file from growing, so that SQLite fails as on a full disk.
  limitPages(1);
  const error = errorOf(() => add("a", 100_000));
  expect(error).toMatchObject({ errcode: 13 });
  file.rollback();
  expect(logBytes()).toBeGreaterThan(0);
  file.afterFailure(error);
  expect(logBytes()).toBe(0);
  limitPages(1_000_000);
  add("a", 100_000);
  expect(file.table.reader.counts()).toMatchObject({ retrain: { queued: 2 } });
});

test("A write that fails for another reason does not empty the WAL", () => {
  const { file, logBytes } = openFile();
  const before = logBytes();
  file.afterFailure(Object.assign(new Error("disk I/O error"), { errcode: 10 }));
  expect(logBytes()).toBe(before);
  expect(before).toBeGreaterThan(0);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { InboxFile } from "../../../src/inbox/sqlite/inbox-file.ts";
import { currentTables, migrations } from "../../../src/inbox/sqlite/schema.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming } from "./open-inbox.ts";

describe("The file of an inbox", () => {
  test("is synced at each commit, so that deliveries survive a power failure", () => {
    const database = openInboxDatabase(inboxFile());
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  test("is private, as is a folder that is created for it", () => {
    const folder = join(dirname(inboxFile()), ".hub-webhooks");
    const file = join(folder, "inbox.db");
    openInboxDatabase(file).close();
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
  });

  test("can be created by several processes at the same time", { tags: "slow" }, async () => {
    const source = new URL("../../../src/inbox/sqlite/database.ts", import.meta.url).href;
    // Reads a path and a time, creates an inbox at that time, simultaneously with the other processes, and repeats this.
    const script = `
      import { openInboxDatabase } from ${JSON.stringify(source)};
      process.stdout.write("ready");
      process.stdin.setEncoding("utf8").on("data", (text) => {
        const { file, at } = JSON.parse(text);
        while (Date.now() < at);
        openInboxDatabase(file).close();
        process.stdout.write("ready");
      });`;
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    // A process that fails exits without an answer.
    const answers = () => Promise.all(children.map(({ stdout }) => once(stdout, "data")));
    const ended = Promise.all(children.map((child) => once(child, "exit")));
    await answers();
    for (let round = 0; round < 5; round += 1) {
      const request = JSON.stringify({ file: inboxFile(), at: Date.now() + 20 });
      const answered = Promise.race([answers(), ended]);
      for (const { stdin } of children) stdin.write(request);
      await answered;
    }
    for (const { stdin } of children) stdin.end();
    expect((await ended).map(([code]) => code)).toEqual([0, 0, 0]);
  });

  test.each(migrations.map((_migration, index) => index).slice(1))(
    "is migrated from version %i, with its deliveries",
    (version) => {
      const file = inboxFile();
      const old = new DatabaseSync(file);
      for (const migration of migrations.slice(0, version)) old.exec(migration);
      old.exec(`PRAGMA application_id = 0x6877696e; PRAGMA user_version = ${version}`);
      // Version 4 renamed the column.
      const setAt = version < 4 ? "set_at" : "scheduled_at";
      old.exec(
        `INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, ${setAt}) VALUES ('retrain', 'a', 'queued', 'x', 1, 1, 1)`,
      );
      old.close();
      const database = openInboxDatabase(file);
      expect(database.prepare("SELECT id, body, started_at, crashes FROM deliveries").all()).toEqual([
        { id: "a", body: "x", started_at: null, crashes: 0 },
      ]);
      expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: migrations.length });
      database.close();
    },
  );

  test("has the same tables whether it is new or migrated from the first version", () => {
    const describeTables = (database: DatabaseSync) =>
      database
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
        .all()
        // Old files keep this constraint.
        .filter(({ name }) => name !== "sqlite_autoindex_deliveries_1")
        // A migration keeps the spaces of the old statement, and quotes new names.
        .map(({ sql, ...table }) => ({
          ...table,
          sql: String(sql).replaceAll(/\s+|"/g, "").replace(",UNIQUE(endpoint,id)", ""),
        }));
    const [created, migrated] = [new DatabaseSync(":memory:"), new DatabaseSync(":memory:")];
    created.exec(currentTables);
    for (const migration of migrations) migrated.exec(migration);
    expect(describeTables(created)).toEqual(describeTables(migrated));
    for (const table of ["log_position", "event_index_end"]) {
      const read = `SELECT * FROM ${table}`;
      expect(created.prepare(read).all()).toEqual(migrated.prepare(read).all());
    }
  });

  test("of a newer release is rejected and not changed", () => {
    const file = inboxFile();
    openInboxDatabase(file).close();
    const newer = new DatabaseSync(file);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    expect(() => openInboxDatabase(file)).toThrow(expect.objectContaining({ code: "INBOX_UNUSABLE" }));
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
    database.close();
  });

  test("that is damaged is rejected at the start, with a remedy", () => {
    const file = inboxFile();
    const database = openInboxDatabase(file);
    const add = database.prepare(
      "INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at) VALUES ('retrain', ?, 'queued', ?, 1, 1, 1)",
    );
    for (let count = 0; count < 200; count += 1) add.run(`d${count}`, "x".repeat(2_000));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 8_192);
    writeFileSync(file, bytes);
    expect(() => openInboxDatabase(file)).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE", message: expect.stringContaining("damaged") }),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });
});

describe("A file that is not an inbox", () => {
  test.each([
    ["a text", (file: string) => writeFileSync(file, "dear diary, ".repeat(500))],
    [
      "a database of another program",
      (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE notes (text TEXT); PRAGMA user_version = 1");
        database.close();
      },
    ],
    [
      "a database of another program, without a version",
      (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE notes (text TEXT)");
        database.close();
      },
    ],
  ])("is rejected and not changed: %s", (_what, make) => {
    const file = inboxFile();
    make(file);
    const before = readFileSync(file);
    const closed = vi.spyOn(DatabaseSync.prototype, "close");
    onTestFinished(() => closed.mockRestore());
    expect(() => new SqliteInbox({ file, now: Date.now, log: createMemoryLogger() })).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE" }),
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(closed).toHaveBeenCalledOnce();
  });
});

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
  expect(logBytes()).toBeGreaterThan(0);
  file.rollback(error);
  expect(logBytes()).toBe(0);
  limitPages(1_000_000);
  add("a", 100_000);
  expect(file.table.reader.counts()).toMatchObject({ retrain: { queued: 2 } });
});

test("A write that fails for another reason does not empty the WAL", () => {
  const { file, logBytes } = openFile();
  const before = logBytes();
  file.rollback(Object.assign(new Error("disk I/O error"), { errcode: 10 }));
  expect(logBytes()).toBe(before);
  expect(before).toBeGreaterThan(0);
});

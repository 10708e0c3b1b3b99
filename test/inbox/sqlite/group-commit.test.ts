import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { GroupCommit } from "../../../src/inbox/sqlite/group-commit.ts";
import { transactionsOf } from "./transactions.ts";

function openDatabase() {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (a INTEGER PRIMARY KEY)");
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  const values = () =>
    database
      .prepare("SELECT a FROM t")
      .all()
      .map(({ a }) => a);
  return { database, insert, values };
}

test("Nothing is written behind an operation that has ended the transaction, and all of the group is refused", async () => {
  const { database, insert, values } = openDatabase();
  const commit = new GroupCommit(transactionsOf(database));
  const results = await Promise.allSettled([
    commit.write(() => insert.run(1)),
    commit.write(() => {
      database.exec("ROLLBACK");
      throw new Error("The disk is full.");
    }),
    commit.write(() => insert.run(2)),
  ]);
  expect(results).toMatchObject(Array(3).fill({ status: "rejected", reason: { code: "INBOX_UNAVAILABLE" } }));
  expect(values()).toEqual([]);
  expect(commit.failure).toMatchObject({ message: "The disk is full." });
  await commit.write(() => insert.run(3));
  expect(values()).toEqual([3]);
  expect(commit.failure).toBeUndefined();
});

test("A transaction that cannot be committed is rolled back", async () => {
  const { database, insert, values } = openDatabase();
  let isBroken = true;
  const target = transactionsOf(database);
  const failures: unknown[] = [];
  const commit = new GroupCommit({
    ...target,
    get isTransaction() {
      return target.isTransaction;
    },
    commit: () => {
      if (isBroken) throw new Error("The file is gone.");
      target.commit();
    },
    afterFailure: (error) => failures.push(error),
  });
  await expect(commit.write(() => insert.run(1))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
  expect(database.isTransaction).toBe(false);
  expect(failures).toMatchObject([{ message: "The file is gone." }]);
  isBroken = false;
  await commit.write(() => insert.run(2));
  expect(values()).toEqual([2]);
});

test("A write that meets a damaged page fails alone, although it spoils its transaction", async () => {
  const { database, insert, values } = openDatabase();
  const target = transactionsOf(database);
  let isSpoiled = false;
  const damaged = () => {
    isSpoiled = true;
    throw Object.assign(new Error("database disk image is malformed"), { errcode: 11 });
  };
  const commit = new GroupCommit({
    ...target,
    get isTransaction() {
      return target.isTransaction;
    },
    begin: () => {
      isSpoiled = false;
      target.begin();
    },
    commit: () => {
      if (isSpoiled) damaged();
      target.commit();
    },
  });
  const results = await Promise.allSettled([
    commit.write(() => insert.run(1)),
    commit.write(damaged),
    commit.write(() => insert.run(2)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(values()).toEqual([1, 2]);
});

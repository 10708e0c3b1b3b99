import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { GroupCommit, type TransactionTarget } from "../../../src/inbox/sqlite/group-commit.ts";
import { waitFor } from "../../support/wait-for.ts";
import { inboxFile } from "../inbox-file.ts";

/** Creates the target of a `GroupCommit` without an inbox. */
function transactionsOf(database: DatabaseSync): TransactionTarget {
  return {
    get isTransaction() {
      return database.isTransaction;
    },
    begin: () => database.exec("BEGIN IMMEDIATE"),
    commit: () => database.exec("COMMIT"),
    rollback: () => {
      if (database.isTransaction) database.exec("ROLLBACK");
    },
  };
}

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

test("rejects the whole group if an operation ends the transaction", async () => {
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

describe("The transaction of a write", () => {
  /** Writes two values in a turn of the event loop, and one in each further turn. Returns the number of values after each transaction. */
  async function writeInTurns({ turns, turnMs }: { turns: number; turnMs: number }): Promise<number[]> {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { database, insert, values } = openDatabase();
    const target = transactionsOf(database);
    const committed: number[] = [];
    const commit = new GroupCommit({
      ...target,
      get isTransaction() {
        return target.isTransaction;
      },
      commit: () => {
        target.commit();
        committed.push(values().length);
      },
    });
    const writes: Promise<unknown>[] = [];
    writes.push(commit.write(() => insert.run(0)));
    for (let turn = 1; turn <= turns; turn += 1) {
      writes.push(commit.write(() => insert.run(turn)));
      vi.advanceTimersByTime(turnMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writes);
    return committed;
  }

  test("contains the writes of the turns that follow, as long as each has one", async () => {
    expect(await writeInTurns({ turns: 4, turnMs: 1 })).toEqual([5]);
  });

  test("waits at most 5 ms for them", async () => {
    expect(await writeInTurns({ turns: 10, turnMs: 2 })).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  });
});

test("rolls back a transaction that cannot be committed", async () => {
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
    rollback: (error) => {
      target.rollback();
      failures.push(error);
    },
  });
  await expect(commit.write(() => insert.run(1))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
  expect(database.isTransaction).toBe(false);
  expect(failures).toMatchObject([{ message: "The file is gone." }]);
  isBroken = false;
  await commit.write(() => insert.run(2));
  expect(values()).toEqual([2]);
});

test.each([
  { place: "in the database", storeChanges: () => undefined },
  { place: "outside the database", storeChanges: () => new Promise<void>((resolve) => setImmediate(resolve)) },
])(
  "rejects only the write to a damaged page if changes are stored $place, and keeps the order",
  async ({ storeChanges }) => {
    const { database, insert, values } = openDatabase();
    database.exec("CREATE TABLE log (a)");
    const target = transactionsOf(database);
    let isSpoiled = false;
    let transactions = 0;
    const damaged = () => {
      isSpoiled = true;
      throw Object.assign(new Error("database disk image is malformed"), { errcode: 11 });
    };
    const commit = new GroupCommit({
      ...target,
      storeChanges,
      get isTransaction() {
        return target.isTransaction;
      },
      begin: () => {
        transactions += 1;
        isSpoiled = false;
        // Another connection holds the lock when the first write is repeated.
        if (transactions === 2) throw Object.assign(new Error("database is locked"), { errcode: 5 });
        target.begin();
      },
      commit: () => {
        if (isSpoiled) damaged();
        target.commit();
      },
    });
    const append = (value: number) => {
      database.prepare("INSERT INTO log VALUES (?)").run(value);
      return insert.run(value);
    };
    const results = await Promise.allSettled([
      commit.write(() => append(3)),
      commit.write(damaged),
      commit.write(() => append(2)),
      commit.write(() => append(1)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    const log = database.prepare("SELECT a FROM log").all();
    expect(log.map(({ a }) => a)).toEqual([3, 2, 1]);
    expect(values()).toEqual([1, 2, 3]);
    // Later writes share a transaction again.
    const before = transactions;
    await Promise.all([commit.write(() => append(4)), commit.write(() => append(5))]);
    expect(transactions - before).toBe(1);
  },
);

test("commits concurrent writes together, and rejects only the one that fails", async () => {
  const { database, insert, values } = openDatabase();
  const commit = new GroupCommit(transactionsOf(database));
  const wasInTransaction: boolean[] = [];
  const write = (value: number) =>
    commit.write(() => {
      wasInTransaction.push(database.isTransaction);
      return insert.run(value).changes;
    });
  const results = await Promise.allSettled([write(1), write(1), write(2)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(wasInTransaction).toEqual([true, true, true]);
  expect(values()).toEqual([1, 2]);
});

test("rejects writes that do not fit on the disk, and stores none of them", async () => {
  const file = inboxFile();
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a TEXT); PRAGMA max_page_count = 10");
  const commit = new GroupCommit(transactionsOf(database));
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  const results = await Promise.allSettled(
    [1, 100_000].map((length) => commit.write(() => insert.run("x".repeat(length)))),
  );
  expect(results.some(({ status }) => status === "rejected")).toBe(true);
  const kept = results.filter(({ status }) => status === "fulfilled").length;
  expect(database.prepare("SELECT count(*) AS rows FROM t").get()).toEqual({ rows: kept });
  database.exec("PRAGMA max_page_count = 10000");
  await commit.write(() => insert.run("later"));
  database.close();
});

test("rejects a write if the lock is not free before the deadline", async () => {
  const file = inboxFile();
  const mine = new DatabaseSync(file, { timeout: 0 });
  mine.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const commit = new GroupCommit(transactionsOf(mine), { deadlineMs: 40 });
  const insert = mine.prepare("INSERT INTO t VALUES (1)");
  await expect(commit.write(() => insert.run())).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
  other.exec("COMMIT");
  await commit.write(() => insert.run());
  expect(mine.prepare("SELECT count(*) AS rows FROM t").get()).toEqual({ rows: 1 });
  mine.close();
  other.close();
});

describe("with changes that are stored outside the database", () => {
  function openStored() {
    const { database, insert, values } = openDatabase();
    const stores: PromiseWithResolvers<void>[] = [];
    const target = transactionsOf(database);
    const commit = new GroupCommit({
      ...target,
      get isTransaction() {
        return target.isTransaction;
      },
      storeChanges: () => {
        const store = Promise.withResolvers<void>();
        stores.push(store);
        return store.promise;
      },
    });
    return { commit, insert, values, stores, database };
  }

  test("resolves only after the changes are stored, and commits later writes together", async () => {
    const { commit, insert, values, stores, database } = openStored();
    const settled: number[] = [];
    const first = commit.write(() => insert.run(1)).then(() => settled.push(1));
    await waitFor(() => expect(stores).toHaveLength(1));
    const later = [2, 3].map((value) => commit.write(() => insert.run(value)).then(() => settled.push(value)));
    await new Promise((resolve) => setImmediate(resolve));
    expect({ settled, isOpen: database.isTransaction, stores: stores.length }).toEqual({
      settled: [],
      isOpen: true,
      stores: 1,
    });
    stores[0]?.resolve();
    await first;
    await waitFor(() => expect(stores).toHaveLength(2));
    stores[1]?.resolve();
    await Promise.all(later);
    expect(values()).toEqual([1, 2, 3]);
  });

  test("rolls the transaction back if the changes are not stored", async () => {
    const { commit, insert, values, stores } = openStored();
    const write = commit.write(() => insert.run(1));
    await waitFor(() => expect(stores).toHaveLength(1));
    stores[0]?.reject(new Error("The store refused the changes."));
    await expect(write).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    expect(values()).toEqual([]);
  });
});

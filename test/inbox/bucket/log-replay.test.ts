import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  decodeRecord,
  encodeRecord,
  type LogRecord,
  LogWriter,
  recordKey,
  waitWithTimer,
} from "../../../src/inbox/bucket/log.ts";
import { LogReplay } from "../../../src/inbox/bucket/log-replay.ts";
import { ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { createChangeLog, WorkingDatabase } from "../../../src/inbox/bucket/working-database.ts";
import { createRetryPolicy } from "../../../src/inbox/retry.ts";
import { migrateDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryPruner } from "../../../src/inbox/sqlite/delivery-pruner.ts";
import { type ClaimedRow, DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { schemaVersion } from "../../../src/inbox/sqlite/schema.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

/** Returns the path of a file in a folder that is removed after the test. */
function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "bucket-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "inbox.db");
}

/** Builds a database from the log in a store. */
async function replayLog(
  store: MemoryObjectStore,
  file: string = temporaryFile(),
): Promise<{ database: DatabaseSync; replay: LogReplay; logger: MemoryLogger }> {
  const logger = createMemoryLogger();
  const working = new WorkingDatabase(file, store.name);
  onTestFinished(() => working.close());
  const snapshot = { number: 0, bytes: 0, newest: 0, damaged: new Set<number>() };
  const replay = new LogReplay({ store, target: working, snapshot, log: logger });
  await replay.catchUp();
  working.finish();
  return { database: working.database, replay, logger };
}

/** A table of deliveries whose transactions are stored in a log. */
interface LoggedTable {
  file: string;
  database: DatabaseSync;
  table: DeliveryTable;
  /** Runs an operation in a transaction and stores its changes as a record. `commits`: whether the commit succeeds. Default `true`. */
  write: <Result>(operation: () => Result, options?: { commits?: boolean }) => Promise<Result>;
}

/** Takes over the log in a store without the rest of an inbox, so that each transaction is one record. */
async function openLoggedTable(store: MemoryObjectStore): Promise<LoggedTable> {
  const file = temporaryFile();
  const { database, replay, logger } = await replayLog(store, file);
  const writer = new LogWriter({
    ...{ store, writerId: crypto.randomUUID(), next: replay.next, log: logger },
    ...{ monotonicNow: () => performance.now(), wait: waitWithTimer },
  });
  const owner = { host: "test", pid: 1, startedAt: new Date(0).toISOString() };
  await writer.append({ kind: "takeover", owner, schemaVersion, body: () => new Uint8Array() });
  const changes = createChangeLog(database, writer, { fences: replay.fences, onRecord: () => {} });
  const table = new DeliveryTable(database);
  return {
    file,
    database,
    table,
    async write(operation, { commits = true } = {}) {
      database.exec("BEGIN IMMEDIATE");
      changes.begin();
      const result = operation();
      table.totals.store();
      await changes.store();
      database.exec(commits ? "COMMIT" : "ROLLBACK");
      changes.end(commits ? "committed" : "rolled back");
      return result;
    },
  };
}

/**
 * Returns all rows of all tables. The counters of sequences are left out, because ignored duplicates increase them, and these numbers
 * belong to no row.
 */
function dump(database: DatabaseSync): Record<string, string[]> {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence' ORDER BY name")
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      database
        .prepare(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}

const writer = "00000000-0000-4000-8000-000000000000";

function add({ table, write }: LoggedTable, id: string): Promise<boolean> {
  const delivery = { id, endpoint: "retrain", body: `{"id":"${id}"}`, receivedAt: new Date(1_000) };
  return write(() => table.add(delivery, { now: 1_000, maxQueued: 100 }));
}

async function readRecord(store: MemoryObjectStore, number: number): Promise<LogRecord> {
  const record = await decodeRecord(store.objects.get(recordKey(number))?.body ?? new Uint8Array());
  if (record === undefined) throw new Error(`There is no record ${number}.`);
  return record;
}

async function replaceRecord(store: MemoryObjectStore, record: LogRecord): Promise<void> {
  store.objects.set(recordKey(record.number), { body: await encodeRecord(record), storedAt: 0 });
}

function tear(store: MemoryObjectStore, number: number): void {
  const found = store.objects.get(recordKey(number));
  if (found) store.objects.set(recordKey(number), { ...found, body: found.body.slice(0, -5) });
}

function ids(database: DatabaseSync): unknown[] {
  return database
    .prepare("SELECT id FROM deliveries ORDER BY sequence")
    .all()
    .map(({ id }) => id);
}

/** Returns pseudorandom integers from 0 to below `limit` (mulberry32). */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Returns every operation that an inbox writes, with random parameters. */
function createOperations(table: DeliveryTable, random: (limit: number) => number) {
  const hourMs = 3_600_000;
  const policy = createRetryPolicy({}, () => 0.5);
  const claimed: ClaimedRow[] = [];
  let now = 100 * hourMs;
  const endpoint = () => `endpoint ${random(2)}`;
  const key = () => ({ endpoint: endpoint(), id: `delivery ${random(60)}` });
  const claimant = () => ({ processId: `process ${random(2)}`, now });
  const onDamage = (error: unknown) => {
    throw error;
  };
  return {
    add: () => {
      now += 60_000;
      const delivery = { ...key(), body: "é".repeat(random(900)), receivedAt: new Date(now) };
      table.add(delivery, { now, maxQueued: 1_000 });
    },
    claim: () => void claimed.push(...table.claim(endpoint(), 1 + random(3), claimant())),
    claimSuspect: () => {
      const row = table.claimSuspect(endpoint(), { ...claimant(), now: now + 24 * hourMs });
      if (row) claimed.push(row);
    },
    recordEnd: () => {
      const row = claimed.splice(random(claimed.length || 1), 1)[0];
      if (row === undefined) return;
      const outcome = random(2) === 0 ? ("succeeded" as const) : ("failed" as const);
      const attempt = {
        number: row.attempt,
        startedAt: new Date(row.startedAt),
        durationMs: random(1_000),
        outcome,
        ...(outcome === "failed" && { error: { code: "E", message: "ü" } }),
      };
      const failed = random(2) === 0 ? ({ status: "dead" } as const) : undefined;
      const next =
        outcome === "succeeded"
          ? ({ status: "succeeded" } as const)
          : (failed ?? { status: "queued" as const, dueAt: now + random(1_000), counts: random(2) === 0 });
      table.recordEnd(row, { attempt, next }, claimant());
    },
    replay: () => void table.replay(key(), now),
    replayDead: () => void table.replayDeadStep(endpoint(), { after: 0, last: table.lastSequence(), now }),
    correctClock: () => table.correctClock(endpoint(), now - random(1_000)),
    setRetention: () => table.setRetention(endpoint(), { bodiesMs: random(3) * hourMs, idsMs: random(9) * hourMs }),
    release: () => {
      const row = claimed.pop();
      if (row) table.leases.release(row, claimant());
    },
    heartbeat: () => table.leases.addHeartbeat({ processId: `process ${random(4)}`, now }),
    recover: () => {
      for (const row of table.leases.running(endpoint(), onDamage).rows.slice(0, 2)) {
        const heartbeats = table.leases.heartbeats().get(row.processId);
        const marked = table.leases.markProcessGone(row.processId, heartbeats);
        if (marked) table.leases.recover(row, { ...marked, wasAlone: random(2) === 0, policy, now });
      }
    },
    removeProcess: () => table.leases.removeProcess(`process ${random(4)}`),
    removeProcesses: () => table.leases.removeProcessesBefore(now + 1),
    addOwnActions: () => table.ownActions.add([`key ${random(500)}`, `key ${random(500)}`], now),
    pruneOwnActions: () => table.ownActions.prune(now + random(2) * 1_000 * hourMs),
    setCursors: () => table.cursors.set(endpoint(), new Map([[`key ${random(5)}`, `text ${random(50)}`]])),
    claimCursor: () =>
      void table.cursors.claim({ key: endpoint(), holder: `holder ${random(3)}`, forMs: random(2) * hourMs }, now),
    prune: () =>
      void new DeliveryPruner(table).prune(endpoint(), { bodiesBefore: now - 2 * hourMs, idsBefore: now - 3 * hourMs }),
  };
}

describe("The replay of a log", () => {
  test("produces the database that its owner had, for random transactions", { tags: "slow" }, async () => {
    const changed = new Set<string>();
    const names = new Set<string>();
    for (const seed of [1, 2]) {
      const store = new MemoryObjectStore();
      const random = createRandom(seed);
      const owner = await openLoggedTable(store);
      const operations = Object.entries(createOperations(owner.table, random));
      const countChanged = owner.database.prepare("SELECT total_changes() AS changed");
      for (let transaction = 0; transaction < 500; transaction += 1) {
        await owner.write(() => {
          for (let count = 1 + random(4); count > 0; count -= 1) {
            // Deliveries are added more often than the rest.
            const [name, run] = operations[Math.max(0, random(operations.length + 4) - 4)] ?? ["", () => {}];
            const before = countChanged.get()?.changed;
            run();
            names.add(name);
            if (countChanged.get()?.changed !== before) changed.add(name);
          }
        });
      }
      const { database, replay, logger } = await replayLog(store);
      expect(dump(database)).toEqual(dump(owner.database));
      expect({ newGaps: replay.newGaps, lines: logger.lines }).toEqual({ newGaps: [], lines: [] });
      const totals = "SELECT endpoint, status, deliveries FROM totals WHERE deliveries <> 0 ORDER BY 1, 2";
      const counted = "SELECT endpoint, status, count(*) AS deliveries FROM deliveries GROUP BY 1, 2 ORDER BY 1, 2";
      expect(database.prepare(totals).all()).toEqual(database.prepare(counted).all());
      // The triggers that count deliveries exist again.
      const schema = "SELECT sql FROM sqlite_schema ORDER BY name";
      expect(database.prepare(schema).all()).toEqual(owner.database.prepare(schema).all());
    }
    expect([...names].filter((name) => !changed.has(name))).toEqual([]);
  });

  test("produces the database that its owner has after two commits in a row failed", async () => {
    const store = new MemoryObjectStore();
    const owner = await openLoggedTable(store);
    const addDelivery = (id: string) => {
      const delivery = { id, endpoint: "retrain", body: "{}", receivedAt: new Date(1_000) };
      owner.table.add(delivery, { now: 1_000, maxQueued: 100 });
    };
    for (const id of ["a", "b"]) await owner.write(() => addDelivery(id), { commits: false });
    await owner.write(() => addDelivery("c"));
    expect(ids(owner.database)).toEqual(["a", "b", "c"]);
    // A trigger counts the discarded delivery.
    await owner.write(() => owner.table.discard({ id: "a", endpoint: "retrain" }, 1_000));
    expect(owner.table.reader.counts()).toMatchObject({ retrain: { queued: 2, cancelled: 1 } });
    const { database, replay } = await replayLog(store);
    expect(dump(database)).toEqual(dump(owner.database));
    expect(replay.newGaps).toEqual([]);
  });

  test("continues the sequence of deliveries that were removed", async () => {
    const store = new MemoryObjectStore();
    const owner = await openLoggedTable(store);
    for (const id of ["a", "b"]) await add(owner, id);
    await owner.write(() => owner.database.exec("DELETE FROM deliveries"));
    const next = await openLoggedTable(store);
    await add(next, "c");
    expect(next.table.lastSequence()).toBe(3);
  });

  test("reads a limited number of records at the same time", async () => {
    const store = new MemoryObjectStore();
    const owner = await openLoggedTable(store);
    const expected = Array.from({ length: 99 }, (_, index) => `delivery ${index}`);
    for (const id of expected) await add(owner, id);
    let [reads, most] = [0, 0];
    store.intercept = async ({ method }) => {
      if (method !== "get") return undefined;
      reads += 1;
      most = Math.max(most, reads);
      await new Promise((resolve) => setImmediate(resolve));
      reads -= 1;
      return undefined;
    };
    const { database } = await replayLog(store);
    expect(ids(database)).toEqual(expected);
    expect(most).toBe(64);
  });

  test("starts with any number of records", { tags: "slow" }, async () => {
    const store = new MemoryObjectStore();
    for (let number = 1; number <= 150_000; number += 1)
      store.objects.set(recordKey(number), { body: new Uint8Array(), storedAt: 0 });
    store.intercept = ({ method }) => (method === "get" ? "failed" : undefined);
    await expect(replayLog(store)).rejects.toThrow(ObjectStoreError);
  });
});

test("every table has a primary key, because a changeset does not contain changes of other tables", () => {
  const database = new DatabaseSync(":memory:");
  migrateDatabase(database);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const keys = database.prepare("SELECT 1 FROM pragma_table_info(?) WHERE pk > 0");
  const names = tables.all().map(({ name }) => String(name));
  expect(names).toContain("deliveries");
  expect(names.filter((name) => keys.get(name) === undefined)).toEqual([]);
});

describe("A record that does not fit the earlier changes", () => {
  test("is a gap, and later changes are applied", async () => {
    const store = new MemoryObjectStore();
    const owner = await openLoggedTable(store);
    for (const id of ["a", "b", "c"]) await add(owner, id);
    const { body } = await readRecord(store, 2);
    await replaceRecord(store, { ...(await readRecord(store, 3)), body });
    const { database, replay } = await replayLog(store);
    expect(replay.newGaps).toEqual([{ number: 3, reason: "conflict" }]);
    expect(ids(database)).toEqual(["a", "c"]);
  });
});

describe("A log that was continued with a newer schema", () => {
  /** Appends changes of a release whose schema has no `log_position`. */
  async function appendOldChanges(store: MemoryObjectStore): Promise<void> {
    const version = 5;
    const old = new DatabaseSync(":memory:");
    migrateDatabase(old, version);
    const session = old.createSession();
    old.exec(`
      INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at)
      VALUES ('retrain', 'old', 'queued', '{}', 1000, 1000, 1000)
    `);
    const fields = { writer, schemaVersion: version };
    await replaceRecord(store, { ...fields, number: 1, kind: "takeover", body: new Uint8Array() });
    await replaceRecord(store, { ...fields, number: 2, kind: "changes", body: session.changeset() });
  }

  test.each(["readable", "torn"])(
    "is replayed with the schema of each record if the takeover is %s",
    async (takeover) => {
      const store = new MemoryObjectStore();
      await appendOldChanges(store);
      const owner = await openLoggedTable(store);
      await add(owner, "new");
      if (takeover === "torn") tear(store, 3);
      const { database, replay } = await replayLog(store);
      expect(dump(database)).toEqual(dump(owner.database));
      expect(replay.newGaps).toEqual([]);
    },
  );

  test.each(["takeover", "changes"] as const)("is refused if a %s record is newer than this release", async (kind) => {
    const store = new MemoryObjectStore();
    await replaceRecord(store, { writer, number: 1, kind, schemaVersion: schemaVersion + 1, body: new Uint8Array() });
    await expect(replayLog(store)).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
  });

  test("is refused if the snapshot is newer than this release", async () => {
    const file = temporaryFile();
    const database = new DatabaseSync(file);
    migrateDatabase(database);
    database.exec(`PRAGMA user_version = ${schemaVersion + 1}`);
    database.close();
    await expect(replayLog(new MemoryObjectStore(), file)).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
  });
});

test("A process that checks for a takeover does not take its own new record for one", async () => {
  const store = new MemoryObjectStore();
  const owner = new LogWriter({
    ...{ store, writerId: writer, next: 1, log: createMemoryLogger() },
    ...{ monotonicNow: () => performance.now(), wait: waitWithTimer },
  });
  await owner.append({ kind: "takeover", body: () => new Uint8Array() });
  const read = Promise.withResolvers<void>();
  const get = store.get.bind(store);
  vi.spyOn(store, "get").mockImplementationOnce(async (key) => {
    await read.promise;
    return get(key);
  });
  const checked = owner.detectTakeover();
  await owner.append({ kind: "changes", body: () => new Uint8Array([1]) });
  read.resolve();
  await checked;
  expect(owner.fencedBy).toBeUndefined();
});

test("A delivery in a record that was unreadable for a time, and that was sent again, is stored once", async () => {
  const store = new MemoryObjectStore();
  const first = await openLoggedTable(store);
  await add(first, "a");
  const together = ["b", "c", "d"].map((id) => ({ id, endpoint: "retrain", body: "{}", receivedAt: new Date(1_000) }));
  await first.write(() => together.map((delivery) => first.table.add(delivery, { now: 1_000, maxQueued: 100 })));
  const [number, stored] = [3, store.objects.get(recordKey(3))];
  tear(store, number);
  const second = await openLoggedTable(store);
  for (const id of ["d", "z"]) await add(second, id);
  if (stored) store.objects.set(recordKey(number), stored);
  const { database } = await replayLog(store);
  expect(
    ids(database)
      .filter((id) => id === "d" || id === "z")
      .sort(),
  ).toEqual(["d", "z"]);
});

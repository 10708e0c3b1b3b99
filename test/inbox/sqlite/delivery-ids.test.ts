import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InboxFile } from "../../../src/inbox/sqlite/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming, openInbox } from "./open-inbox.ts";

const keys = ["a", "b"].flatMap((endpoint) => Array.from({ length: 12 }, (_, id) => ({ endpoint, id: `id-${id}` })));
type Key = (typeof keys)[number];

/** A process that shares the file of an inbox. */
async function openProcess(file: string, { loads = true }: { loads?: boolean } = {}) {
  const inbox = new InboxFile({ file, log: createMemoryLogger() });
  const { table } = inbox;
  if (loads) await table.ids.load();
  return {
    table,
    /** Stores deliveries in a transaction, which is rolled back unless `commits` is set. Returns which were stored already. */
    store(added: readonly Key[], { commits = true, maxQueued = 100_000 } = {}): boolean[] {
      inbox.begin();
      const limits = { now: 1, maxQueued };
      try {
        const stored = added.map((key) => table.add({ ...key, body: "{}", receivedAt: new Date(0) }, limits));
        if (commits) inbox.commit();
        return stored;
      } finally {
        if (inbox.isTransaction) inbox.rollback();
      }
    },
    [Symbol.dispose]: () => inbox.close(),
  };
}

test("Several processes find the same deliveries by ID, whatever they store, roll back, and remove", async () => {
  const key = fc.constantFrom(...keys);
  const by = fc.nat(1);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ by, store: fc.array(key, { maxLength: 6 }), commits: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ remove: key }) },
    { weight: 1, arbitrary: fc.record({ by, find: key }) },
    { weight: 1, arbitrary: fc.record({ by, loads: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ removeAll: fc.constant(true) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const file = inboxFile();
      const processes = [await openProcess(file), await openProcess(file)];
      using other = new DatabaseSync(file);
      const stored = new Set<Key>();
      for (const step of steps) {
        if ("store" in step) {
          const before = new Set(stored);
          const expected = step.store.map((key) => before.has(key) || !before.add(key));
          expect(processes[step.by]?.store(step.store, step)).toEqual(expected);
          if (step.commits) for (const key of step.store) stored.add(key);
        } else if ("remove" in step) {
          const { endpoint, id } = step.remove;
          other.prepare("DELETE FROM deliveries WHERE endpoint = ? AND id = ?").run(endpoint, id);
          stored.delete(step.remove);
        } else if ("find" in step) {
          expect(processes[step.by]?.table.sequenceOf(step.find) !== undefined).toBe(stored.has(step.find));
        } else if ("loads" in step) {
          processes[step.by]?.[Symbol.dispose]();
          processes[step.by] = await openProcess(file, step);
        } else {
          // The next sequence is then not the one after the last delivery.
          other.exec("DELETE FROM deliveries");
          stored.clear();
        }
      }
      for (const { table } of processes) {
        expect(keys.filter((key) => table.sequenceOf(key))).toEqual(keys.filter((key) => stored.has(key)));
      }
      expect(other.prepare("SELECT count(*) AS count FROM deliveries").get()).toEqual({ count: stored.size });
      for (const process of processes) process[Symbol.dispose]();
    }),
    { numRuns: 60 },
  );
});

test("Thousands of deliveries are found, also after a restart, and by a process that has stored none of them", async () => {
  const file = inboxFile();
  const many = Array.from({ length: 25_000 }, () => ({ endpoint: "a", id: crypto.randomUUID() }));
  using writer = await openProcess(file);
  using reader = await openProcess(file);
  expect(writer.store(many.slice(0, 12_000)).includes(true)).toBe(false);
  expect(reader.store(many.slice(12_000)).includes(true)).toBe(false);
  using restarted = await openProcess(file);
  for (const { table } of [writer, reader, restarted]) {
    expect(many.map((key) => table.sequenceOf(key))).toEqual(many.map((_key, index) => index + 1));
    expect(table.sequenceOf({ endpoint: "b", id: many[0]?.id ?? "" })).toBeUndefined();
  }
});

test("Two deliveries whose IDs have the same hash, or are not valid Unicode, are different deliveries", async () => {
  using process = await openProcess(inboxFile());
  // The first two have the same hash.
  const different = ["id-122789", "id-339192", "x\ud800y", "xy"].map((id) => ({ endpoint: "a", id }));
  expect(process.store([...different, ...different])).toEqual([false, false, false, false, true, true, true, true]);
});

test("The IDs of removed deliveries are forgotten when they are most of the IDs, and the others are found", async () => {
  const file = inboxFile();
  using process = await openProcess(file);
  const many = Array.from({ length: 12_000 }, (_, index) => ({ endpoint: "a", id: `id-${index}` }));
  process.store(many);
  process.table.ids.trim(12_000);
  expect(process.table.ids.isLoaded).toBe(true);
  using other = new DatabaseSync(file);
  other.exec("DELETE FROM deliveries WHERE sequence > 10");
  process.table.ids.trim(10);
  expect(process.table.ids.isLoaded).toBe(false);
  for (const loads of [false, true]) {
    if (loads) await process.table.ids.load();
    expect(many.filter((key) => process.table.sequenceOf(key))).toHaveLength(10);
  }
});

test("Processes share the limit of queued deliveries", async () => {
  const file = inboxFile();
  using first = await openProcess(file);
  using second = await openProcess(file);
  const key = (id: string) => ({ endpoint: "a", id });
  first.store([key("1")], { maxQueued: 3 });
  second.store([key("2"), key("3")], { maxQueued: 3 });
  expect(() => first.store([key("4")], { maxQueued: 3 })).toThrow(expect.objectContaining({ code: "INBOX_FULL" }));
  expect(first.store([key("3")], { maxQueued: 3 })).toEqual([true]);
});

test("A duplicate of a delivery in a file of an older release is found, also if its ID cannot be read", async () => {
  const file = inboxFile();
  using old = await openProcess(file);
  old.store([{ endpoint: "a", id: "1" }]);
  using database = new DatabaseSync(file);
  // Of the tables of older releases.
  database.exec("CREATE UNIQUE INDEX ids ON deliveries (endpoint, id)");
  using process = await openProcess(file);
  Object.assign(process.table.ids, { find: () => undefined });
  expect(process.store([{ endpoint: "a", id: "1" }])).toEqual([true]);
});

test("The first deliveries wait until all IDs are read, in their order", async () => {
  const file = inboxFile();
  using writer = await openProcess(file);
  writer.store(Array.from({ length: 12_000 }, (_, index) => ({ endpoint: "retrain", id: `id-${index}` })));
  const { inbox } = openInbox({ file, maxQueued: 12_001 });
  const ids = ["id-11999", "first", "second", "id-0", "first"];
  const accepted = await Promise.allSettled(ids.map((id) => inbox.accept(incoming(id))));
  expect(accepted).toMatchObject([
    { value: { duplicate: true } },
    { value: { duplicate: false } },
    { reason: { code: "INBOX_FULL" } },
    { value: { duplicate: true } },
    { value: { duplicate: true } },
  ]);
});

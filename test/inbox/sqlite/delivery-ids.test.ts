import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { inboxFile } from "../inbox-file.ts";

const limits = { now: 1, maxQueued: 100_000 };
const keys = ["a", "b"].flatMap((endpoint) => Array.from({ length: 12 }, (_, id) => ({ endpoint, id: `id-${id}` })));
type Key = (typeof keys)[number];

/** A process that shares the file of an inbox. */
function openProcess(file: string) {
  const database = openInboxDatabase(file);
  const table = new DeliveryTable(database);
  return {
    table,
    /** Stores deliveries in a transaction, which is rolled back unless `commits` is set. Returns which were stored already. */
    store(added: readonly Key[], { commits = true }: { commits?: boolean } = {}): boolean[] {
      database.exec("BEGIN IMMEDIATE");
      table.ids.begin();
      const stored = added.map((key) => table.add({ ...key, body: "{}", receivedAt: new Date(0) }, limits));
      table.totals.store();
      database.exec(commits ? "COMMIT" : "ROLLBACK");
      table.ids.end(commits ? "committed" : "rolled back");
      return stored;
    },
    [Symbol.dispose]: () => database.close(),
  };
}

test("Several processes find the same deliveries by ID, whatever they store, roll back, and remove", () => {
  const key = fc.constantFrom(...keys);
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ by: fc.nat(1), store: fc.array(key, { maxLength: 6 }), commits: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ remove: key }) },
    { weight: 1, arbitrary: fc.record({ find: key, by: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.record({ reopen: fc.nat(1) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
      const file = inboxFile();
      const processes = [openProcess(file), openProcess(file)];
      using other = new DatabaseSync(file);
      const stored = new Set<Key>();
      for (const step of steps) {
        if ("store" in step) {
          const before = new Set(stored);
          const expected = step.store.map((key) => before.has(key) || !before.add(key));
          expect(processes[step.by]?.store(step.store, step)).toEqual(expected);
          if (step.commits) for (const key of step.store) stored.add(key);
        } else if ("remove" in step) {
          other
            .prepare("DELETE FROM deliveries WHERE endpoint = ? AND id = ?")
            .run(step.remove.endpoint, step.remove.id);
          stored.delete(step.remove);
        } else if ("find" in step) {
          expect(processes[step.by]?.table.sequenceOf(step.find) !== undefined).toBe(stored.has(step.find));
        } else {
          processes[step.reopen]?.[Symbol.dispose]();
          processes[step.reopen] = openProcess(file);
        }
      }
      for (const { table } of processes)
        expect(keys.filter((key) => table.sequenceOf(key))).toEqual(keys.filter((key) => stored.has(key)));
      expect(other.prepare("SELECT count(*) AS count FROM deliveries").get()).toEqual({ count: stored.size });
      for (const process of processes) process[Symbol.dispose]();
    }),
    { numRuns: 60 },
  );
});

test("Thousands of deliveries are found, also after a restart, and by a process that has stored none of them", () => {
  const file = inboxFile();
  const many = Array.from({ length: 5_000 }, () => ({ endpoint: "a", id: crypto.randomUUID() }));
  using writer = openProcess(file);
  using reader = openProcess(file);
  expect(writer.store(many.slice(0, 2_500)).includes(true)).toBe(false);
  expect(reader.store(many.slice(2_500)).includes(true)).toBe(false);
  using restarted = openProcess(file);
  for (const { table } of [writer, reader, restarted]) {
    expect(many.map((key) => table.sequenceOf(key))).toEqual(many.map((_key, index) => index + 1));
    expect(table.sequenceOf({ endpoint: "b", id: many[0]?.id ?? "" })).toBeUndefined();
  }
});

test("Two deliveries whose IDs have the same hash are different deliveries", () => {
  using process = openProcess(inboxFile());
  // Found by trying.
  const [first, second] = ["id-122789", "id-339192"].map((id) => ({ endpoint: "a", id }));
  if (!first || !second) throw new Error("There are two.");
  expect(process.store([first, second, first, second])).toEqual([false, false, true, true]);
});

// @module-tag slow

import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readFilter } from "../../../src/inbox/filter.ts";
import type { ListOptions } from "../../../src/inbox/inbox.ts";
import { migrateDatabase, openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryPruner } from "../../../src/inbox/sqlite/delivery-pruner.ts";
import { DeliveryReader } from "../../../src/inbox/sqlite/delivery-reader.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import type { EventGroup } from "../../../src/inbox/sqlite/event-index.ts";
import { countAllSql, migrations } from "../../../src/inbox/sqlite/schema.ts";
import { waitFor } from "../../support/wait-for.ts";
import { inboxFile } from "../inbox-file.ts";
import { eventBody } from "../search-contract.ts";
import { damage } from "./large-file.ts";
import { incoming, openInbox, succeeded, work } from "./open-inbox.ts";

afterEach(() => void vi.restoreAllMocks());

/** Opens a file like a process of its own. */
function openTable(file: string) {
  return toOpened(openInboxDatabase(file));
}

function toOpened(database: DatabaseSync) {
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  database.exec("PRAGMA synchronous = OFF; PRAGMA busy_timeout = 1000");
  const table = new DeliveryTable(database);
  const write = <Result>(action: () => Result): Result => {
    database.exec("BEGIN IMMEDIATE");
    const result = action();
    table.totals.store();
    database.exec("COMMIT");
    return result;
  };
  return { database, table, write };
}

type Opened = ReturnType<typeof openTable>;

/** Adds deliveries that have succeeded. Each tenth is of a model, and only the first has the action "delete". */
function fill({ database }: Pick<Opened, "database">, count: number, first = 0): void {
  const add = database.prepare(
    `INSERT INTO deliveries (endpoint, id, status, body, received_at, scheduled_at, finished_at)
     VALUES ('retrain', ?, 'succeeded', ?, 1, 1, 1)`,
  );
  database.exec("BEGIN");
  for (let number = first; number < first + count; number += 1) {
    const repository = number % 10 === 0 ? "model:acme/net" : "dataset:acme/data";
    add.run(`d${number}`, eventBody({ repository, action: number === 0 ? "delete" : "update" }));
  }
  database.exec(`${countAllSql} COMMIT`);
}

/** Indexes all deliveries that fill a group. */
function indexAll({ table, write }: Opened, size = 1): void {
  for (;;) {
    const group = table.index.readGroup({ size });
    if (!group) return;
    write(() => table.index.add(group));
  }
}

/** Returns the IDs of one page. The page ends after one delivery is examined, unless `maxMs` is set. */
function find({ table }: Opened, options: ListOptions, maxMs = 0) {
  const filter = readFilter(options);
  if (!filter) throw new Error("The filter is missing.");
  const { deliveries, next } = table.reader.page(table.reader.find({ filter, options, maxMs }));
  return { ids: deliveries.map(({ id }) => id), next };
}

function indexedIn({ database }: Opened): number[] {
  return database
    .prepare("SELECT delivery FROM event_index ORDER BY delivery")
    .all()
    .map(({ delivery }) => Number(delivery));
}

const repositories = ["dataset:acme/a", "dataset:acme/b", "model:acme/a", "dataset:acme:x"];
/** Two processes use the file. */
const process = fc.constantFrom(0, 1);
const key = { endpoint: fc.constantFrom("one", "two"), id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h") };
const event = {
  repository: fc.constantFrom(...repositories),
  scope: fc.constantFrom("repo", "repo.content"),
  action: fc.constantFrom("create", "update"),
};
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("accept"), process, ...key, ...event }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("finish"),
      ...key,
      status: fc.constantFrom("dead", "succeeded"),
      at: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("prune"), process, before: fc.nat({ max: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("read group"), process }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add group"), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart"), process }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("read page"), process, maxMs: fc.constantFrom(0, 1e9) }) },
);
const filters = fc.record(
  {
    repository: fc.constantFrom(...repositories, "acme/a", "acme:x", "x", "acme/none"),
    scope: event.scope,
    action: event.action,
    endpoint: key.endpoint,
    status: fc.constantFrom("queued", "dead", "succeeded"),
  },
  { requiredKeys: [] },
);

/** Reads the sequences that match a filter without the code under test. */
function matching(database: DatabaseSync, options: ListOptions): number[] {
  const { repository, scope, action, endpoint, status } = options;
  return database
    .prepare(
      `SELECT sequence FROM deliveries WHERE body IS NOT NULL
         AND coalesce(:repository IN (body ->> '$.repo.name', (body ->> '$.repo.type') || ':' || (body ->> '$.repo.name')), 1)
         AND body ->> '$.event.scope' = coalesce(:scope, body ->> '$.event.scope')
         AND body ->> '$.event.action' = coalesce(:action, body ->> '$.event.action')
         AND endpoint = coalesce(:endpoint, endpoint) AND status = coalesce(:status, status)
       ORDER BY sequence DESC`,
    )
    .all({
      repository: repository ?? null,
      scope: scope ?? null,
      action: action ?? null,
      endpoint: endpoint ?? null,
      status: status ?? null,
    })
    .map(({ sequence }) => Number(sequence));
}

/** Runs operations while the pages of a filter are read, and checks each listing when its last page is read. */
class Model {
  readonly #file = inboxFile();
  readonly #processes = [openTable(this.#file), openTable(this.#file)];
  readonly #groups: (EventGroup | undefined)[] = [];
  readonly #options: ListOptions;
  #cursor: string | undefined;
  #found: number[] = [];
  /** The deliveries that matched the filter since the first page was read. */
  #expected: number[] = [];

  constructor(options: ListOptions) {
    this.#options = options;
  }

  run(one: Operation): void {
    const [first] = this.#processes;
    const opened = this.#processes["process" in one ? one.process : 0];
    if (!first || !opened) throw new Error("The process is missing.");
    const { table, write } = opened;
    if (one.kind === "accept") {
      const { id, endpoint } = one;
      const delivery = { ...incoming(id, { endpoint, body: eventBody(one) }), receivedAt: new Date(1) };
      write(() => table.add(delivery, { now: 1, maxQueued: 100 }));
    } else if (one.kind === "finish") {
      first.database
        .prepare(
          `UPDATE deliveries SET status = :status, due_at = NULL, finished_at = :at
           WHERE endpoint = :endpoint AND id = :id AND status = 'queued'`,
        )
        .run({ status: one.status, at: one.at, endpoint: one.endpoint, id: one.id });
    } else if (one.kind === "prune") {
      const limits = { bodiesBefore: one.before, idsBefore: one.before - 1 };
      for (const endpoint of ["one", "two"]) write(() => new DeliveryPruner(table).prune(endpoint, limits));
    } else if (one.kind === "read group") {
      this.#groups[one.process] = table.index.readGroup({ size: 2 });
    } else if (one.kind === "add group") {
      const group = this.#groups[one.process];
      if (group) write(() => table.index.add(group));
    } else if (one.kind === "restart") {
      opened.database.close();
      this.#processes[one.process] = openTable(this.#file);
      this.#groups[one.process] = undefined;
    } else this.readPage(opened, one.maxMs);
    const current = new Set(matching(this.#reader.database, this.#options));
    this.#expected = this.#expected.filter((sequence) => current.has(sequence));
    this.#checkIndex();
  }

  /** Lists all deliveries. */
  finish(): void {
    this.#cursor = undefined;
    for (const maxMs of [0, 1e9]) {
      do this.readPage(this.#reader, maxMs);
      while (this.#cursor !== undefined);
      expect(this.#found).toEqual(matching(this.#reader.database, this.#options));
    }
  }

  readPage({ database, table }: Opened, maxMs: number): void {
    if (this.#cursor === undefined) {
      this.#found = [];
      this.#expected = matching(database, this.#options);
    }
    const options = { ...this.#options, limit: 2, ...(this.#cursor !== undefined && { cursor: this.#cursor }) };
    const filter = readFilter(options);
    if (!filter) throw new Error("The filter is missing.");
    const { sequences, end } = table.reader.find({ filter, options, maxMs });
    this.#found.push(...sequences);
    this.#cursor = end && String(end.sequence);
    if (this.#cursor !== undefined) return;
    expect(this.#found).toEqual([...new Set(this.#found)].sort((one, other) => other - one));
    expect(this.#found).toEqual(expect.arrayContaining(this.#expected));
  }

  get #reader(): Opened {
    const [first] = this.#processes;
    if (!first) throw new Error("The process is missing.");
    return first;
  }

  /** The index contains no deliveries whose body has been removed. */
  #checkIndex(): void {
    const bodies = this.#reader.database.prepare("SELECT sequence FROM deliveries WHERE body IS NOT NULL").all();
    const withBody = new Set(bodies.map(({ sequence }) => Number(sequence)));
    expect(indexedIn(this.#reader).filter((sequence) => !withBody.has(sequence))).toEqual([]);
  }
}

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

describe("The index of events", () => {
  test("finds each matching delivery once, while others are accepted, indexed, deleted, and accepted again", {
    timeout: 120_000,
  }, () => {
    // Without this, the few deliveries of an endpoint or a status would be listed without the index.
    vi.spyOn(DeliveryReader.prototype, "count").mockReturnValue(1e6);
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60, size: "max" }), filters, (operations, filter) => {
        fc.pre(filter.repository !== undefined || filter.scope !== undefined || filter.action !== undefined);
        const model = new Model(filter);
        for (const one of operations) model.run(one);
        model.finish();
      }),
      { numRuns: 100 },
    );
  });

  test("finds a delivery without examining others", () => {
    const opened = openTable(inboxFile());
    fill(opened, 1_000);
    expect(find(opened, { action: "delete" }).ids).toEqual([]);
    indexAll(opened);
    expect(find(opened, { action: "delete" }).ids).toEqual(["d0"]);
    expect(find(opened, { action: "delete", repository: "acme/net" }).ids).toEqual(["d0"]);
    expect(find(opened, { action: "delete", repository: "model:acme/net", search: "d0" }).ids).toEqual(["d0"]);
    expect(find(opened, { repository: "acme/none" })).toEqual({ ids: [], next: undefined });
    expect(find(opened, { repository: "dataset:acme/net" }, 1e9)).toEqual({ ids: [], next: undefined });
    // The time is over when only the delivery with the action has been found.
    expect(find(opened, { action: "delete", scope: "repo.content" }).ids).toEqual(["d0"]);
  });

  test.each(["before", "while", "after"])(
    "contains the new body of a dead delivery that arrives again %s it is indexed",
    (when) => {
      const opened = openTable(inboxFile());
      const { database, table, write } = opened;
      fill(opened, 1);
      database.exec("UPDATE deliveries SET status = 'dead'");
      const arrive = () => write(() => table.add(incoming("d0", { body: eventBody({}) }), { now: 1, maxQueued: 10 }));
      if (when === "before") arrive();
      const group = table.index.readGroup({ size: 1 });
      if (when === "while") arrive();
      if (group) write(() => table.index.add(group));
      if (when === "after") arrive();
      expect(table.index.end).toBe(1);
      expect(find(opened, { repository: "dataset:acme/data" }).ids).toEqual(["d0"]);
      expect(find(opened, { repository: "model:acme/net" }).ids).toEqual([]);
    },
  );

  test("does not contain deliveries that were pruned after they were indexed, or while they were read", () => {
    const opened = openTable(inboxFile());
    const { table, write } = opened;
    vi.spyOn(performance, "now").mockReturnValue(0);
    fill(opened, 20);
    const first = table.index.readGroup({ size: 10 });
    if (first) write(() => table.index.add(first));
    const second = table.index.readGroup({ size: 10 });
    write(() => new DeliveryPruner(table).prune("retrain", { bodiesBefore: 2, idsBefore: 0 }));
    if (second) write(() => table.index.add(second));
    expect(table.index.end).toBe(20);
    expect(indexedIn(opened)).toEqual([]);
  });

  test("finds a delivery that has both values, although a newer one has one of them", () => {
    const opened = openTable(inboxFile());
    fill(opened, 1_000);
    indexAll(opened);
    expect(find(opened, { repository: "model:acme/net", action: "delete" }, 1e9).ids).toEqual(["d0"]);
  });

  test("is not used if few deliveries have the status", () => {
    const opened = openTable(inboxFile());
    fill(opened, 1_000);
    opened.database.exec("UPDATE deliveries SET status = 'dead' WHERE sequence = 3");
    indexAll(opened);
    expect(find(opened, { action: "update", status: "dead" }).ids).toEqual(["d2"]);
  });

  test("contains the deliveries of a file of an older release after they are indexed", () => {
    const file = inboxFile();
    const old = new DatabaseSync(file);
    migrateDatabase(old, migrations.length - 1);
    fill({ database: old }, 1_000);
    old.close();
    const opened = openTable(file);
    const oldest = () => find(opened, { repository: "acme/net", limit: 1_000 }, 1e9).ids.at(-1);
    expect(oldest()).toBe("d0");
    indexAll(opened);
    expect(indexedIn(opened)).toHaveLength(1_000);
    expect(oldest()).toBe("d0");
  });

  test("is written in groups, with 149 bytes of the WAL per delivery if there are few repositories", () => {
    vi.spyOn(performance, "now").mockReturnValue(0);
    const file = inboxFile();
    const opened = openTable(file);
    fill(opened, 1_499);
    const walBytes = () => statSync(`${file}-wal`).size;
    const before = walBytes();
    indexAll(opened, 500);
    expect(indexedIn(opened)).toHaveLength(1_000);
    expect(walBytes() - before).toBe(148_320);
  });

  test("adds a part of a group if its time is over, and the rest later", () => {
    const opened = openTable(inboxFile());
    const { index } = opened.table;
    fill(opened, 500);
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const group = index.readGroup();
    expect(group?.end).toBe(500);
    let time = 0;
    now.mockImplementation(() => {
      time += 1;
      return time;
    });
    if (group) opened.write(() => index.add(group));
    expect(index.end).toBe(2);
    expect(indexedIn(opened)).toEqual([1, 2]);
    expect(index.readGroup({ size: 495 })?.after).toBe(2);
  });

  test("is not written while many deliveries arrive, unless a search would take long", () => {
    const opened = openTable(inboxFile());
    const hasGroup = () => opened.table.index.readGroup({ size: 5 }) !== undefined;
    fill(opened, 10);
    expect(hasGroup()).toBe(true);
    fill(opened, 100, 10);
    expect([hasGroup(), hasGroup()]).toEqual([false, true]);
    fill(opened, 900, 110);
    expect(hasGroup()).toBe(true);
  });

  test("is written in the thread of a server, to the deliveries of all processes", async () => {
    const { inbox, file } = openInbox();
    const opened = openTable(file);
    fill(opened, 1_200);
    work(inbox, () => succeeded);
    await inbox.accept(incoming("runs"));
    // Fewer deliveries than a group are left.
    await waitFor(() => expect(opened.table.index.end).toBeGreaterThan(701));
    expect(indexedIn(opened)).toHaveLength(opened.table.index.end);
    const { deliveries } = await inbox.list({ action: "delete" });
    expect(deliveries.map(({ id }) => id)).toEqual(["d0"]);
  });

  test("is written slowly in the thread of a server while there are other commits, which would wait for it", async () => {
    const { inbox, file } = openInbox();
    const opened = openTable(file);
    const end = () => opened.table.index.end;
    fill(opened, 5_000);
    work(inbox, () => succeeded);
    await inbox.accept(incoming("runs"));
    await waitFor(() => expect(end()).toBeGreaterThan(0));
    // In half a second: one group per 250 ms, one that was read before, and one for a slow machine.
    const before = end();
    for (let commits = 0; commits < 25; commits += 1) {
      opened.write(() =>
        opened.database.exec("UPDATE deliveries SET received_at = received_at + 1 WHERE sequence = 1"),
      );
      await setTimeout(20);
    }
    expect(end() - before).toBeLessThanOrEqual(4 * 500);
    await waitFor(() => expect(end()).toBeGreaterThan(4_501));
  });

  describe("with a damaged page", () => {
    /** Damages a page of a table or an index, and opens the file without the check for damage. */
    function openDamaged(file: string, name: string): Opened {
      const database = new DatabaseSync(file);
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const page = database
        .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 1")
        .get(name);
      database.close();
      damage(file, [Number(page?.pageno)]);
      return toOpened(new DatabaseSync(file));
    }

    test("of the deliveries contains the others", () => {
      const file = inboxFile();
      const healthy = openTable(file);
      fill(healthy, 1_000);
      healthy.database.close();
      const opened = openDamaged(file, "deliveries");
      indexAll(opened);
      const indexed = indexedIn(opened);
      expect(opened.table.index.end).toBe(1_000);
      expect(indexed.length).toBeGreaterThan(900);
      expect(indexed.length).toBeLessThan(1_000);
      expect(find(opened, { action: "delete" }).ids).toEqual(["d0"]);
    });

    test("of its own is not used", () => {
      const file = inboxFile();
      const healthy = openTable(file);
      fill(healthy, 1_000);
      indexAll(healthy);
      healthy.database.close();
      const opened = openDamaged(file, "event_index_repository");
      expect(() => opened.database.exec("SELECT count(repository) FROM event_index")).toThrow("malformed");
      expect(find(opened, { repository: "acme/net", limit: 1_000 }, 1e9).ids).toHaveLength(100);
    });
  });
});

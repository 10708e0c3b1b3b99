import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { type ClaimedRow, DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import { createStatements } from "../../../src/inbox/sqlite/statements.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { listAll } from "../engine.ts";
import { incoming, openInbox } from "./open-inbox.ts";

/** Adds many deliveries to a file. */
function fill(file: string, { count, columns }: { count: number; columns: string }): void {
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${count})
    INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at, finished_at)
      SELECT 'retrain', 'filled-' || number, 'body', 1, 1, ${columns} FROM numbers;
    ${countAllSql}
  `);
  database.close();
}

describe("A statement on a large inbox", () => {
  const texts: Record<string, string> = {};
  const database = openInboxDatabase(":memory:");
  for (const [name, statement] of Object.entries(createStatements(database))) texts[name] = statement().sourceSQL;

  // A list of queued deliveries sorts at most `maxQueued`. Servers find a sequence in memory (`DeliveryIds`).
  const { newestQueued: _newestQueued, sequenceOf: _sequenceOf, ...others } = texts;

  test.each(Object.entries(others))("uses an index, also to sort: %s", (_name, text) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    const steps = plan.map(({ detail }) => String(detail));
    expect(steps.filter((step) => /SCAN (?:deliveries|attempts)|TEMP B-TREE FOR ORDER/.test(step))).toEqual([]);
    // The index by status suffices, because there are few running deliveries.
    const isOfRunning = text.includes("status = 'running'");
    expect(steps.filter((step) => /\(status=\?\)/.test(step)).length).toBeLessThanOrEqual(isOfRunning ? 1 : 0);
  });
});

describe("A list that another connection changes while it is read", () => {
  test("contains a delivery whose status changes between two of its queries", () => {
    const file = join(createFolder(), "inbox.db");
    const writer = new DeliveryTable(openInboxDatabase(file));
    const { database, statements, reader } = new DeliveryTable(openInboxDatabase(file));
    onTestFinished(() => [writer.database, database].forEach((opened) => void opened.close()));
    for (const id of ["a", "b"])
      writer.add({ id, endpoint: "retrain", body: "{}", receivedAt: new Date(1) }, { now: 1, maxQueued: 10 });
    const setStatus = (status: string) =>
      writer.database.exec(`UPDATE deliveries SET status = '${status}' WHERE id = 'a'; ${countAllSql}`);
    setStatus("running");
    const queued = statements.newestQueued().all.bind(statements.newestQueued());
    vi.spyOn(statements.newestQueued(), "all").mockImplementation((...values) => {
      const found = queued(...values);
      setStatus("queued");
      return found;
    });
    expect(reader.list({ endpoint: "retrain" }).deliveries).toMatchObject([{ id: "b" }, { id: "a" }]);
  });
});

describe("A delivery whose row cannot be read", () => {
  /** Creates a table with a queued delivery whose row cannot be read because of this error. */
  function openTable(error: Error) {
    const table = new DeliveryTable(openInboxDatabase(":memory:"));
    const receivedAt = new Date(1);
    table.add({ id: "a", endpoint: "retrain", body: "{}", receivedAt }, { now: 1, maxQueued: 10 });
    // Both the query for all due deliveries and the one for this delivery.
    for (const method of ["all", "get"] as const) {
      const read = vi.spyOn(StatementSync.prototype, method).mockImplementationOnce(() => {
        throw error;
      });
      onTestFinished(() => read.mockRestore());
    }
    return { table, claim: () => table.claim("retrain", 1, { processId: "here", now: 1 }) };
  }

  test("is reported and skipped if its page is damaged", () => {
    const error = Object.assign(new Error("database disk image is malformed"), { errcode: 11 });
    const { table, claim } = openTable(error);
    // The first error says that a page is damaged, and the second that it is the page of this delivery.
    expect(claim).toThrow(error);
    expect(claim).toThrow(error);
    expect(claim()).toEqual([]);
    expect(table.damageCount).toBe(2);
  });

  test("fails the claim for any other reason, and is claimed later", () => {
    const error = Object.assign(new Error("database is locked"), { errcode: 5 });
    const { table, claim } = openTable(error);
    expect(claim).toThrow(error);
    expect(claim()).toMatchObject([{ id: "a", attempt: 1 }]);
    expect(table.damageCount).toBe(0);
  });
});

describe("A delivery that changes twice in one transaction is counted once:", () => {
  const key = { id: "a", endpoint: "retrain" };
  const arrival = { ...key, body: "{}", receivedAt: new Date(1) };
  const here = { processId: "here", now: 1 };
  const end = (table: DeliveryTable, row: ClaimedRow, status: "dead" | "succeeded") => {
    const outcome = status === "dead" ? "failed" : status;
    table.recordEnd(
      row,
      { attempt: { number: 1, startedAt: new Date(1), durationMs: 0, outcome }, next: { status } },
      here,
    );
  };

  test.each<[string, (table: DeliveryTable, row: ClaimedRow) => unknown]>([
    ["is dead and arrives again", (table) => table.add(arrival, { now: 1, maxQueued: 10 })],
    ["is dead and is replayed", (table) => table.replay(key, 1)],
    ["is dead and is replayed with others", (table) => table.replayDeadStep("retrain", { after: 0, last: 1, now: 1 })],
    ["is dead and is discarded", (table) => table.discard(key, 1)],
    ["is dead and succeeds late", (table, row) => end(table, row, "succeeded")],
  ])("%s", (_name, change) => {
    const table = new DeliveryTable(openInboxDatabase(":memory:"));
    table.add(arrival, { now: 1, maxQueued: 10 });
    const [row] = table.claim("retrain", 1, here);
    if (!row) throw new Error("Nothing was claimed.");
    end(table, row, "dead");
    change(table, row);
    table.totals.store();
    const counts = table.reader.counts().retrain;
    table.database.exec(countAllSql);
    expect(counts).toEqual(table.reader.counts().retrain);
    expect(counts?.dead).toBe(0);
  });
});

describe("A list of many deliveries", () => {
  test("contains all statuses of an endpoint, newest first", async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 30, columns: "iif(number % 3, 'succeeded', 'dead'), NULL, 1" });
    await inbox.accept(incoming("waits"));
    await inbox.accept(incoming("elsewhere", { endpoint: "other" }));
    const found = await listAll(inbox, { endpoint: "retrain", limit: 7 });
    expect(found.map(({ id }) => id)).toEqual([
      "waits",
      ...Array.from({ length: 30 }, (_, index) => `filled-${30 - index}`),
    ]);
    expect((await inbox.list({ status: "dead" })).deliveries).toHaveLength(10);
  });
});

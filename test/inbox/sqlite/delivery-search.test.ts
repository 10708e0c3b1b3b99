import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readFilter } from "../../../src/inbox/filter.ts";
import type { Inbox, ListOptions } from "../../../src/inbox/inbox.ts";
import { DeliveryReader } from "../../../src/inbox/sqlite/delivery-reader.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import { eventBody } from "../search-contract.ts";
import { openInbox, succeeded, work } from "./open-inbox.ts";

afterEach(() => void vi.restoreAllMocks());

/** Adds deliveries of two repositories to an inbox file. `d0` is the oldest. */
function addMany(file: string, count: number, intervalMs = 1): void {
  const database = new DatabaseSync(file);
  database
    .prepare(
      `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
       INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at)
       SELECT 'retrain', 'd' || n, 'succeeded', iif(n % 1000 = 0, ?2, ?3), n * ?4, NULL, n FROM numbers`,
    )
    .run(count, eventBody({ repository: "model:acme/rare" }), eventBody({}), intervalMs);
  database.exec(countAllSql);
  database.close();
}

async function ids(inbox: Inbox, options: ListOptions): Promise<string[]> {
  return (await inbox.list(options)).deliveries.map(({ id }) => id);
}

/** Lists all pages. */
async function allIds(inbox: Inbox, options: ListOptions): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await inbox.list({ ...options, ...(cursor !== undefined && { cursor }) });
    found.push(...page.deliveries.map(({ id }) => id));
    cursor = page.next;
    expect(page.searchedUntil === undefined).toBe(cursor === undefined);
    if (cursor === undefined) return found;
  }
}

const rare: ListOptions = { repository: "model:acme/rare" };

describe("A search", () => {
  test("finds the deliveries among many others, page by page", { tags: "slow" }, async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000);
    expect(await allIds(inbox, { ...rare, limit: 7 })).toEqual(
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => `d${n * 1_000}`),
    );
    expect(await allIds(inbox, { ...rare, receivedUntil: new Date(3_000) })).toEqual(["d2000", "d1000", "d0"]);
    expect(await allIds(inbox, { search: "d1170" })).toHaveLength(11);
    expect(await allIds(inbox, { search: "1170 RARE" })).toEqual([]);
    expect(await allIds(inbox, { search: "rare 1000" })).toEqual(["d11000", "d10000", "d1000"]);
  });

  test("stops when its time is over, and reports how far it searched", () => {
    const { file } = openInbox();
    addMany(file, 1_000);
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    const { reader } = new DeliveryTable(database);
    const options: ListOptions = { search: "acme" };
    const filter = readFilter(options);
    if (!filter) throw new Error("The filter is missing.");
    const found = reader.find({ filter, options, maxMs: 0 });
    expect(found).toEqual({ sequences: [1_000], end: { sequence: 1_000, receivedAt: 999 } });
    expect(reader.page(found)).toMatchObject({ next: "1000", searchedUntil: new Date(999) });
    expect(reader.find({ filter, options: { ...options, cursor: "1" }, maxMs: 0 })).toEqual({ sequences: [] });
  });

  test("runs in the thread while the server runs deliveries", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000);
    work(inbox, () => succeeded);
    const find = vi.spyOn(DeliveryReader.prototype, "find");
    expect(await allIds(inbox, rare)).toHaveLength(12);
    expect(find).not.toHaveBeenCalled();
    await expect(inbox.list({ ...rare, cursor: "x" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  test("that fails in the thread fails, and the thread runs later ones", async () => {
    const { inbox, file, logger } = openInbox({ pollMs: 3_600_000 });
    addMany(file, 10);
    work(inbox, () => succeeded);
    expect(await allIds(inbox, rare)).toEqual(["d0"]);
    const other = new DatabaseSync(file, { timeout: 5_000 });
    onTestFinished(() => other.close());
    other.exec("ALTER TABLE deliveries RENAME TO elsewhere");
    await expect(inbox.list(rare)).rejects.toThrow("no such table");
    other.exec("ALTER TABLE elsewhere RENAME TO deliveries");
    const find = vi.spyOn(DeliveryReader.prototype, "find");
    expect(await allIds(inbox, rare)).toEqual(["d0"]);
    expect(find).not.toHaveBeenCalled();
    expect(logger.lines).toEqual([]);
  });

  test("blocks the event loop only briefly if there is no thread", async () => {
    const { inbox } = openInbox({ file: ":memory:" });
    work(inbox, () => succeeded);
    const find = vi.spyOn(DeliveryReader.prototype, "find");
    expect(await ids(inbox, rare)).toEqual([]);
    expect(find).toHaveBeenCalledWith(expect.objectContaining({ maxMs: 10 }));
  });

  test("reads only the deliveries of a time", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000, 60_000);
    const minute = (number: number) => new Date(60_000 * number);
    const options: ListOptions = { receivedFrom: minute(100), receivedUntil: minute(103) };
    const page = await inbox.list(options);
    expect(page.deliveries.map(({ id }) => id)).toEqual(["d102", "d101", "d100"]);
    expect(Object.keys(page)).toEqual(["deliveries"]);
    expect(await ids(inbox, { ...options, status: "succeeded" })).toEqual(["d102", "d101", "d100"]);
    expect(await ids(inbox, { receivedFrom: minute(11_999) })).toEqual(["d11999"]);
    expect(await ids(inbox, { receivedUntil: minute(1) })).toEqual(["d0"]);
    expect(await ids(inbox, { receivedFrom: minute(12_000) })).toEqual([]);
    expect(await ids(inbox, { receivedUntil: minute(0) })).toEqual([]);
  });

  test("does not list deliveries that were deleted while it ran", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 10);
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    const { reader } = new DeliveryTable(database);
    database.exec("DELETE FROM deliveries WHERE sequence = 1");
    expect(reader.page({ sequences: [2, 1] }).deliveries.map(({ id }) => id)).toEqual(["d1"]);
    expect(await ids(inbox, { search: "d0" })).toEqual([]);
  });
});

describe("A search by time finds deliveries that were stored", () => {
  const orders: readonly [string, number[]][] = [
    ["while the clock was ahead", [0, 1, 70, 71, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["long after they were received", [100, 101, 102, 103, 104, 105, 0, 1, 2, 3]],
    ["with times that fall several times", [200, 100, 101, 102, 103, 0, 1, 2, 3, 150, 151, 152]],
  ];
  /** Adds deliveries that were received at some minutes, and compares searches from and until each minute with the times. */
  async function expectFound(minutes: number[], inboxOf: (index: number) => Inbox): Promise<void> {
    const timeOf = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    for (const [index, minute] of minutes.entries()) {
      const id = String(minute).padStart(3, "0");
      await inboxOf(index).accept({ id, endpoint: "retrain", body: "{}", receivedAt: timeOf(minute) });
    }
    for (const minute of minutes) {
      const later = await ids(inboxOf(0), { receivedFrom: timeOf(minute) });
      const earlier = await ids(inboxOf(0), { receivedUntil: timeOf(minute) });
      expect(later.map(Number).sort()).toEqual(minutes.filter((one) => one >= minute).sort());
      expect(earlier.map(Number).sort()).toEqual(minutes.filter((one) => one < minute).sort());
    }
  }

  test.each(orders)("%s", async (_when, minutes) => {
    const { inbox } = openInbox();
    await expectFound(minutes, () => inbox);
  });

  test.each(orders)("%s, by two processes", async (_when, minutes) => {
    const { inbox, file } = openInbox();
    const other = openInbox({ file }).inbox;
    await expectFound(minutes, (index) => (index === 2 || index === 3 ? other : inbox));
  });

  test("in order, without further statements", async () => {
    const { inbox } = openInbox();
    const [add, notice] = [
      vi.spyOn(DeliveryTable.prototype, "add"),
      vi.spyOn(DeliveryReader.prototype, "disorderMs", "get"),
    ];
    for (let minute = 0; minute < 3; minute += 1) {
      await inbox.accept({ id: `d${minute}`, endpoint: "retrain", body: "{}", receivedAt: new Date(60_000 * minute) });
    }
    expect(add).toHaveBeenCalledTimes(3);
    expect(notice).toHaveBeenCalledOnce();
  });
});

test("The search index of an older release is deleted", async () => {
  const { inbox, file } = openInbox();
  await inbox.close(0);
  const files = ["", "-wal", "-shm"].map((suffix) => `${file}-search${suffix}`);
  for (const path of files) writeFileSync(path, "");
  openInbox({ file });
  expect(files.filter((path) => existsSync(path))).toEqual([]);
});

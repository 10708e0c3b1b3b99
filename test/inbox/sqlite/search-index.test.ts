import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Inbox, ListOptions } from "../../../src/inbox/inbox.ts";
import { searchIndexFile } from "../../../src/inbox/sqlite/search-index.ts";
import { SearchIndexer } from "../../../src/inbox/sqlite/search-indexer.ts";
import { waitFor } from "../../support/wait-for.ts";
import { eventBody } from "../search-contract.ts";
import { failed, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

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
  database.close();
}

function openIndexer(file: string): SearchIndexer {
  const database = new DatabaseSync(file);
  const indexer = new SearchIndexer(database, searchIndexFile(file));
  onTestFinished(() => {
    indexer[Symbol.dispose]();
    database.close();
  });
  return indexer;
}

function indexAll(indexer: SearchIndexer): void {
  while (!indexer.step(1_000).isDone);
}

async function ids(inbox: Inbox, options: ListOptions): Promise<string[]> {
  return (await inbox.list(options)).deliveries.map(({ id }) => id);
}

const rare: ListOptions = { repository: "model:acme/rare" };

describe("The search index", () => {
  test("finds the deliveries among many others, page by page", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000);
    indexAll(openIndexer(file));
    const first = await inbox.list({ ...rare, limit: 7 });
    expect(first.deliveries.map(({ id }) => id)).toEqual([11, 10, 9, 8, 7, 6, 5].map((n) => `d${n * 1_000}`));
    expect(first).not.toHaveProperty("unindexed");
    expect(first).not.toHaveProperty("searchedNewest");
    expect(await ids(inbox, { ...rare, limit: 7, cursor: String(first.next) })).toEqual(
      [4, 3, 2, 1, 0].map((n) => `d${n * 1_000}`),
    );
    expect(await ids(inbox, { ...rare, receivedUntil: new Date(3_000) })).toEqual(["d2000", "d1000", "d0"]);
    expect(await ids(inbox, { search: "d117" })).toHaveLength(50);
    expect(await ids(inbox, { search: "d11700" })).toEqual(["d11700"]);
  });

  test("limits the work of a request, and continues on the next page", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000);
    indexAll(openIndexer(file));
    const options: ListOptions = { search: "acme", receivedUntil: new Date(2) };
    const first = await inbox.list(options);
    expect(first.deliveries).toEqual([]);
    const second = await inbox.list({ ...options, cursor: String(first.next) });
    expect(second.deliveries).toEqual([]);
    const third = await inbox.list({ ...options, cursor: String(second.next) });
    expect(third.deliveries.map(({ id }) => id)).toEqual(["d1", "d0"]);
    expect(third).not.toHaveProperty("next");
  });

  test("is not needed for times", async () => {
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

  test("has several parts, which are removed when they are empty", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 2_500);
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    database.exec(`
      UPDATE sqlite_sequence SET seq = 199_500 WHERE name = 'deliveries';
      INSERT INTO deliveries (endpoint, id, status, body, received_at, scheduled_at)
        SELECT endpoint, 'new-' || id, status, body, received_at, scheduled_at FROM deliveries;
    `);
    const indexer = openIndexer(file);
    indexAll(indexer);
    const expected = ["new-d2000", "new-d1000", "new-d0", "d2000", "d1000", "d0"];
    expect(await inbox.list(rare)).toEqual({ deliveries: expected.map((id) => expect.objectContaining({ id })) });
    const first = await inbox.list({ search: "acme rare", limit: 4 });
    expect(await ids(inbox, { search: "acme rare", cursor: String(first.next) })).toEqual(["d1000", "d0"]);
    database.exec("DELETE FROM deliveries WHERE sequence < 200_000");
    while (!indexer.sweep(200).isDone);
    expect(await ids(inbox, rare)).toEqual(["new-d2000", "new-d1000"]);
    const index = new DatabaseSync(searchIndexFile(file));
    const parts = index.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'").all();
    index.close();
    expect(parts).toEqual([{ name: "search_2" }]);
  });

  test("does not need to contain the newest deliveries, and the list reports how many are missing", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 3_000);
    const indexer = openIndexer(file);
    indexAll(indexer);
    await inbox.accept(incoming("new", { body: eventBody({ repository: "model:acme/rare" }) }));
    expect(await inbox.list({ ...rare, limit: 2 })).toMatchObject({
      deliveries: [{ id: "new" }, { id: "d2000" }],
      unindexed: 1,
    });
    indexAll(indexer);
    const page = await inbox.list(rare);
    expect(page.deliveries.map(({ id }) => id)).toEqual(["new", "d2000", "d1000", "d0"]);
    expect(page).not.toHaveProperty("unindexed");
  });

  test("is described without a search", async () => {
    const { inbox, file } = openInbox();
    expect(await inbox.describe()).toEqual({});
    addMany(file, 3_000);
    expect(await inbox.describe()).toEqual({ searchedNewest: 5_000 });
    const indexer = openIndexer(file);
    indexer.step(1_000);
    expect(await inbox.describe()).toEqual({ unindexed: 2_000 });
    indexAll(indexer);
    expect(await inbox.describe()).toEqual({});
  });

  test("reads only the newest 2,000 of the missing deliveries directly", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 6_500);
    openIndexer(file).step(1_000);
    expect(await inbox.list(rare)).toMatchObject({
      deliveries: [{ id: "d6000" }, { id: "d5000" }, { id: "d0" }],
      unindexed: 5_500,
    });
  });

  test("contains the errors of later attempts, also before they are indexed", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 3_000);
    let works = false;
    work(inbox, () => (works ? succeeded : failed({ message: "The GPU is gone.", retryable: false })));
    const indexer = openIndexer(file);
    indexAll(indexer);
    await inbox.replay({ id: "d7", endpoint: "retrain" });
    await waitForStatus(inbox, "d7", "dead");
    expect(await inbox.list({ search: "gpu" })).toMatchObject({ deliveries: [{ id: "d7" }] });
    indexAll(indexer);
    const page = await inbox.list({ search: "gpu" });
    expect(page).toMatchObject({ deliveries: [{ id: "d7" }] });
    expect(page).not.toHaveProperty("unindexed");
    works = true;
  });

  test("does not list deleted deliveries, and removes them in steps", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 3_000);
    const indexer = openIndexer(file);
    indexAll(indexer);
    const database = new DatabaseSync(file);
    database.exec("DELETE FROM deliveries WHERE sequence <= 1001");
    expect(await ids(inbox, rare)).toEqual(["d2000"]);
    while (!indexer.sweep(200).isDone);
    database.close();
    const index = new DatabaseSync(searchIndexFile(file));
    expect(index.prepare("SELECT count(*) AS count FROM search_0").get()).toEqual({ count: 1_999 });
    index.close();
    expect(await ids(inbox, rare)).toEqual(["d2000"]);
  });

  test("is built again if it belongs to another inbox", async () => {
    const other = openInbox();
    addMany(other.file, 3_000);
    indexAll(openIndexer(other.file));
    const { inbox, file } = openInbox();
    addMany(file, 5_000);
    const database = new DatabaseSync(searchIndexFile(other.file));
    database.prepare("VACUUM INTO ?").run(searchIndexFile(file));
    database.close();
    expect(await inbox.list(rare)).toMatchObject({ searchedNewest: 5_000 });
    indexAll(openIndexer(file));
    expect(await ids(inbox, rare)).toEqual([4, 3, 2, 1, 0].map((n) => `d${n * 1_000}`));
  });

  test.each(["not a database at all", ""])("is built again if its file is damaged: %j", async (content) => {
    const { inbox, file } = openInbox();
    addMany(file, 3_000);
    writeFileSync(searchIndexFile(file), content);
    expect(await inbox.list(rare)).toMatchObject({ deliveries: [{}, {}, {}], searchedNewest: 5_000 });
    indexAll(openIndexer(file));
    expect(await inbox.list(rare)).toEqual({ deliveries: [expect.anything(), expect.anything(), expect.anything()] });
  });

  test("is built in the background and after a search, with a file that other users cannot read", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 12_000);
    work(inbox, () => succeeded);
    expect(await inbox.list(rare)).toMatchObject({ searchedNewest: 5_000 });
    await waitFor(async () => {
      const page = await inbox.list(rare);
      expect(page.deliveries).toHaveLength(12);
      expect(page).not.toHaveProperty("unindexed");
      expect(page).not.toHaveProperty("searchedNewest");
    });
    expect(statSync(searchIndexFile(file)).mode & 0o777).toBe(0o600);
    await inbox.close(0);
    expect(existsSync(join(dirname(file), "inbox.db-search-shm"))).toBe(false);
  });

  test("is not used without its file", async () => {
    const { inbox, file } = openInbox();
    addMany(file, 7_500);
    const page = await inbox.list({ ...rare, limit: 3 });
    expect(page).toMatchObject({
      deliveries: [{ id: "d7000" }, { id: "d6000" }, { id: "d5000" }],
      searchedNewest: 5_000,
    });
    expect(await inbox.list({ ...rare, cursor: String(page.next) })).toMatchObject({
      deliveries: [{ id: "d4000" }, { id: "d3000" }],
      searchedNewest: 5_000,
    });
    indexAll(openIndexer(file));
    rmSync(searchIndexFile(file));
    expect(await inbox.list(rare)).toMatchObject({ deliveries: [{}, {}, {}, {}, {}], searchedNewest: 5_000 });
  });

  test("is not needed for a few deliveries", async () => {
    const { inbox } = openInbox({ file: ":memory:" });
    await inbox.accept(incoming("a", { body: eventBody({}) }));
    expect(await inbox.list({ repository: "acme/data" })).toEqual({
      deliveries: [expect.objectContaining({ id: "a" })],
    });
  });
});

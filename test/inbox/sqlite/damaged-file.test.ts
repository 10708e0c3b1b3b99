import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isDamage } from "../../../src/core/files.ts";
import type { ClaimedDelivery } from "../../../src/inbox/inbox.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { GroupCommit } from "../../../src/inbox/sqlite/group-commit.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { inboxFile } from "../inbox-file.ts";
import { damage, makeLargeFile, pagesWith, waiting } from "./large-file.ts";
import { fastClock, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

const hourMs = 3_600_000;

describe("A damaged page of a large file", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hub-webhooks-inbox-"));
    makeLargeFile(join(folder, "inbox.db"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Copies the large file. A crashed process was running a delivery of "retrain" in it. */
  function largeFile(): string {
    const file = inboxFile();
    copyFileSync(join(folder, "inbox.db"), file);
    expect(statSync(file).size).toBeGreaterThan(64 * 2 ** 20);
    const database = new DatabaseSync(file);
    database.exec(`
      INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, process_id, attempts, started_at)
        VALUES ('retrain', 'crashed', 'x', 1, 1, 'running', 'gone', 1, 1);
      ${countAllSql}
      PRAGMA wal_checkpoint(TRUNCATE);
    `);
    database.close();
    return file;
  }

  const places = [
    { what: "of the body of a delivery", name: "deliveries", kind: "overflow", text: "body of bad-7,", lost: 1 },
    { what: "of the table", name: "deliveries", kind: "leaf", text: "body of bad-1", lost: 100 },
    { what: "of the index of what waits", name: "deliveries_queued", kind: "leaf", text: "bad", lost: waiting },
  ] as const;

  test.each(places)("does not stop other endpoints, retries and recoveries: $what", async ({ lost, ...place }) => {
    const file = largeFile();
    const pages = pagesWith(file, place);
    expect(pages.length).toBeGreaterThan(0);
    // Damage the first page of queued deliveries, because each poll reads it. In other trees, damage a page in the
    // middle, because other endpoints do not write next to it.
    const at = place.name === "deliveries_queued" ? 0 : Math.floor(pages.length / 2);
    damage(file, pages.slice(at, at + 1));
    const clock = fastClock();
    const { inbox, logger } = openInbox({ file, leaseMs: hourMs, monotonicNow: clock.now });
    const bad = work(inbox, () => succeeded, { endpoint: "bad", concurrency: 20 });
    work(inbox, ({ id, attempt }) => (id === "fails" && attempt === 1 ? failed() : succeeded));
    await inbox.accept(incoming("good"));
    await inbox.accept(incoming("fails"));
    await waitForStatus(inbox, "good", "succeeded");
    expect((await waitForStatus(inbox, "fails", "succeeded"))?.attempts).toHaveLength(2);
    // Deliveries after the damaged page also run.
    await waitFor(() => expect(bad.length).toBeGreaterThanOrEqual(waiting - lost));
    await waitFor(async () =>
      expect(await inbox.problems()).toMatchObject([
        { code: "INBOX_DAMAGED", severity: "degraded", message: expect.stringContaining(".recover") },
      ]),
    );
    const complaints = logger.lines.filter(({ level }) => level === "error");
    expect(complaints).toMatchObject([{ code: "INBOX_DAMAGED", endpoint: "bad" }]);
    clock.stepMs = hourMs / 4;
    expect((await waitForStatus(inbox, "crashed", "succeeded"))?.attempts).toMatchObject([
      { outcome: "abandoned" },
      { outcome: "succeeded" },
    ]);
  });

  test.each([
    ["first", 0],
    ["second", 1],
  ])("of the index of IDs, the %s one, does not hide deliveries, and is reported", async (_which, at) => {
    const file = largeFile();
    const pages = pagesWith(file, { name: "deliveries_ids", kind: "leaf", text: "bad" });
    expect(pages.length).toBeGreaterThan(2);
    const database = new DatabaseSync(file);
    const ids = database.prepare("SELECT id FROM deliveries WHERE endpoint = 'bad'").all();
    database.close();
    damage(file, pages.slice(at, at + 1));
    const { inbox } = openInbox({ file, leaseMs: hourMs });
    const accept = async (id: string, endpoint = "bad") =>
      (await inbox.accept({ ...incoming(id), endpoint })).duplicate;
    expect(await accept("good", "retrain")).toBe(false);
    expect(await accept("good", "retrain")).toBe(true);
    for (const { id } of ids.slice(0, 300)) expect(await accept(String(id))).toBe(true);
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
    work(inbox, () => succeeded);
    await waitForStatus(inbox, "good", "succeeded");
  });

  test("of the counter of sequences does not stop deliveries that are stored", async () => {
    const file = largeFile();
    const database = new DatabaseSync(file);
    const root = Number(
      database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'").get()?.rootpage,
    );
    database.close();
    damage(file, [root]);
    const { inbox } = openInbox({ file, leaseMs: hourMs });
    const bad = work(inbox, () => succeeded, { endpoint: "bad", concurrency: 20 });
    await waitFor(() => expect(bad.length).toBeGreaterThan(100));
  });

  test("stops deliveries beside it only until others are added and their wait is over", () => {
    const file = largeFile();
    const [, second] = pagesWith(file, { name: "deliveries_queued", kind: "leaf", text: "bad" });
    damage(file, [Number(second)]);
    const database = openInboxDatabase(file);
    onTestFinished(() => database.close());
    const table = new DeliveryTable(database);
    let now = 10_000;
    const inTransaction = <Result>(operation: () => Result): Result | undefined => {
      database.exec("BEGIN IMMEDIATE");
      try {
        return operation();
      } catch (error) {
        if (!isDamage(error)) throw error;
        database.exec("ROLLBACK");
        return undefined;
      } finally {
        if (database.isTransaction) database.exec("COMMIT");
      }
    };
    const claim = (endpoint: string) => inTransaction(() => table.claim(endpoint, 1, { processId: "here", now }));
    // The endpoint is before "bad" in the index, so that its deliveries are on the first page too.
    const add = (id: string) =>
      inTransaction(() => table.add(incoming(id, { endpoint: "apart" }), { now, maxQueued: 10 }));
    // Removes deliveries from the first page until SQLite would move the rest to the second page.
    const claimAllOfFirstPage = () => {
      let claimed = 0;
      while (claim("bad") !== undefined) claimed += 1;
      return claimed;
    };
    expect(claimAllOfFirstPage()).toBeGreaterThan(50);
    add("first");
    claimAllOfFirstPage();
    expect(claim("apart")).toBeUndefined();
    now += 60_000;
    expect(claim("apart")).toBeUndefined();
    for (const id of ["second", "third"]) add(id);
    // After a second failure, it waits twice as long.
    now += 60_000;
    expect(claim("apart")).toMatchObject([{ id: "second" }]);
    now += 60_000;
    add("fourth");
    expect(claim("apart")).toMatchObject([{ id: "first" }]);
  });

  test("does not make a delivery count as damaged that is claimed in the same transaction", async () => {
    const file = largeFile();
    damage(file, pagesWith(file, { name: "deliveries_queued", kind: "leaf", text: "bad" }).slice(0, 1));
    const database = openInboxDatabase(file);
    const table = new DeliveryTable(database);
    table.add(incoming("good"), { now: 1, maxQueued: 10 });
    const commit = new GroupCommit({
      get isTransaction() {
        return database.isTransaction;
      },
      begin: () => database.exec("BEGIN IMMEDIATE"),
      commit: () => database.exec("COMMIT"),
      rollback: () => database.isTransaction && database.exec("ROLLBACK"),
    });
    const claim = (endpoint: string) =>
      commit.write(() => table.claim(endpoint, 5, { processId: "here", now: Date.now() }));
    // The first claim of "bad" makes the table claim its deliveries one by one.
    await expect(claim("bad")).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
    const [bad, retrain] = await Promise.allSettled([claim("bad"), claim("retrain")]);
    expect([bad, retrain]).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: [{ id: "good" }] }]);
    expect(table.damageCount).toBe(1);
    database.close();
  });

  test("does not abort handlers of deliveries on it, only of those that another process has taken over", async () => {
    const file = largeFile();
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec(`
      INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at)
        VALUES ('bad', 'lost', 'x', 1, 1, 'queued', 0);
      ${countAllSql}
    `);
    const { inbox } = openInbox({ file });
    const signals = new Map<string, AbortSignal>();
    const run = ({ id }: ClaimedDelivery, signal: AbortSignal) => {
      signals.set(id, signal);
      return new Promise<Outcome>((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
    };
    work(inbox, run, { endpoint: "bad", concurrency: 2 });
    await waitFor(() => expect([...signals.keys()]).toEqual(["lost", "bad-1"]));
    const isCopied = () => database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
    await waitFor(() => expect(isCopied()).toBe(true));
    damage(file, pagesWith(file, { name: "deliveries", kind: "leaf", text: "body of bad-1," }));
    // Changes the file, so that the inbox reads its pages again.
    database.exec("UPDATE deliveries SET process_id = 'other' WHERE sequence = (SELECT seq FROM sqlite_sequence)");
    database.close();
    await waitFor(() => expect(signals.get("lost")?.reason).toMatchObject({ code: "LEASE_LOST" }));
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
    expect(signals.get("bad-1")?.aborted).toBe(false);
  });
});

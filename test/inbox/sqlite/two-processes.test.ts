import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { createRetryPolicy } from "../../../src/inbox/retry-policy.ts";
import { GroupCommit } from "../../../src/inbox/sqlite/group-commit.ts";
import { waitFor } from "../../support/wait-for.ts";
import { inboxFile } from "../inbox-file.ts";
import { fastClock } from "./fast-clock.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";
import { transactionsOf } from "./transactions.ts";

const hourMs = 3_600_000;

function processesIn(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const processes = database.prepare("SELECT process_id FROM processes").all();
  database.close();
  return processes;
}

describe("Two inboxes on one file", () => {
  test("work on each delivery once, whichever accepted it", async () => {
    const first = openInbox();
    const second = openInbox({ file: first.file });
    const slow = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return succeeded;
    };
    const runs = [work(first.inbox, slow), work(second.inbox, slow)];
    const ids = Array.from({ length: 200 }, (_, index) => `d${index}`);
    await Promise.all(ids.map((id, index) => (index % 2 ? first : second).inbox.accept(incoming(id))));
    await vi.waitFor(async () => expect((await first.inbox.counts()).retrain).toMatchObject({ succeeded: 200 }), {
      timeout: 10_000,
    });
    expect(
      runs
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.sort());
  });

  test("share what is known: a delivery that one has is a duplicate to the other", async () => {
    const first = openInbox();
    const second = openInbox({ file: first.file });
    await first.inbox.accept(incoming("a"));
    expect(await second.inbox.accept(incoming("a"))).toEqual({ duplicate: true });
  });

  test("take over what runs in one that shows no sign of life for a lease, as one attempt more", async () => {
    const first = openInbox({ leaseMs: hourMs });
    const runs = work(first.inbox, () => new Promise(() => {}));
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    await waitFor(() => expect(processesIn(first.file)).toHaveLength(1));
    const [gone] = processesIn(first.file);
    const clock = fastClock();
    const second = openInbox({ file: first.file, leaseMs: hourMs, monotonicNow: clock.now });
    const taken = work(second.inbox, () => succeeded);
    await waitFor(() => expect(clock.reads).toBeGreaterThan(5));
    expect(taken).toEqual([]);
    clock.stepMs = hourMs / 4;
    const stored = await waitForStatus(second.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([
      { number: 1, outcome: "abandoned" },
      { number: 2, outcome: "succeeded" },
    ]);
    expect(second.logger.lines).toMatchObject([{ level: "warn", code: "ABANDONED", deliveryId: "a", attempt: 1 }]);
    await waitFor(() => expect(processesIn(first.file)).not.toContainEqual(gone));
    await first.inbox.close(0);
    expect(await waitForStatus(second.inbox, "a", "succeeded")).toEqual(stored);
    await second.inbox.close(0);
    expect(processesIn(first.file)).toEqual([]);
  });

  test("leave no row of theirs behind when they are closed", async () => {
    const { inbox, file } = openInbox();
    const release = Promise.withResolvers<void>();
    work(inbox, async () => {
      await release.promise;
      return succeeded;
    });
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(processesIn(file)).toHaveLength(1));
    release.resolve();
    await waitForStatus(inbox, "a", "succeeded");
    await inbox.close(0);
    expect(processesIn(file)).toEqual([]);
  });

  test("take nothing over for a lease after nobody could write, since nobody could show that he is alive", async () => {
    const first = openInbox({ leaseMs: hourMs });
    const runs = work(first.inbox, () => new Promise(() => {}));
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    await waitFor(() => expect(processesIn(first.file)).toHaveLength(1));
    const database = new DatabaseSync(first.file, { timeout: 5_000 });
    database.exec("CREATE TRIGGER refuse BEFORE UPDATE ON processes BEGIN SELECT RAISE(ABORT, 'Not now.'); END");
    const clock = fastClock(hourMs / 4);
    const second = openInbox({ file: first.file, leaseMs: hourMs, monotonicNow: clock.now });
    const taken = work(second.inbox, () => succeeded);
    await waitFor(() => expect(second.logger.lines).toMatchObject([{ level: "error" }]));
    clock.stepMs = 0;
    // A poll that is under way is over by then.
    clock.reads = 0;
    await waitFor(() => expect(clock.reads).toBeGreaterThan(3));
    database.exec("DROP TRIGGER refuse");
    database.close();
    clock.reads = 0;
    await waitFor(() => expect(clock.reads).toBeGreaterThan(5));
    expect(taken).toEqual([]);
    clock.stepMs = hourMs / 4;
    await waitForStatus(second.inbox, "a", "succeeded");
    await first.inbox.close(0);
  });

  test("let die what has used up its attempts by crashing the process that runs it", async () => {
    const policy = createRetryPolicy({ attempts: 1 });
    const first = openInbox({ leaseMs: hourMs });
    const runs = work(first.inbox, () => new Promise(() => {}), { policy });
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const second = openInbox({ file: first.file, leaseMs: hourMs, monotonicNow: fastClock(hourMs / 4).now });
    const taken = work(second.inbox, () => succeeded, { policy });
    expect((await waitForStatus(second.inbox, "a", "dead"))?.attempts).toMatchObject([{ outcome: "abandoned" }]);
    expect(taken).toEqual([]);
    const logged = { level: "error", code: "ABANDONED", deliveryId: "a", msg: expect.stringContaining("is dead") };
    await waitFor(() => expect(second.logger.lines).toMatchObject([logged]));
    await first.inbox.close(0);
  });

  test("leave what runs for long to the one that runs it, which shows that it is alive", async () => {
    // A beat every third of it; the other two thirds are for a machine that is busy.
    const first = openInbox({ leaseMs: 2_400 });
    const release = Promise.withResolvers<void>();
    const runs = work(first.inbox, async () => {
      await release.promise;
      return succeeded;
    });
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const second = openInbox({ file: first.file, leaseMs: 2_400 });
    const taken = work(second.inbox, () => succeeded);
    const database = new DatabaseSync(first.file, { readOnly: true });
    const heartbeats = () => Number(database.prepare("SELECT heartbeats FROM processes").get()?.heartbeats ?? 0);
    await waitFor(() => expect(heartbeats()).toBeGreaterThan(4));
    database.close();
    release.resolve();
    expect((await waitForStatus(first.inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
    expect(taken).toEqual([]);
  });

  test("leave a running delivery alone when the wall clock of one is set forward", async () => {
    const first = openInbox();
    const release = Promise.withResolvers<void>();
    const runs = work(first.inbox, async () => {
      await release.promise;
      return succeeded;
    });
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const clock = { by: 0, reads: 0 };
    const now = () => {
      clock.reads += 1;
      return Date.now() + clock.by;
    };
    const second = openInbox({ file: first.file, now });
    const taken = work(second.inbox, () => succeeded);
    clock.by = 24 * hourMs;
    clock.reads = 0;
    // Some polls later.
    await waitFor(() => expect(clock.reads).toBeGreaterThan(10));
    release.resolve();
    expect((await waitForStatus(first.inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
    expect(taken).toEqual([]);
  });

  test("take over in time, although the wall clock of one is set back meanwhile", async () => {
    const first = openInbox({ leaseMs: hourMs });
    const runs = work(first.inbox, () => new Promise(() => {}));
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const second = openInbox({
      file: first.file,
      leaseMs: hourMs,
      now: () => Date.now() - 24 * hourMs,
      monotonicNow: fastClock(hourMs / 4).now,
    });
    work(second.inbox, () => succeeded);
    await waitForStatus(second.inbox, "a", "succeeded");
    await first.inbox.close(0);
  });
});

describe("A lock that somebody else holds", () => {
  test("is waited for, without blocking the process", async () => {
    const { inbox, file } = openInbox();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const accepted = inbox.accept(incoming("a"));
    // The write is tried in between, and the process goes on.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    other.exec("COMMIT");
    other.close();
    expect(await accepted).toEqual({ duplicate: false });
  });

  test("keeps nobody from opening the inbox", async () => {
    const { file } = openInbox();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const second = openInbox({ file });
    other.exec("COMMIT");
    other.close();
    expect(await second.inbox.accept(incoming("a"))).toEqual({ duplicate: false });
  });

  test("ends in a refusal after the deadline, and the next write is fine once it is gone", async () => {
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
});

describe("Writes that come together", () => {
  test("are committed together, and one that fails fails alone", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE t (a INTEGER PRIMARY KEY)");
    const commit = new GroupCommit(transactionsOf(database));
    const insert = database.prepare("INSERT INTO t VALUES (?)");
    const begun: boolean[] = [];
    const write = (value: number) =>
      commit.write(() => {
        begun.push(database.isTransaction);
        return insert.run(value).changes;
      });
    const results = await Promise.allSettled([write(1), write(1), write(2)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(begun).toEqual([true, true, true]);
    expect(database.prepare("SELECT a FROM t").all()).toEqual([{ a: 1 }, { a: 2 }]);
    database.close();
  });

  test("are all refused when there is no room on the disk, and none of them is there", async () => {
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
});

import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createBackgroundTasks, createDamageTracker } from "../../../src/inbox/sqlite/context.ts";
import { DiskSpace } from "../../../src/inbox/sqlite/file-system.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { fastClock, hurry, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Prevents claims of deliveries of one endpoint, or of all endpoints, until the returned function is called. */
function refuseClaims(file: string, endpoint = "%"): () => void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(`
    CREATE TRIGGER refuse BEFORE UPDATE OF status ON deliveries
      WHEN new.status = 'running' AND new.endpoint LIKE '${endpoint}'
      BEGIN SELECT RAISE(ABORT, 'Not this one.'); END
  `);
  return () => {
    database.exec("DROP TRIGGER refuse");
    database.close();
  };
}

test("A healthy inbox has no problems, without a test write", async () => {
  const { inbox, file } = openInbox({ pollMs: 3_600_000 });
  await inbox.accept(incoming("a"));
  const database = new DatabaseSync(file, { readOnly: true });
  const version = () => database.prepare("PRAGMA data_version").get();
  const before = version();
  expect(await inbox.problems()).toEqual([]);
  expect(version()).toEqual(before);
  database.close();
});

test("An inbox is unavailable while it cannot be written", { tags: "slow" }, async () => {
  const { inbox, file } = openInbox({ pollMs: 3_600_000 });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const slowDown = hurry();
  await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
  slowDown();
  // The first result can be slow on a busy machine.
  await waitFor(async () => {
    const startedAt = performance.now();
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
  other.exec("COMMIT");
  other.close();
  await waitFor(async () => expect(await inbox.problems()).toEqual([]));
});

test("An inbox is unavailable if its free space cannot be read", async () => {
  const { inbox } = openInbox();
  const space = vi.spyOn(DiskSpace.prototype, "hasRoomFor").mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  onTestFinished(() => space.mockRestore());
  expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
  space.mockRestore();
  expect(await inbox.problems()).toEqual([]);
});

test("The storage is checked once after a failed write, without leaving a timer", async () => {
  const { inbox, file } = openInbox({ pollMs: 3_600_000 });
  const other = new DatabaseSync(file, { timeout: 5_000 });
  other.exec("CREATE TRIGGER refuse BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ROLLBACK, 'Not now.'); END");
  await expect(inbox.accept(incoming("a"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
  const version = () => other.prepare("PRAGMA data_version").get();
  const before = version();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  expect(await inbox.problems()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  const after = version();
  expect(after).not.toEqual(before);
  expect(await inbox.problems()).toEqual([]);
  expect(version()).toEqual(after);
  other.close();
});

test("A worker that cannot claim deliveries for ten seconds is stalled, which is logged once", async () => {
  const clock = fastClock(1);
  const { inbox, file, logger } = openInbox({ monotonicNow: clock.now });
  const allow = refuseClaims(file, "late");
  work(inbox, () => succeeded);
  work(inbox, () => succeeded, { endpoint: "late" });
  await inbox.accept(incoming("b", { endpoint: "late" }));
  await waitFor(() => expect(logger.lines).toMatchObject([{ level: "error", endpoint: "late" }]));
  expect(await inbox.problems()).toEqual([]);
  clock.stepMs = 1_000;
  await waitFor(async () =>
    expect(await inbox.problems()).toMatchObject([
      { code: "INBOX_STALLED", severity: "degraded", message: expect.stringContaining('"late"') },
    ]),
  );
  await inbox.accept(incoming("a"));
  await waitForStatus(inbox, "a", "succeeded");
  allow();
  await waitFor(async () => expect(await inbox.problems()).toEqual([]));
  expect(logger.lines).toHaveLength(1);
});

test("An inbox is unavailable if no worker can claim deliveries, and recovers even if no delivery is left", async () => {
  const { inbox, file } = openInbox({ monotonicNow: fastClock(1_000).now });
  const allow = refuseClaims(file);
  await inbox.accept(incoming("a"));
  work(inbox, () => succeeded);
  await waitFor(async () =>
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_STALLED", severity: "unavailable" }]),
  );
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec("DELETE FROM deliveries");
  database.close();
  allow();
  await waitFor(async () => expect(await inbox.problems()).toEqual([]));
});

function openTasks() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = createMemoryLogger();
  const tasks = createBackgroundTasks({ log, monotonicNow: () => performance.now() });
  onTestFinished(() => tasks.close());
  return { log, tasks };
}

test("A background task that fails repeatedly is logged once a minute", async () => {
  const { log, tasks } = openTasks();
  const fail = () => Promise.reject(new Error("disk I/O error"));
  tasks.run(fail);
  await vi.advanceTimersByTimeAsync(59_999);
  tasks.run(fail);
  await vi.advanceTimersByTimeAsync(0);
  expect(log.lines).toMatchObject([{ level: "error", err: { message: "disk I/O error" } }]);
  await vi.advanceTimersByTimeAsync(1);
  tasks.run(fail);
  await vi.advanceTimersByTimeAsync(0);
  expect(log.lines).toHaveLength(2);
});

test("A task that fails because the inbox has been closed is not logged", async () => {
  const { log, tasks } = openTasks();
  const file = Promise.withResolvers<void>();
  tasks.run(() => file.promise);
  tasks.close();
  file.reject(new Error("database is not open"));
  await vi.advanceTimersByTimeAsync(0);
  expect(log.lines).toEqual([]);
});

test("A task that has run leaves no timer to cancel", async () => {
  const { tasks } = openTasks();
  const run = vi.fn(async () => {});
  tasks.runAfter(1_000, run);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(run).toHaveBeenCalledTimes(1);
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  onTestFinished(() => cleared.mockRestore());
  tasks.close();
  expect(cleared).not.toHaveBeenCalled();
});

const damage = Object.assign(new Error("database disk image is malformed"), { errcode: 11 });

test("Damage is logged once for each endpoint, and again every ten minutes", () => {
  const log = createMemoryLogger();
  let now = 0;
  const tracker = createDamageTracker({ file: "inbox.db", log, monotonicNow: () => now });
  const logged = () => log.lines.map(({ code, endpoint }) => [code, endpoint]);
  for (const endpoint of ["retrain", "retrain", "greet"]) expect(tracker.recordIfDamage(damage, endpoint)).toBe(true);
  now = 599_999;
  tracker.recordIfDamage(damage, "retrain");
  const both = [
    ["INBOX_DAMAGED", "retrain"],
    ["INBOX_DAMAGED", "greet"],
  ];
  expect(logged()).toEqual(both);
  now = 600_000;
  tracker.recordIfDamage(damage, "retrain");
  expect(logged()).toEqual([...both, ["INBOX_DAMAGED", "retrain"]]);
});

import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { createRetryPolicy } from "../../../src/inbox/retry.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { GroupCommit } from "../../../src/inbox/sqlite/group-commit.ts";
import { InboxFile } from "../../../src/inbox/sqlite/inbox-file.ts";
import { Leases } from "../../../src/inbox/sqlite/leases.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import type { LogLine } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

afterEach(() => void vi.restoreAllMocks());

describe("An accepted delivery", () => {
  test("needs space for the bytes of its body, not for its characters", async () => {
    const { inbox } = openInbox();
    vi.spyOn(InboxFile.prototype, "hasRoomFor").mockImplementation((bytes) => bytes <= 60);
    await expect(inbox.accept(incoming("wide", { body: "ü".repeat(60) }))).rejects.toMatchObject({
      code: "INBOX_UNAVAILABLE",
    });
    expect(await inbox.accept(incoming("narrow", { body: "u".repeat(60) }))).toEqual({ duplicate: false });
  });
});

describe("A worker", () => {
  test("claims again after a delivery on a damaged page, without waiting for a poll", async () => {
    const { inbox } = openInbox({ pollMs: 3_600_000 });
    vi.spyOn(DeliveryTable.prototype, "claim").mockImplementationOnce(function (this: DeliveryTable) {
      this.damageCount += 1;
      throw Object.assign(new Error("malformed"), { errcode: 11 });
    });
    await inbox.accept(incoming("a"));
    work(inbox, () => succeeded);
    await waitForStatus(inbox, "a", "succeeded");
  });

  test("claims the next delivery when one ends, without waiting for a poll", async () => {
    const { inbox } = openInbox({ pollMs: 3_600_000 });
    for (const id of ["a", "b", "c"]) await inbox.accept(incoming(id));
    const runs = work(inbox, () => succeeded, { concurrency: 1 });
    await waitForStatus(inbox, "c", "succeeded");
    expect(runs).toHaveLength(3);
  });
});

/**
 * Holds back one of the next writes, or its result, after the first claim of a worker. The first stores a delivery, the second claims
 * it, and the third stores its outcome.
 */
function holdWrite(
  number: number,
  { held = "write" }: { held?: "write" | "result" } = {},
): { reached: Promise<void>; resume: () => void } {
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const write = GroupCommit.prototype.write;
  const writes = vi.spyOn(GroupCommit.prototype, "write");
  for (let before = 1; before < number; before += 1) writes.mockImplementationOnce(write);
  writes.mockImplementationOnce(async function (this: GroupCommit, operation) {
    const writing = held === "result" ? await write.call(this, operation) : undefined;
    reached.resolve();
    await resumed.promise;
    return held === "result" ? writing : write.call(this, operation);
  });
  return { reached: reached.promise, resume: resumed.resolve };
}

/** Claims a delivery and recovers it as if the process had crashed, which makes the delivery a suspect. */
function crashWhileRunning(file: string): void {
  const database = openInboxDatabase(file);
  const table = new DeliveryTable(database);
  const onDamage = (error: unknown) => {
    throw error;
  };
  const now = Date.now();
  table.claim("retrain", 1, { processId: "crashed", now });
  const [row] = table.leases.running("retrain", onDamage).rows;
  if (!row) throw new Error("The delivery is not running.");
  const policy = createRetryPolicy({ attempts: 3, backoff: { first: 1, max: 5 } });
  table.leases.recover(row, { wasAlone: false, policy, now, lastHeartbeatAt: now });
  database.close();
}

describe("An inbox that closes during a slow claim", () => {
  test("aborts the running handler immediately, and runs no handler for the claimed delivery", async () => {
    const { inbox, file } = openInbox({ pollMs: 3_600_000 });
    const running: { signal: AbortSignal; end: (outcome: Outcome) => void }[] = [];
    work(inbox, (_claimed, signal) => new Promise((end) => running.push({ signal, end })));
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(running).toHaveLength(1));
    const releases = vi.spyOn(Leases.prototype, "release");
    const claim = holdWrite(2);
    await inbox.accept(incoming("b"));
    await claim.reached;
    const closed = inbox.close(10_000);
    expect(running[0]?.signal.reason).toMatchObject({ code: "CLOSING" });
    running[0]?.end(failed({ retryable: false }));
    claim.resume();
    expect(await closed).toEqual({ interrupted: 1 });
    expect(running).toHaveLength(1);
    expect(releases).not.toHaveBeenCalled();
    const { inbox: reopened } = openInbox({ file });
    expect((await reopened.list()).deliveries).toMatchObject([
      { id: "b", status: "queued", attempts: [] },
      { id: "a", status: "queued", attempts: [{ outcome: "abandoned", error: { code: "CLOSING" } }] },
    ]);
  });

  test("closes if the claimed delivery cannot be queued again, and logs it", async () => {
    const { inbox, logger } = openInbox({ pollMs: 3_600_000 });
    vi.spyOn(Leases.prototype, "release").mockImplementation(() => {
      throw new Error("disk I/O error");
    });
    const runs = work(inbox, () => succeeded);
    await inbox.write(() => {});
    const claim = holdWrite(2, { held: "result" });
    await inbox.accept(incoming("a"));
    await claim.reached;
    const closed = inbox.close(10_000);
    claim.resume();
    expect(await closed).toEqual({ interrupted: 0 });
    expect(runs).toEqual([]);
    expect(logger.lines).toMatchObject([{ level: "error", deliveryId: "a", msg: expect.stringContaining("requeued") }]);
  });

  test("runs no handler for a claimed delivery that another process has taken over", async () => {
    const { inbox } = openInbox({ pollMs: 3_600_000 });
    const runs = work(inbox, () => succeeded);
    await inbox.write(() => {});
    const write = GroupCommit.prototype.write;
    const writes = vi.spyOn(GroupCommit.prototype, "write").mockImplementationOnce(write);
    writes.mockImplementationOnce(async function (this: GroupCommit, operation) {
      const rows = await write.call(this, operation);
      // In the turn between the claim and the start of the handler.
      void setImmediate().then(() => inbox.abortRuns());
      return rows;
    });
    await inbox.accept(incoming("a"));
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    expect(runs).toEqual([]);
  });

  test("waits for the claim of a suspect, even if another delivery arrives during the claim", async () => {
    const { inbox: before, file } = openInbox({ pollMs: 3_600_000 });
    await before.accept(incoming("suspect"));
    await before.close(0);
    crashWhileRunning(file);
    const claims = vi.spyOn(DeliveryTable.prototype, "claimSuspect");
    const claiming = Promise.withResolvers<void>();
    const claimed = Promise.withResolvers<void>();
    const write = GroupCommit.prototype.write;
    const writes = vi.spyOn(GroupCommit.prototype, "write");
    writes.mockImplementation(async function (this: GroupCommit, operation) {
      const result = await write.call(this, operation);
      const isClaim = result !== undefined && claims.mock.results.some(({ value }) => value === result);
      if (isClaim) {
        claiming.resolve();
        await claimed.promise;
      }
      return result;
    });
    const { inbox } = openInbox({ file });
    const runs = work(inbox, () => succeeded);
    await claiming.promise;
    await inbox.accept(incoming("other"));
    const closed = inbox.close(10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    claimed.resolve();
    await closed;
    expect(runs).toEqual([]);
    const { inbox: reopened } = openInbox({ file });
    expect((await reopened.list()).deliveries).toMatchObject([
      { id: "other", status: "queued", attempts: [] },
      { id: "suspect", status: "queued", attempts: [{ outcome: "abandoned", error: { code: "ABANDONED" } }] },
    ]);
  });

  test("does not interrupt a delivery whose result is being stored when the grace period ends", async () => {
    const { inbox, file } = openInbox({ pollMs: 3_600_000 });
    work(inbox, () => succeeded);
    const recordEnd = vi.spyOn(DeliveryTable.prototype, "recordEnd");
    const end = holdWrite(3);
    await inbox.accept(incoming("a"));
    await end.reached;
    const closed = inbox.close(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    end.resume();
    expect(await closed).toEqual({ interrupted: 0 });
    expect(recordEnd).toHaveBeenCalledOnce();
    const { inbox: reopened } = openInbox({ file });
    expect(await reopened.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "succeeded" });
  });
});

describe("A delivery that is claimed again in the transaction that stores its end", () => {
  test("runs again, exactly once", async () => {
    const clock = { reads: 0 };
    const now = () => {
      clock.reads += 1;
      return Date.now();
    };
    const { inbox, file } = openInbox({ now });
    const release = Promise.withResolvers<void>();
    const runs = work(inbox, async ({ id, attempt }, signal) => {
      if (attempt === 1) await (id === "x" ? release.promise : undefined);
      else await once(signal, "abort");
      return succeeded;
    });
    await inbox.accept(incoming("x"));
    await waitFor(() => expect(runs).toHaveLength(1));
    await inbox.replay({ id: "x", endpoint: "retrain" });
    /** Waits for several polls. */
    const pollMore = async () => {
      clock.reads = 0;
      await waitFor(() => expect(clock.reads).toBeGreaterThan(20));
    };
    // Wait until the poll that the replay triggered is over.
    await pollMore();
    // A poll finds that "y" is due but cannot claim it, while the first run of "x" ends.
    const other = new DatabaseSync(file, { timeout: 5_000 });
    other.exec(`
      INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at)
        VALUES ('retrain', 'y', 'y', 1, 1, 'queued', 1);
      ${countAllSql}
      BEGIN IMMEDIATE;
    `);
    release.resolve();
    await pollMore();
    other.exec("COMMIT");
    other.close();
    await waitFor(() => expect(runs.length).toBeGreaterThanOrEqual(3));
    await pollMore();
    expect(runs.map(({ id, attempt }) => `${id}#${attempt}`).sort()).toEqual(["x#1", "x#2", "y#1"]);
  });
});

test("Deliveries that are stored together count toward the limit of queued deliveries", async () => {
  const { inbox } = openInbox({ maxQueued: 2 });
  const answers = await Promise.allSettled(["a", "b", "c", "a"].map((id) => inbox.accept(incoming(id))));
  expect(answers).toMatchObject([
    { value: { duplicate: false } },
    { value: { duplicate: false } },
    { reason: { code: "INBOX_FULL" } },
    { value: { duplicate: true } },
  ]);
  expect((await inbox.counts()).retrain).toMatchObject({ queued: 2 });
});

test("Deliveries of a transaction that was rolled back are not counted", async () => {
  const { inbox, file } = openInbox();
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(`
    CREATE TRIGGER refuse BEFORE INSERT ON deliveries WHEN new.id = 'b' BEGIN SELECT RAISE(ROLLBACK, 'Not now.'); END
  `);
  const answers = await Promise.allSettled(["a", "b"].map((id) => inbox.accept(incoming(id))));
  const refused = { status: "rejected", reason: { code: "INBOX_UNAVAILABLE" } };
  expect(answers).toMatchObject([refused, refused]);
  database.exec("DROP TRIGGER refuse");
  database.close();
  await inbox.accept(incoming("a"));
  expect((await inbox.counts()).retrain).toMatchObject({ queued: 1 });
});

describe("Retention", () => {
  test("is applied soon after opening, for processes that restart more often than every hour", async () => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const first = openInbox({ now: () => clock.now });
    work(first.inbox, () => succeeded, { retentionMs: 3_600_000 });
    await first.inbox.accept(incoming("done"));
    await waitForStatus(first.inbox, "done", "succeeded");
    await first.inbox.close(0);
    clock.now += 3_600_001;
    const { inbox } = openInbox({ file: first.file, now: () => clock.now, firstPruneMs: 20 });
    work(inbox, () => succeeded, { retentionMs: 3_600_000 });
    await waitFor(async () => expect((await inbox.list()).deliveries).toEqual([]));
  });
});

describe("A clock that is set back by an hour", () => {
  test.each([
    ["soon after the inbox opened", 0],
    ["two hours after the inbox opened", 7_200_000],
  ])("does not delay deliveries, %s", async (_when, openMs) => {
    const clock = { now: Date.UTC(2026, 0, 1, 12) };
    const { inbox } = openInbox({ now: () => clock.now });
    // Longer than several polls.
    await new Promise((resolve) => setTimeout(resolve, 80));
    clock.now += openMs;
    const runs = work(inbox, ({ attempt }) =>
      attempt === 1 ? failed({ retryAt: new Date(clock.now + 60_000) }) : succeeded,
    );
    await inbox.accept(incoming("a"));
    await waitFor(async () => expect((await inbox.get({ id: "a", endpoint: "retrain" }))?.attempts).toHaveLength(1));
    clock.now -= 3_600_000;
    await waitFor(async () => {
      const found = await inbox.get({ id: "a", endpoint: "retrain" });
      expect(found?.dueAt?.getTime()).toBe(clock.now + 60_000);
    });
    expect(runs).toHaveLength(1);
    clock.now += 60_000;
    await waitForStatus(inbox, "a", "succeeded");
  });

  test("while no inbox was open does not delay deliveries, although the first correction of their due times fails", async () => {
    const clock = { now: Date.UTC(2026, 0, 1, 12) };
    const first = openInbox({ now: () => clock.now });
    await first.inbox.accept(incoming("a"));
    await first.inbox.close(0);
    clock.now -= 3_600_000;
    const correct = vi.spyOn(DeliveryTable.prototype, "correctClock").mockImplementationOnce(() => {
      throw new Error("database is locked");
    });
    const second = openInbox({ file: first.file, now: () => clock.now });
    work(second.inbox, () => succeeded);
    await waitForStatus(second.inbox, "a", "succeeded");
    expect(correct).toHaveBeenCalledTimes(2);
  });
});

test("The result of a handler that ends after the shutdown is ignored", async () => {
  const { inbox, logger } = openInbox();
  const { end } = await hold(inbox);
  await inbox.close(1);
  end(succeeded);
  await setImmediate();
  await setImmediate();
  expect(logger.lines).toEqual([]);
});

test("A failed poll is logged once and tried again", async () => {
  let polls = 0;
  const now = () => {
    polls += 1;
    return Date.now();
  };
  const { inbox, file, logger } = openInbox({ now });
  work(inbox, () => succeeded);
  const other = new DatabaseSync(file, { timeout: 5_000 });
  other.exec("ALTER TABLE deliveries RENAME TO elsewhere");
  const pollMore = async () => {
    polls = 0;
    await waitFor(() => expect(polls).toBeGreaterThan(10));
  };
  await pollMore();
  const { length } = logger.lines;
  const isOfPoll = ({ level, msg }: LogLine) =>
    level === "error" && msg.includes("background task of the inbox failed");
  expect(logger.lines.filter(isOfPoll)).toHaveLength(1);
  await pollMore();
  expect(logger.lines).toHaveLength(length);
  other.exec("ALTER TABLE elsewhere RENAME TO deliveries");
  other.close();
  await inbox.accept(incoming("a"));
  await waitForStatus(inbox, "a", "succeeded");
});

test.each([[["early", "late"]], [["late", "early"]]])(
  "A later retry does not delay an earlier one: %j",
  async (ids) => {
    const { inbox } = openInbox({ pollMs: 60_000 });
    const waitMs: Record<string, number> = { early: 300, late: 30_000 };
    const runs = work(inbox, ({ id, attempt }) =>
      attempt === 1 ? failed({ retryAt: new Date(Date.now() + (waitMs[id] ?? 0)) }) : succeeded,
    );
    for (const id of ids) {
      await inbox.accept(incoming(id));
      await waitFor(async () =>
        expect((await inbox.get({ id, endpoint: "retrain" }))?.attempts.length).toBeGreaterThan(0),
      );
    }
    await waitForStatus(inbox, "early", "succeeded");
    expect(runs.filter(({ id }) => id === "late")).toHaveLength(1);
  },
);

test("A second retry does not wait for the next poll", async () => {
  const { inbox } = openInbox({ pollMs: 3_600_000 });
  // The retry is not yet due when the attempt ends and the worker polls.
  const policy = { maxAttempts: 3, waitAfter: () => 300, totalWaitMs: 600 };
  const runs = work(inbox, ({ isLastAttempt }) => (isLastAttempt ? succeeded : failed()), { policy });
  await inbox.accept(incoming("a"));
  await waitForStatus(inbox, "a", "succeeded");
  expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

/**
 * Creates a file with a delivery for each of these due times, in milliseconds from now. Deliveries with `crashes` above
 * 0 are suspects.
 */
async function fileWith(deliveries: readonly { id: string; endpoint: string; dueInMs: number; crashes: number }[]) {
  const { inbox, file } = openInbox();
  await inbox.close(0);
  const database = new DatabaseSync(file);
  const insert = database.prepare(
    `INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at, crashes)
     VALUES (?, ?, 'x', 1, 1, 'queued', ?, ?)`,
  );
  for (const { id, endpoint, dueInMs, crashes } of deliveries) insert.run(endpoint, id, Date.now() + dueInMs, crashes);
  database.exec(countAllSql);
  database.close();
  return file;
}

describe("Without waiting for the next poll,", () => {
  const pollMs = 3_600_000;

  test("a retry of another endpoint runs that is due after the first", async () => {
    const { inbox } = openInbox({ pollMs });
    const retryIn = (ms: number) => failed({ retryAt: new Date(Date.now() + ms) });
    work(inbox, ({ attempt }) => (attempt === 1 ? retryIn(200) : succeeded), { endpoint: "first" });
    work(inbox, ({ attempt }) => (attempt === 1 ? retryIn(600) : succeeded));
    await inbox.accept(incoming("a", { endpoint: "first" }));
    await waitFor(async () => expect((await inbox.list()).deliveries[0]?.attempts).toHaveLength(1));
    await inbox.accept(incoming("b"));
    await waitForStatus(inbox, "b", "succeeded");
  });

  test("a retry runs that is due shortly after another one of its endpoint", async () => {
    const { inbox } = openInbox({ pollMs });
    work(inbox, ({ id, attempt }) =>
      attempt > 1 ? succeeded : failed({ retryAt: new Date(Date.now() + (id === "a" ? 200 : 600)) }),
    );
    await Promise.all([inbox.accept(incoming("a")), inbox.accept(incoming("b"))]);
    await waitForStatus(inbox, "b", "succeeded");
  });

  test.each<[string, (inbox: Inbox) => Promise<unknown>]>([
    ["a replayed delivery", (inbox) => inbox.replay({ id: "a", endpoint: "retrain" })],
    ["all replayed deliveries", (inbox) => inbox.replayDead("retrain")],
  ])("%s runs", async (_what, replay) => {
    const { inbox } = openInbox({ pollMs });
    const runs = work(inbox, () => (runs.length === 1 ? failed({ retryable: false }) : succeeded));
    await inbox.accept(incoming("a"));
    await waitForStatus(inbox, "a", "dead");
    await replay(inbox);
    await waitForStatus(inbox, "a", "succeeded");
  });

  test.each([
    ["a delivery", 0],
    ["a suspect", 1],
  ])("%s of a resumed endpoint runs", async (_what, crashes) => {
    const file = await fileWith([{ id: "a", endpoint: "retrain", dueInMs: 0, crashes }]);
    const { inbox } = openInbox({ file, pollMs });
    await inbox.pause("retrain");
    work(inbox, () => succeeded);
    // The first claim is part of this transaction, and finds the endpoint paused.
    await inbox.write(() => {});
    await inbox.resume("retrain");
    await waitForStatus(inbox, "a", "succeeded");
  });

  test("a suspect runs as soon as it is due, and then the deliveries that it held back", async () => {
    const file = await fileWith([
      { id: "suspect", endpoint: "retrain", dueInMs: 500, crashes: 1 },
      { id: "first", endpoint: "retrain", dueInMs: 0, crashes: 0 },
    ]);
    const { inbox } = openInbox({ file, pollMs });
    const release = Promise.withResolvers<void>();
    const runs = work(inbox, async ({ id, attempt }) => {
      if (id === "first" && attempt === 1) return failed({ retryAt: new Date(Date.now() + 100) });
      if (id === "suspect") await release.promise;
      return succeeded;
    });
    const others = work(inbox, () => succeeded, { endpoint: "other" });
    await waitFor(() => expect(runs.map(({ id }) => id)).toEqual(["first", "first", "suspect"]));
    await inbox.accept(incoming("held-back", { endpoint: "other" }));
    expect(others).toEqual([]);
    release.resolve();
    await waitFor(() => expect(others).toHaveLength(1));
  });
});

test("A poll that cannot read an endpoint is logged", async () => {
  vi.spyOn(DeliveryTable.prototype, "nextDueAt").mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  const { inbox, logger } = openInbox();
  work(inbox, () => succeeded);
  await waitFor(() => expect(logger.lines).toMatchObject([{ level: "error", err: { message: "disk I/O error" } }]));
});

describe("A running delivery of which the index cannot be read", () => {
  async function runUnreadable(error: Error) {
    const { inbox, file, logger } = openInbox();
    const signals: AbortSignal[] = [];
    work(inbox, (_claimed, signal) => {
      signals.push(signal);
      return new Promise<Outcome>((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
    });
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(signals).toHaveLength(1));
    const read = vi.spyOn(DeliveryTable.prototype, "sequenceOf").mockImplementation(() => {
      throw error;
    });
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec("UPDATE deliveries SET process_id = 'other'");
    database.close();
    await waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(2));
    return { inbox, logger, isAborted: () => signals[0]?.aborted };
  }

  test("goes on if its page is damaged", async () => {
    const { inbox, isAborted } = await runUnreadable(Object.assign(new Error("malformed"), { errcode: 11 }));
    expect(isAborted()).toBe(false);
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
  });

  test("goes on after another error, which is logged", async () => {
    const { isAborted, logger } = await runUnreadable(new Error("disk I/O error"));
    expect(isAborted()).toBe(false);
    expect(logger.lines).toMatchObject([{ level: "error", err: { message: "disk I/O error" } }]);
  });
});

describe("The end of an attempt", () => {
  /** Prevents the end of attempts from being stored until the returned function is called. */
  function loseAttempts(file: string): () => void {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec("ALTER TABLE attempts RENAME TO elsewhere");
    return () => {
      database.exec("ALTER TABLE elsewhere RENAME TO attempts");
      database.close();
    };
  }

  test("is stored as soon as possible, and the failure is logged once", async () => {
    const { inbox, file, logger } = openInbox();
    const { runs, end } = await hold(inbox);
    const restore = loseAttempts(file);
    end(succeeded);
    const complaints = () => logger.lines.filter(({ deliveryId }) => deliveryId === "a");
    await waitFor(() =>
      expect(complaints()).toMatchObject([{ level: "error", msg: expect.stringContaining("will be retried") }]),
    );
    const database = new DatabaseSync(file, { readOnly: true });
    expect(database.prepare("SELECT status FROM deliveries").get()).toEqual({ status: "running" });
    database.close();
    restore();
    expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([
      { number: 1, outcome: "succeeded" },
    ]);
    expect(runs).toHaveLength(1);
    expect(complaints()).toHaveLength(1);
  });

  test("is not reported if it is not stored, because another process has taken over the delivery", async () => {
    const { inbox, file, logger } = openInbox();
    const end = Promise.withResolvers<void>();
    const onStored = vi.fn();
    const runs = work(inbox, () => end.promise.then(() => ({ ...failed(), onStored })));
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const other = new DatabaseSync(file, { timeout: 5_000 });
    other.exec("UPDATE deliveries SET process_id = 'other'");
    other.close();
    end.resolve();
    await waitFor(() =>
      expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("ignored") }]),
    );
    expect(onStored).not.toHaveBeenCalled();
  });

  test("is not stored if that fails during a shutdown, and the delivery runs again", async () => {
    // The shutdown does not wait for the pause before the next try.
    const first = openInbox({ leaseMs: 300, pollMs: 3_600_000 });
    const runs = work(first.inbox, () => succeeded);
    const restore = loseAttempts(first.file);
    await first.inbox.accept(incoming("a"));
    await waitFor(() => expect(first.logger.lines.some(({ deliveryId }) => deliveryId === "a")).toBe(true));
    await first.inbox.close(10_000);
    expect(first.logger.lines.at(-1)).toMatchObject({
      level: "error",
      deliveryId: "a",
      msg: expect.stringContaining("will run again"),
    });
    restore();
    const second = openInbox({ file: first.file, leaseMs: 300 });
    const again = work(second.inbox, () => succeeded);
    await waitForStatus(second.inbox, "a", "succeeded");
    expect([runs.length, again.length]).toEqual([1, 1]);
  });
});

test("A file that a newer release updates while it is open is not changed any more", async () => {
  const { inbox, file, logger } = openInbox();
  const signals: AbortSignal[] = [];
  const end = Promise.withResolvers<typeof succeeded>();
  const hold = (_claimed: unknown, signal: AbortSignal) => {
    signals.push(signal);
    return end.promise;
  };
  work(inbox, hold, { concurrency: 1 });
  for (const id of ["running", "queued"]) await inbox.accept(incoming(id));
  await waitFor(() => expect(signals).toHaveLength(1));
  expect(await inbox.problems()).toEqual([]);
  const newer = new DatabaseSync(file, { timeout: 5_000 });
  onTestFinished(() => newer.close());
  newer.exec("PRAGMA user_version = 99");
  const changes = () => newer.prepare("PRAGMA data_version").get()?.data_version;
  const before = changes();
  const key = { id: "queued", endpoint: "retrain" };
  const operations = [
    () => inbox.accept(incoming("new")),
    () => inbox.replay({ ...key, id: "running" }),
    () => inbox.discard(key),
    () => inbox.pause("retrain"),
    () => inbox.resume("retrain"),
    () => inbox.replayDead("retrain"),
    () => inbox.ownActions.add(["a"]),
    () => inbox.prune(),
  ];
  for (const operation of operations) {
    await expect(operation()).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
  }
  await waitFor(() => expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" }));
  end.resolve(succeeded);
  // Refused operations leave no transaction open, which would block the newer release.
  newer.exec("BEGIN IMMEDIATE; ROLLBACK");
  expect(await inbox.problems()).toEqual([
    { code: "INBOX_UNUSABLE", severity: "unavailable", message: expect.stringContaining("newer release") },
  ]);
  await inbox.close(0);
  expect(changes()).toBe(before);
  expect(logger.lines.filter(({ code }) => code === "INBOX_UNUSABLE")).toHaveLength(1);
});

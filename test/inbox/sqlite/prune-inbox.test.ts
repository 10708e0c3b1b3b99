import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { BackgroundMaintenance } from "../../../src/inbox/sqlite/background-maintenance.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryPruner } from "../../../src/inbox/sqlite/delivery-pruner.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import { createStatements } from "../../../src/inbox/sqlite/statements.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

afterEach(() => void vi.restoreAllMocks());

const dayMs = 24 * 3_600_000;

/** Inserts deliveries of "retrain" into a file. */
function fill(
  file: string,
  { count, status, bodyBytes = 10 }: { count: number; status: string; bodyBytes?: number },
): void {
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${count})
    INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, finished_at)
      SELECT 'retrain', 'filled-' || number, hex(zeroblob(${bodyBytes / 2})), 1, 1, '${status}', 1 FROM numbers;
    ${countAllSql}
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  database.close();
}

describe("A finished delivery of an endpoint that is no longer served", () => {
  async function finish(retentionMs: number) {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const { inbox, file } = openInbox({ now: () => clock.now });
    work(inbox, ({ id }) => (id === "waits" ? failed({ retryAt: new Date(clock.now + 1e12) }) : succeeded), {
      retentionMs,
    });
    await inbox.accept(incoming("done"));
    await inbox.accept(incoming("waits"));
    await waitForStatus(inbox, "done", "succeeded");
    await waitFor(async () => expect((await waitForStatus(inbox, "waits", "queued"))?.attempts).toHaveLength(1));
    await inbox.close(0);
    return { clock, file };
  }

  test.each([1, 60])("is removed after the stored retention of %i days; queued ones are kept", async (days) => {
    const { clock, file } = await finish(days * dayMs);
    const { inbox } = openInbox({ file, now: () => clock.now });
    work(inbox, () => succeeded, { endpoint: "other", retentionMs: 1 });
    clock.now += days * dayMs;
    expect(await inbox.prune()).toBe(0);
    clock.now += 1;
    expect(await inbox.prune()).toBe(1);
    expect((await inbox.list()).deliveries).toMatchObject([{ id: "waits", status: "queued", body: '{"id":"waits"}' }]);
  });

  test("is removed once, and counted by each concurrent call", async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 50, status: "succeeded" });
    expect(await Promise.all([inbox.prune(), inbox.prune()])).toEqual([50, 50]);
  });

  test("is kept for 14 days without a stored retention, as in files of older releases", async () => {
    const { clock, file } = await finish(dayMs);
    const database = new DatabaseSync(file);
    database.exec("DELETE FROM endpoints");
    database.close();
    const { inbox } = openInbox({ file, now: () => clock.now });
    clock.now += 14 * dayMs;
    expect(await inbox.prune()).toBe(0);
    clock.now += 1;
    expect(await inbox.prune()).toBe(1);
  });
});

describe("The ID of a finished delivery", () => {
  test.each([
    ["7 days", { totalWaitMs: dayMs }, 7],
    ["a day longer than all retries can take, if that is more", { totalWaitMs: 29 * dayMs }, 30],
  ])("is kept for %s, even if its endpoint is no longer served", async (_what, { totalWaitMs }, days) => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const { inbox, file } = openInbox({ now: () => clock.now });
    const policy = { maxAttempts: 2, waitAfter: () => 1, totalWaitMs };
    work(inbox, () => succeeded, { retentionMs: 1, policy });
    await inbox.accept(incoming("a"));
    await waitForStatus(inbox, "a", "succeeded");
    await inbox.close(0);
    const onDueLater = openInbox({ file, now: () => clock.now });
    clock.now += days * dayMs;
    await onDueLater.inbox.prune();
    expect(await onDueLater.inbox.accept(incoming("a"))).toEqual({ duplicate: true });
    clock.now += 1;
    await onDueLater.inbox.prune();
    expect(await onDueLater.inbox.accept(incoming("a"))).toEqual({ duplicate: false });
  });
});

test("The row of a process that ran nothing when it crashed is removed after a day", async () => {
  const { inbox, file } = openInbox();
  const database = new DatabaseSync(file);
  database.exec(
    `INSERT INTO processes (process_id, heartbeats, last_heartbeat_at) VALUES ('old', 1, 1), ('recent', 1, ${Date.now()})`,
  );
  await inbox.prune();
  expect(database.prepare("SELECT process_id FROM processes").all()).toEqual([{ process_id: "recent" }]);
  database.close();
});

describe("Unused space", () => {
  test("is returned to the disk if this release created the file", async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 100, status: "succeeded", bodyBytes: 50_000 });
    expect(statSync(file).size).toBeGreaterThan(4_000_000);
    expect(await inbox.prune()).toBe(100);
    await inbox.close(0);
    expect(statSync(file).size).toBeLessThan(1_000_000);
  });

  test("is returned while the inbox is open, by a thread that checkpoints the WAL", { tags: "slow" }, async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 300, status: "succeeded", bodyBytes: 50_000 });
    expect(await inbox.prune()).toBe(300);
    expect(statSync(file).size).toBeLessThan(1_000_000);
  });
});

describe("A prune of many deliveries", () => {
  test("pauses after each step for longer than the step took", { tags: "slow" }, async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 2_000, status: "succeeded" });
    const steps = vi.spyOn(DeliveryPruner.prototype, "prune");
    let isDone = false;
    const pruned = inbox.prune().finally(() => {
      isDone = true;
    });
    let accepted = 0;
    for (; !isDone; accepted += 1) await inbox.accept(incoming(`a${accepted}`, { endpoint: "other" }));
    expect(await pruned).toBe(2_000);
    expect(accepted).toBeGreaterThan(3 * steps.mock.calls.length);
  });

  test("requests a checkpoint after every eighth step, and one of any size after the last", async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 1, status: "succeeded" });
    let steps = 0;
    vi.spyOn(DeliveryPruner.prototype, "prune").mockImplementation(() => {
      steps += 1;
      return { count: 1, isDone: steps === 20 };
    });
    const stepsAtCopy: number[][] = [];
    vi.spyOn(BackgroundMaintenance.prototype, "checkpoint").mockImplementation(async (minBytes) => {
      if (minBytes === 0) return void stepsAtCopy.push([steps]);
      const before = steps;
      // If pruning did not wait for the checkpoint, it would continue during these writes.
      for (const id of [1, 2, 3, 4, 5]) await inbox.accept(incoming(`a${before}-${id}`, { endpoint: "other" }));
      stepsAtCopy.push([before, steps]);
    });
    expect(await inbox.prune()).toBe(20);
    expect(stepsAtCopy).toEqual([[8, 8], [16, 16], [20]]);
  });
});

test("Each step of a prune removes a delivery, even if it takes long to find one", async () => {
  const file = inboxFile();
  const database = openInboxDatabase(file);
  onTestFinished(() => database.close());
  fill(file, { count: 3, status: "succeeded" });
  const pruner = new DeliveryPruner(new DeliveryTable(database));
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 10;
    return now;
  });
  const limits = { bodiesBefore: 2, idsBefore: 0 };
  const steps = Array.from({ length: 3 }, () => pruner.prune("retrain", limits));
  expect(steps.map(({ count }) => count)).toEqual([1, 1, 1]);
});

test("Many deliveries on damaged pages do not prevent the removal of others", async () => {
  const file = inboxFile();
  const database = openInboxDatabase(file);
  onTestFinished(() => database.close());
  fill(file, { count: 250, status: "succeeded" });
  const statements = createStatements(database);
  const removeBody = () => ({
    run: (sequence: number) => {
      if (sequence <= 205) throw Object.assign(new Error("malformed"), { errcode: 11 });
      return statements.removeBody().run(sequence);
    },
  });
  const pruner = new DeliveryPruner({
    database,
    statements: Object.assign(Object.create(statements), { removeBody }),
  });
  let removed = 0;
  for (let steps = 0; steps < 500; steps += 1) {
    try {
      removed += pruner.prune("retrain", { bodiesBefore: 2, idsBefore: 0 }).count;
    } catch (error) {
      expect(error).toMatchObject({ errcode: 11 });
    }
    if (removed === 45) break;
  }
  expect([removed, pruner.damaged.size]).toEqual([45, 205]);
});

describe("An inbox that closes", () => {
  test.each(["prune", "shrink"] as const)("ends a prune after the current step: %s", async (method) => {
    const { inbox, file } = openInbox();
    fill(file, { count: 1, status: "succeeded" });
    const step = vi.spyOn(DeliveryPruner.prototype, method).mockImplementation(() => {
      void inbox.close(0);
      // The pause after this step is longer than the close.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
      return { count: 1, isDone: false };
    });
    expect(await inbox.prune()).toBe(1);
    expect(step).toHaveBeenCalledOnce();
  });

  test("ends a replay of dead deliveries after the current step", async () => {
    const { inbox } = openInbox();
    const step = vi.spyOn(DeliveryTable.prototype, "replayDeadStep").mockImplementation(() => {
      void inbox.close(0);
      return { count: 100, next: 100 };
    });
    expect(await inbox.replayDead("retrain")).toBe(100);
    expect(step).toHaveBeenCalledOnce();
  });
});

describe("A replay of many dead deliveries", () => {
  test("runs in steps with other writes in between, and replays each delivery once", async () => {
    const { inbox, file } = openInbox();
    fill(file, { count: 2_000, status: "dead" });
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; turns += 1) await setImmediate();
    })();
    const replayed = inbox.replayDead("retrain").finally(() => {
      isDone = true;
    });
    await inbox.accept(incoming("meanwhile"));
    expect(isDone).toBe(false);
    expect(await replayed).toBe(2_000);
    await counting;
    expect(turns).toBeGreaterThanOrEqual(10);
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2_001, dead: 0 } });
  });

  test("continues after the last delivery of each step", () => {
    const file = inboxFile();
    const database = openInboxDatabase(file);
    fill(file, { count: 450, status: "dead" });
    const table = new DeliveryTable(database);
    const last = table.lastSequence();
    let replayed = 0;
    let steps = 0;
    for (let after: number | undefined = 0; after !== undefined; steps += 1) {
      const step = table.replayDeadStep("retrain", { after, last, now: 5 });
      replayed += step.count;
      after = step.next;
      // Deliveries that become dead again during the replay must not be replayed a second time.
      database.exec("UPDATE deliveries SET status = 'dead' WHERE sequence = 1");
    }
    expect(replayed).toBe(450);
    expect(steps).toBeGreaterThanOrEqual(3);
    database.close();
  });
});

test("Pruning succeeds if the disk is too full to return unused space, and fails for other reasons", async () => {
  const { inbox, file } = openInbox();
  fill(file, { count: 2, status: "dead" });
  const shrink = vi.spyOn(DeliveryPruner.prototype, "shrink").mockImplementation(() => {
    throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
  });
  expect(await inbox.prune()).toBe(2);
  shrink.mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  await expect(inbox.prune()).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
});

test("Pruning fails if it cannot write, unless the reason is a damaged page", async () => {
  const { inbox, file } = openInbox();
  fill(file, { count: 1, status: "succeeded" });
  vi.spyOn(DeliveryPruner.prototype, "prune").mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  await expect(inbox.prune()).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
});

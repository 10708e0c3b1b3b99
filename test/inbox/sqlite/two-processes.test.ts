// @module-tag slow

import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createRetryPolicy, type RetryPolicy } from "../../../src/inbox/retry.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { fastClock, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

const hourMs = 3_600_000;

function processesIn(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const processes = database.prepare("SELECT process_id FROM processes").all();
  database.close();
  return processes;
}

/** Opens an inbox that runs a delivery. */
async function openHeld() {
  const opened = openInbox({ leaseMs: hourMs });
  await hold(opened.inbox);
  return opened;
}

/** Opens an inbox for which a lease ends after four polls. */
function openHurried(file: string) {
  return openInbox({ file, leaseMs: hourMs, monotonicNow: fastClock(hourMs / 4).now });
}

describe("Two inboxes on one file", () => {
  test("take over a delivery of a process without heartbeats, as a new attempt", async () => {
    const first = await openHeld();
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

  test("take over no delivery for the length of a lease after a time in which no process could write heartbeats", async () => {
    const first = await openHeld();
    await waitFor(() => expect(processesIn(first.file)).toHaveLength(1));
    const database = new DatabaseSync(first.file, { timeout: 5_000 });
    database.exec("CREATE TRIGGER refuse BEFORE UPDATE ON processes BEGIN SELECT RAISE(ABORT, 'Not now.'); END");
    const clock = fastClock(hourMs / 4);
    const second = openInbox({ file: first.file, leaseMs: hourMs, monotonicNow: clock.now });
    const taken = work(second.inbox, () => succeeded);
    await waitFor(() => expect(second.logger.lines).toMatchObject([{ level: "error" }]));
    clock.stepMs = 0;
    // By then, a poll that had already started has finished.
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

  test("log that a crash while other deliveries were running does not count", async () => {
    const first = openInbox({ leaseMs: hourMs });
    await hold(first.inbox, { ids: ["a", "b"] });
    const second = openHurried(first.file);
    work(second.inbox, () => succeeded);
    for (const id of ["a", "b"]) await waitForStatus(second.inbox, id, "succeeded");
    const uncounted = { level: "warn", code: "ABANDONED", msg: expect.stringContaining("does not count") };
    expect(second.logger.lines).toMatchObject([
      { ...uncounted, deliveryId: "a" },
      { ...uncounted, deliveryId: "b" },
    ]);
    await first.inbox.close(0);
  });

  test("log a takeover that cannot be stored, and try it again", async () => {
    const first = await openHeld();
    const database = new DatabaseSync(first.file, { timeout: 5_000 });
    database.exec("CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'Not now.'); END");
    const second = openHurried(first.file);
    work(second.inbox, () => succeeded);
    const failed = { level: "error", msg: expect.stringContaining("background task of the inbox failed") };
    await waitFor(() => expect(second.logger.lines[0]).toMatchObject(failed));
    database.exec("DROP TRIGGER refuse");
    database.close();
    await waitForStatus(second.inbox, "a", "succeeded");
    await first.inbox.close(0);
  });

  test("mark a delivery as dead whose crashes have used up its attempts", async () => {
    const policy = createRetryPolicy({ attempts: 1 });
    const first = openInbox({ leaseMs: hourMs });
    await hold(first.inbox, { policy });
    const second = openHurried(first.file);
    const taken = work(second.inbox, () => succeeded, { policy });
    expect((await waitForStatus(second.inbox, "a", "dead"))?.attempts).toMatchObject([{ outcome: "abandoned" }]);
    expect(taken).toEqual([]);
    const logged = { level: "error", code: "ABANDONED", deliveryId: "a", msg: expect.stringContaining("is dead") };
    await waitFor(() => expect(second.logger.lines).toMatchObject([logged]));
    await first.inbox.close(0);
  });

  test("do not take over a delivery if the system clock is set forward", async () => {
    const first = openInbox();
    const { end } = await hold(first.inbox);
    const clock = { by: 0, reads: 0 };
    const now = () => {
      clock.reads += 1;
      return Date.now() + clock.by;
    };
    const second = openInbox({ file: first.file, now });
    const taken = work(second.inbox, () => succeeded);
    clock.by = 24 * hourMs;
    clock.reads = 0;
    // Wait for several polls.
    await waitFor(() => expect(clock.reads).toBeGreaterThan(10));
    end(succeeded);
    expect((await waitForStatus(first.inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
    expect(taken).toEqual([]);
  });

  test("take over a delivery even if the system clock is set back", async () => {
    const first = await openHeld();
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

describe("The lock of another connection", () => {
  test("delays a write without blocking the event loop", async () => {
    const { inbox, file } = openInbox();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const accepted = inbox.accept(incoming("a"));
    // The inbox tries to write in the meantime.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    other.exec("COMMIT");
    other.close();
    expect(await accepted).toEqual({ duplicate: false });
  });

  test("does not prevent opening the inbox", async () => {
    const { file } = openInbox();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const second = openInbox({ file });
    other.exec("COMMIT");
    other.close();
    expect(await second.inbox.accept(incoming("a"))).toEqual({ duplicate: false });
  });
});

const key = { id: "a", endpoint: "retrain" };
/** The wait is so long that the delivery does not run again during the test. */
const hourlyRetries: RetryPolicy = { maxAttempts: 3, waitAfter: () => hourMs, totalWaitMs: 2 * hourMs };
const immediateRetries: RetryPolicy = { maxAttempts: 3, waitAfter: () => 1, totalWaitMs: 2 };

/** Starts a delivery that another process takes over while the first run continues. */
async function takenOver({
  policy,
  run = () => succeeded,
}: {
  policy: RetryPolicy;
  run?: () => Outcome | Promise<Outcome>;
}) {
  const release = Promise.withResolvers<Outcome>();
  const first = openInbox({ leaseMs: hourMs });
  const signals: AbortSignal[] = [];
  const runs = work(
    first.inbox,
    (_claimed, signal) => {
      signals.push(signal);
      return release.promise;
    },
    { policy },
  );
  await first.inbox.accept(incoming("a"));
  await waitFor(() => expect(runs).toHaveLength(1));
  const second = openHurried(first.file);
  const taken = work(second.inbox, run, { policy });
  await waitFor(() => expect(second.logger.lines).toMatchObject([{ code: "ABANDONED" }]));
  return { first, second, runs, taken, signals, release };
}

const late = { level: "warn", deliveryId: "a", attempt: 1, msg: expect.stringContaining("counts as succeeded") };
const ignored = { level: "warn", deliveryId: "a", msg: expect.stringContaining("is ignored") };

describe("A success after another process has taken over the delivery", () => {
  test("counts while the delivery waits for its next run, and is logged once", async () => {
    const { first, release, taken, signals } = await takenOver({ policy: hourlyRetries });
    // The handler can still succeed after the abort.
    await waitFor(() => expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" }));
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(taken).toEqual([]);
    expect(first.logger.lines).toMatchObject([late]);
  });

  test("counts if the delivery is dead", async () => {
    const { first, release } = await takenOver({ policy: { ...immediateRetries, maxAttempts: 1 } });
    await waitForStatus(first.inbox, "a", "dead");
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(await first.inbox.counts()).toMatchObject({ retrain: { succeeded: 1, dead: 0 } });
  });

  test("counts while the other process runs the delivery, with any result of that run", async () => {
    const other = Promise.withResolvers<Outcome>();
    const { first, second, release, taken } = await takenOver({ policy: immediateRetries, run: () => other.promise });
    await waitFor(() => expect(taken).toHaveLength(1));
    release.resolve(succeeded);
    await waitForStatus(first.inbox, "a", "succeeded");
    other.resolve(failed({ retryable: false }));
    await waitFor(() => expect(second.logger.lines.at(-1)).toMatchObject(ignored));
    expect(await first.inbox.get(key)).toMatchObject({ status: "succeeded" });
  });

  test("changes nothing if the other run has already succeeded", async () => {
    const { first, release } = await takenOver({ policy: immediateRetries });
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({
      finishedAt: stored?.finishedAt,
      attempts: [{ outcome: "succeeded" }, { outcome: "succeeded" }],
    });
  });

  test("counts, whereas a failure is ignored", async () => {
    const { first, release } = await takenOver({ policy: hourlyRetries });
    release.resolve(failed({ retryable: false }));
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({ status: "queued", attempts: [{ outcome: "abandoned" }] });
  });

  test("does not cancel a replay that was requested since", async () => {
    const other = Promise.withResolvers<Outcome>();
    const options = { policy: immediateRetries, run: () => other.promise };
    const { first, second, release, runs, taken } = await takenOver(options);
    await waitFor(() => expect(taken).toHaveLength(1));
    await second.inbox.replay(key);
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines.at(-1)).toMatchObject(ignored));
    other.resolve(succeeded);
    // Each of the two processes can run the replay.
    await waitFor(() => expect(runs.length + taken.length).toBeGreaterThanOrEqual(3));
  });
});

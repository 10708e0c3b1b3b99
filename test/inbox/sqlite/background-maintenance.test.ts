// @module-tag slow

import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readFilter } from "../../../src/inbox/filter.ts";
import { BackgroundMaintenance } from "../../../src/inbox/sqlite/background-maintenance.ts";
import { schemaVersion } from "../../../src/inbox/sqlite/schema.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed, startProcess } from "../engine.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

afterEach(() => {
  vi.useRealTimers();
});

function openMaintenance(
  file: string | undefined,
  processId = "me",
  { maxBlockedMs = 600_000, heartbeatMs = 20, isPrivate = false } = {},
) {
  const logger = createMemoryLogger();
  const maintenance = new BackgroundMaintenance({
    file,
    isPrivate,
    processId,
    heartbeatMs,
    maxBlockedMs,
    log: logger,
  });
  onTestFinished(() => maintenance.close());
  return { maintenance, logger };
}

function heartbeatsOf(file: string, processId = "me") {
  const database = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => database.close());
  return () =>
    Number(database.prepare("SELECT heartbeats FROM processes WHERE process_id = ?").get(processId)?.heartbeats ?? 0);
}

/** Waits until a second thread has started. A thread that was started earlier has then started or failed. */
async function startAnother(): Promise<void> {
  const { file } = openInbox();
  openMaintenance(file, "another").maintenance.setRunning(1);
  const heartbeats = heartbeatsOf(file, "another");
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(5));
}

test("The thread sends heartbeats while deliveries run", async () => {
  const { file } = openInbox();
  const { maintenance } = openMaintenance(file);
  const heartbeats = heartbeatsOf(file);
  expect(maintenance.needsEventLoop).toBe(true);
  maintenance.setRunning(0);
  expect(maintenance.needsEventLoop).toBe(true);
  maintenance.setRunning(1);
  // The thread has not started yet.
  expect(maintenance.needsEventLoop).toBe(true);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(2));
  expect(maintenance.needsEventLoop).toBe(false);
  maintenance.setRunning(0);
  // Wait for several heartbeats of another thread: the first thread could have sent one in this time.
  const other = openMaintenance(file, "other").maintenance;
  other.setRunning(1);
  const otherHeartbeats = heartbeatsOf(file, "other");
  await waitFor(() => expect(otherHeartbeats()).toBeGreaterThan(2));
  const [before, otherBefore] = [heartbeats(), otherHeartbeats()];
  await waitFor(() => expect(otherHeartbeats()).toBeGreaterThan(otherBefore + 5));
  expect(heartbeats()).toBe(before);
});

test("The thread sends no heartbeats while the event loop is blocked for too long", async () => {
  const { file } = openInbox();
  const maintenances = [openMaintenance(file, "hung", { maxBlockedMs: 150 }), openMaintenance(file, "running")];
  for (const { maintenance } of maintenances) maintenance.setRunning(1);
  const [hung, running] = [heartbeatsOf(file, "hung"), heartbeatsOf(file, "running")];
  await waitFor(() => expect(Math.min(hung(), running())).toBeGreaterThan(2));
  const before = running();
  /** Blocks the event loop until the second thread has sent this many heartbeats. */
  const blockUntil = (count: number) => {
    while (running() < count) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  };
  blockUntil(before + 20);
  const last = hung();
  blockUntil(before + 28);
  expect(hung()).toBe(last);
  await waitFor(() => expect(hung()).toBeGreaterThan(last));
});

test("The thread sends no heartbeats to a file that a newer release has updated", async () => {
  const { file } = openInbox();
  const { maintenance } = openMaintenance(file);
  const heartbeats = heartbeatsOf(file);
  maintenance.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(2));
  const newer = new DatabaseSync(file, { timeout: 5_000 });
  newer.exec("PRAGMA user_version = 99");
  const before = heartbeats();
  await startAnother();
  expect(heartbeats()).toBe(before);
  newer.exec(`PRAGMA user_version = ${schemaVersion}`);
  newer.close();
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(before));
});

test("The thread of a private file writes nothing to it, and its failure only makes searches slower", async () => {
  const { file } = openInbox();
  const options = { isPrivate: true };
  const { maintenance } = openMaintenance(file, "private", options);
  const failing = openMaintenance(inboxFile(), "failing", options);
  for (const opened of [maintenance, failing.maintenance]) opened.setRunning(1);
  await startAnother();
  // The thread runs by now.
  const filter = readFilter({ search: "x" });
  if (!filter) throw new Error("The filter is missing.");
  expect(await maintenance.search({ filter, options: {}, maxMs: 1_000 })).toEqual({ sequences: [] });
  expect(heartbeatsOf(file, "private")()).toBe(0);
  await waitFor(() =>
    expect(failing.logger.lines).toMatchObject([
      { level: "warn", msg: expect.stringContaining("searches are slower") },
    ]),
  );
  expect([maintenance.needsEventLoop, failing.maintenance.needsEventLoop]).toEqual([false, false]);
});

test("The thread sends its first heartbeat immediately", async () => {
  const { file } = openInbox();
  const { maintenance } = openMaintenance(file, "me", { heartbeatMs: 3_600_000 });
  const heartbeats = heartbeatsOf(file);
  maintenance.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBe(1));
});

test("Starts no thread after it is closed", async () => {
  const { file } = openInbox();
  const { maintenance } = openMaintenance(file);
  const heartbeats = heartbeatsOf(file);
  maintenance.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(0));
  await maintenance.close();
  const after = heartbeats();
  maintenance.setRunning(1);
  await startAnother();
  expect(maintenance.needsEventLoop).toBe(true);
  expect(heartbeats()).toBe(after);
});

test("No timer is left after a close or a failure of the thread", async () => {
  const [closed, failing] = [openMaintenance(openInbox().file).maintenance, openMaintenance(inboxFile())];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  closed.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  await closed.close();
  expect(vi.getTimerCount()).toBe(0);
  failing.maintenance.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  while (failing.logger.lines.length === 0) await setImmediate();
  expect(vi.getTimerCount()).toBe(0);
});

/** Opens maintenance for an inbox with a large WAL that commits do not checkpoint. */
function openWithWal({ megabytes }: { megabytes: number }) {
  const { file } = openInbox();
  const { maintenance } = openMaintenance(file);
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  database.exec("PRAGMA wal_autocheckpoint = 0");
  database.exec(`INSERT INTO processes (process_id, heartbeats) VALUES (hex(zeroblob(${megabytes * 500_000})), 1)`);
  return { file, maintenance };
}

test("The thread checkpoints a large WAL", async () => {
  const { file, maintenance } = openWithWal({ megabytes: 20 });
  maintenance.setRunning(1);
  await waitFor(() => expect(statSync(file).size).toBeGreaterThan(20_000_000));
});

test("The thread does not checkpoint a small WAL", async () => {
  const { file, maintenance } = openWithWal({ megabytes: 4 });
  maintenance.setRunning(1);
  await startAnother();
  // The thread runs by now, and checks the WAL ten times per second.
  await setTimeout(400);
  expect(statSync(file).size).toBeLessThan(1_000_000);
});

test("A script that only waits for a search ends after its result", () => {
  const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
  const script = `
    import { openInbox } from ${source("inbox/open-inbox.ts")};
    import { createRetryPolicy } from ${source("inbox/retry.ts")};
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    const inbox = await openInbox({ url: ${JSON.stringify(`sqlite:${inboxFile()}`)}, log, now: Date.now });
    const run = async () => ({ status: "succeeded", result: undefined });
    inbox.startWorker({ endpoint: "bot", concurrency: 1, policy: createRetryPolicy({}), retentionMs: 1_000, run });
    console.log((await inbox.list({ search: "nothing" })).deliveries.length);`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "0\n" });
});

describe("A requested checkpoint", () => {
  /** Whether a checkpoint has finished. */
  const isOver = (checkpoint: Promise<void>) => Promise.race([checkpoint.then(() => true), setImmediate(false)]);

  test("is in the file when it resolves, even if nothing runs", async () => {
    const { file, maintenance } = openWithWal({ megabytes: 4 });
    expect(statSync(file).size).toBeLessThan(1_000_000);
    await maintenance.checkpoint(0);
    expect(statSync(file).size).toBeGreaterThan(4_000_000);
  });

  test("resolves immediately for an inbox in memory, and after the close", async () => {
    const [memory, closed] = [openMaintenance(undefined), openMaintenance(openInbox().file)];
    memory.maintenance.setRunning(1);
    expect(memory.maintenance.needsEventLoop).toBe(false);
    await closed.maintenance.close();
    for (const { maintenance, logger } of [memory, closed]) {
      expect(await isOver(maintenance.checkpoint(0))).toBe(true);
      expect(logger.lines).toEqual([]);
    }
  });

  test("resolves when the thread stops", async () => {
    const { maintenance } = openMaintenance(openInbox().file);
    const checkpoints = [maintenance.checkpoint(0), maintenance.checkpoint(0)];
    await maintenance.close();
    for (const checkpoint of checkpoints) expect(await isOver(checkpoint)).toBe(true);
  });

  test("resolves when the thread fails, which is logged once; the event loop replaces the thread", async () => {
    const { maintenance, logger } = openMaintenance(inboxFile());
    const checkpoint = maintenance.checkpoint(0);
    while (logger.lines.length === 0) await setImmediate();
    expect(await isOver(checkpoint)).toBe(true);
    maintenance.setRunning(2);
    expect(await isOver(maintenance.checkpoint(0))).toBe(true);
    await startAnother();
    expect(maintenance.needsEventLoop).toBe(true);
    expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("thread") }]);
  });
});

test("If threads are not permitted, the event loop renews the lease of a long delivery", async () => {
  const leaseMs = 900;
  const { inbox, file } = openInbox({ leaseMs });
  const child = startProcess({ name: "SQLite" }, dirname(file), {
    LEASE_MS: String(leaseMs),
    NODE_OPTIONS: "--permission --allow-fs-read=* --allow-fs-write=*",
  });
  const id = `waits-${3 * leaseMs}`;
  await inbox.accept(incoming(id));
  await child.says("started");
  const taken = work(inbox, () => succeeded);
  expect((await waitForStatus(inbox, id, "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
  expect(taken).toEqual([]);
  await child.says(/The thread of the inbox has stopped/);
});

test("An inbox and its thread do not keep the process alive", async () => {
  const { inbox, file } = openInbox();
  await inbox.accept(incoming("waits-300-last"));
  const child = startProcess({ name: "SQLite" }, dirname(file), {});
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(await inbox.get({ id: "waits-300-last", endpoint: "retrain" })).toMatchObject({ status: "succeeded" });
});

test("A closed inbox leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  const { inbox } = openInbox({ file: ":memory:", pollMs: 1_000 });
  const runs = work(inbox, (_claimed, signal) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
  });
  await inbox.accept(incoming("a"));
  work(inbox, () => failed({ retryAt: new Date(Date.now() + 900) }), { endpoint: "soon" });
  await inbox.accept(incoming("b", { endpoint: "soon" }));
  const isRetried = async () => expect((await inbox.get({ id: "b", endpoint: "soon" }))?.attempts).toHaveLength(1);
  await waitFor(isRetried);
  expect(runs).toHaveLength(1);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await inbox.close(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

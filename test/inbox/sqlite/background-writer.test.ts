import { renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { BackgroundWriter } from "../../../src/inbox/sqlite/background-writer.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { inboxFile } from "../inbox-file.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

afterEach(() => {
  vi.useRealTimers();
});

function openWriter(file: string | undefined, processId = "me", { maxBlockedMs = 600_000, heartbeatMs = 20 } = {}) {
  const logger = createMemoryLogger();
  const writer = new BackgroundWriter({ file, processId, heartbeatMs, maxBlockedMs, log: () => logger });
  onTestFinished(() => writer.close());
  return { writer, logger };
}

function heartbeatsOf(file: string, processId = "me") {
  const database = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => database.close());
  return () =>
    Number(database.prepare("SELECT heartbeats FROM processes WHERE process_id = ?").get(processId)?.heartbeats ?? 0);
}

/** Waits until a second thread has started: one that was started before has started or failed by then. */
async function startAnother(): Promise<void> {
  const { file } = openInbox();
  openWriter(file, "another").writer.setRunning(1);
  const heartbeats = heartbeatsOf(file, "another");
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(5));
}

test("The thread sends heartbeats while deliveries run", async () => {
  const { file } = openInbox();
  const { writer } = openWriter(file);
  const heartbeats = heartbeatsOf(file);
  expect(writer.needsEventLoop).toBe(true);
  writer.setRunning(0);
  expect(writer.needsEventLoop).toBe(true);
  writer.setRunning(1);
  // The thread has not started yet.
  expect(writer.needsEventLoop).toBe(true);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(2));
  expect(writer.needsEventLoop).toBe(false);
  writer.setRunning(0);
  // The heartbeats of a second thread show that enough time has passed.
  const other = openWriter(file, "other").writer;
  other.setRunning(1);
  const otherHeartbeats = heartbeatsOf(file, "other");
  await waitFor(() => expect(otherHeartbeats()).toBeGreaterThan(2));
  const [before, otherBefore] = [heartbeats(), otherHeartbeats()];
  await waitFor(() => expect(otherHeartbeats()).toBeGreaterThan(otherBefore + 5));
  expect(heartbeats()).toBe(before);
});

test("The thread sends no heartbeats while the event loop is blocked for too long", async () => {
  const { file } = openInbox();
  const writers = [openWriter(file, "hung", { maxBlockedMs: 300 }), openWriter(file, "running")];
  for (const { writer } of writers) writer.setRunning(1);
  const [hung, running] = [heartbeatsOf(file, "hung"), heartbeatsOf(file, "running")];
  await waitFor(() => expect(Math.min(hung(), running())).toBeGreaterThan(2));
  const before = running();
  /** Blocks the event loop until the second thread has sent this many heartbeats. */
  const blockUntil = (count: number) => {
    while (running() < count) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  };
  blockUntil(before + 40);
  const last = hung();
  blockUntil(before + 50);
  expect(hung()).toBe(last);
  await waitFor(() => expect(hung()).toBeGreaterThan(last));
});

test("The thread sends its first heartbeat immediately", async () => {
  const { file } = openInbox();
  const { writer } = openWriter(file, "me", { heartbeatMs: 3_600_000 });
  const heartbeats = heartbeatsOf(file);
  writer.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBe(1));
});

test("A new thread replaces the first after the file was replaced", async () => {
  const [first, second] = [openInbox(), openInbox()];
  for (const { inbox } of [first, second]) await inbox.close(0);
  const { file } = first;
  const { writer } = openWriter(file);
  const heartbeats = heartbeatsOf(file);
  writer.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(0));
  const before = heartbeats();
  for (const suffix of ["", "-wal", "-shm"]) renameSync(`${file}${suffix}`, `${file}-moved${suffix}`);
  renameSync(second.file, file);
  await writer.restart();
  const stopped = heartbeats();
  const heartbeatsAtPath = heartbeatsOf(file);
  await waitFor(() => expect(heartbeatsAtPath()).toBeGreaterThan(before + 5));
  expect(heartbeats()).toBe(stopped);
});

test("A closed writer starts no thread", async () => {
  const { file } = openInbox();
  const { writer } = openWriter(file);
  const heartbeats = heartbeatsOf(file);
  writer.setRunning(1);
  await waitFor(() => expect(heartbeats()).toBeGreaterThan(0));
  await writer.close();
  const after = heartbeats();
  await writer.restart();
  writer.setRunning(1);
  await startAnother();
  expect(writer.needsEventLoop).toBe(true);
  expect(heartbeats()).toBe(after);
});

test("No timer is left after a close or a failure of the thread", async () => {
  const [closed, failing] = [openWriter(openInbox().file).writer, openWriter(inboxFile())];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  closed.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  await closed.close();
  expect(vi.getTimerCount()).toBe(0);
  failing.writer.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  while (failing.logger.lines.length === 0) await setImmediate();
  expect(vi.getTimerCount()).toBe(0);
});

/** Opens a writer for an inbox with a large WAL that no commit checkpoints. */
function openWithWal({ megabytes }: { megabytes: number }) {
  const { file } = openInbox();
  const { writer } = openWriter(file);
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  database.exec("PRAGMA wal_autocheckpoint = 0");
  database.exec(`INSERT INTO processes (process_id, heartbeats) VALUES (hex(zeroblob(${megabytes * 500_000})), 1)`);
  return { file, writer };
}

test("The thread checkpoints a large WAL", async () => {
  const { file, writer } = openWithWal({ megabytes: 20 });
  writer.setRunning(1);
  await waitFor(() => expect(statSync(file).size).toBeGreaterThan(20_000_000));
});

describe("A requested checkpoint", () => {
  /** Whether a checkpoint is done. */
  const isOver = (checkpoint: Promise<void>) => Promise.race([checkpoint.then(() => true), setImmediate(false)]);

  test("is in the file when it resolves, even if nothing runs", async () => {
    const { file, writer } = openWithWal({ megabytes: 4 });
    expect(statSync(file).size).toBeLessThan(1_000_000);
    await writer.checkpoint(0);
    expect(statSync(file).size).toBeGreaterThan(4_000_000);
  });

  test("resolves immediately for an inbox in memory, and after the close", async () => {
    const [memory, closed] = [openWriter(undefined), openWriter(openInbox().file)];
    await closed.writer.close();
    for (const { writer, logger } of [memory, closed]) {
      expect(await isOver(writer.checkpoint(0))).toBe(true);
      expect(logger.lines).toEqual([]);
    }
  });

  test.each(["close", "restart"] as const)("resolves when the thread stops: %s", async (end) => {
    const { writer } = openWriter(openInbox().file);
    const checkpoints = [writer.checkpoint(0), writer.checkpoint(0)];
    await writer[end]();
    for (const checkpoint of checkpoints) expect(await isOver(checkpoint)).toBe(true);
  });

  test("resolves when the thread fails, and starts no other thread", async () => {
    const { writer, logger } = openWriter(inboxFile());
    const checkpoint = writer.checkpoint(0);
    while (logger.lines.length === 0) await setImmediate();
    expect(await isOver(checkpoint)).toBe(true);
    expect(await isOver(writer.checkpoint(0))).toBe(true);
    expect(logger.lines).toMatchObject([{ level: "warn" }]);
  });
});

test("A failed thread is logged once, and the event loop replaces it until there is a file", async () => {
  const file = inboxFile();
  const { writer, logger } = openWriter(file);
  writer.setRunning(1);
  await waitFor(() => expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("thread") }]));
  writer.setRunning(2);
  await startAnother();
  expect(writer.needsEventLoop).toBe(true);
  expect(logger.lines).toHaveLength(1);
  openInbox({ file });
  // Even if nothing runs at this time.
  writer.setRunning(0);
  await writer.restart();
  writer.setRunning(1);
  await waitFor(() => expect(writer.needsEventLoop).toBe(false));
});

test("An inbox in memory starts no thread", async () => {
  const { writer, logger } = openWriter(undefined);
  writer.setRunning(1);
  await startAnother();
  expect(writer.needsEventLoop).toBe(false);
  expect(logger.lines).toEqual([]);
});

test("If threads are not permitted, the event loop renews the lease of a long delivery", async () => {
  const leaseMs = 900;
  const { inbox, file } = openInbox({ leaseMs });
  const child = startReceiverProcess(new URL("waiting-process.ts", import.meta.url), {
    STORE: dirname(file),
    WAIT_MS: String(3 * leaseMs),
    LEASE_MS: String(leaseMs),
    NODE_OPTIONS: "--permission --allow-fs-read=* --allow-fs-write=*",
  });
  await inbox.accept(incoming("a"));
  await child.says("started");
  const taken = work(inbox, () => succeeded);
  expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
  expect(taken).toEqual([]);
  await child.says(/The thread of the inbox has stopped/);
});

test("An inbox and its thread do not keep the process alive", async () => {
  const { inbox, file } = openInbox();
  await inbox.accept(incoming("a"));
  const child = startReceiverProcess(new URL("waiting-process.ts", import.meta.url), {
    STORE: dirname(file),
    WAIT_MS: "300",
    LEASE_MS: "300",
    EXIT_AFTER: "a",
  });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "succeeded" });
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

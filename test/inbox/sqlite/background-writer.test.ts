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
import { inboxFile } from "../open-file.ts";
import { arrival, openInbox, reached, succeeded, work } from "./inbox.ts";

afterEach(() => {
  vi.useRealTimers();
});

function openThread(file: string | undefined, owner = "me", { maxBlockedMs = 600_000, beatMs = 20 } = {}) {
  const logger = createMemoryLogger();
  const thread = new BackgroundWriter({ file, owner, beatMs, maxBlockedMs, log: () => logger });
  onTestFinished(() => thread.close());
  return { thread, logger };
}

function beatsIn(file: string, owner = "me") {
  const database = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => database.close());
  return () => Number(database.prepare("SELECT beat FROM owners WHERE owner = ?").get(owner)?.beat ?? 0);
}

/** Waits until a thread that is started now works: one that was started before works by then, or has failed. */
async function startAnother(): Promise<void> {
  const { file } = openInbox();
  openThread(file, "another").thread.setRunning(1);
  const beats = beatsIn(file, "another");
  await waitFor(() => expect(beats()).toBeGreaterThan(5));
}

test("The thread of an inbox shows that the process is alive as long as it runs something", async () => {
  const { file } = openInbox();
  const { thread } = openThread(file);
  const beats = beatsIn(file);
  expect(thread.needsEventLoop).toBe(true);
  thread.setRunning(0);
  expect(thread.needsEventLoop).toBe(true);
  thread.setRunning(1);
  // Until the thread has started.
  expect(thread.needsEventLoop).toBe(true);
  await waitFor(() => expect(beats()).toBeGreaterThan(2));
  expect(thread.needsEventLoop).toBe(false);
  thread.setRunning(0);
  // By the beats of another thread, which has as many turns.
  const other = openThread(file, "other").thread;
  other.setRunning(1);
  const otherBeats = beatsIn(file, "other");
  await waitFor(() => expect(otherBeats()).toBeGreaterThan(2));
  const [before, otherBefore] = [beats(), otherBeats()];
  await waitFor(() => expect(otherBeats()).toBeGreaterThan(otherBefore + 5));
  expect(beats()).toBe(before);
});

test("The thread stops showing it while the event loop is blocked for too long, and goes on after that", async () => {
  const { file } = openInbox();
  const threads = [openThread(file, "hung", { maxBlockedMs: 300 }), openThread(file, "patient")];
  for (const { thread } of threads) thread.setRunning(1);
  const [hung, patient] = [beatsIn(file, "hung"), beatsIn(file, "patient")];
  await waitFor(() => expect(Math.min(hung(), patient())).toBeGreaterThan(2));
  const before = patient();
  /** Blocks the event loop until a thread beside it has shown so often that it is alive. */
  const blockUntil = (beats: number) => {
    while (patient() < beats) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  };
  blockUntil(before + 40);
  const last = hung();
  blockUntil(before + 50);
  expect(hung()).toBe(last);
  await waitFor(() => expect(hung()).toBeGreaterThan(last));
});

test("The thread shows at once that the process is alive", async () => {
  const { file } = openInbox();
  const { thread } = openThread(file, "me", { beatMs: 3_600_000 });
  const beats = beatsIn(file);
  thread.setRunning(1);
  await waitFor(() => expect(beats()).toBe(1));
});

test("Another thread goes on in the place of the first after the file was replaced", async () => {
  const [first, second] = [openInbox(), openInbox()];
  for (const { inbox } of [first, second]) await inbox.close(0);
  const { file } = first;
  const { thread } = openThread(file);
  const beats = beatsIn(file);
  thread.setRunning(1);
  await waitFor(() => expect(beats()).toBeGreaterThan(0));
  const before = beats();
  for (const suffix of ["", "-wal", "-shm"]) renameSync(`${file}${suffix}`, `${file}-moved${suffix}`);
  renameSync(second.file, file);
  await thread.restart();
  const stopped = beats();
  const beatsAtPath = beatsIn(file);
  await waitFor(() => expect(beatsAtPath()).toBeGreaterThan(before + 5));
  expect(beats()).toBe(stopped);
});

test("No thread goes on after it was closed", async () => {
  const { file } = openInbox();
  const { thread } = openThread(file);
  const beats = beatsIn(file);
  thread.setRunning(1);
  await waitFor(() => expect(beats()).toBeGreaterThan(0));
  await thread.close();
  const after = beats();
  await thread.restart();
  thread.setRunning(1);
  await startAnother();
  expect(thread.needsEventLoop).toBe(true);
  expect(beats()).toBe(after);
});

test("No timer is left by a thread that was closed or has failed", async () => {
  const [closed, failing] = [openThread(openInbox().file).thread, openThread(inboxFile())];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  closed.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  await closed.close();
  expect(vi.getTimerCount()).toBe(0);
  failing.thread.setRunning(1);
  expect(vi.getTimerCount()).toBe(1);
  while (failing.logger.lines.length === 0) await setImmediate();
  expect(vi.getTimerCount()).toBe(0);
});

/** An inbox with some megabytes in its log that no commit copies, and a thread for it. */
function openWithLog({ megabytes }: { megabytes: number }) {
  const { file } = openInbox();
  const { thread } = openThread(file);
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  database.exec("PRAGMA wal_autocheckpoint = 0");
  database.exec(`INSERT INTO owners (owner, beat) VALUES (hex(zeroblob(${megabytes * 500_000})), 1)`);
  return { file, thread };
}

test("The thread copies the log into the file, so that no commit has to", async () => {
  const { file, thread } = openWithLog({ megabytes: 20 });
  thread.setRunning(1);
  await waitFor(() => expect(statSync(file).size).toBeGreaterThan(20_000_000));
});

describe("A copy of the log that is asked for", () => {
  /** Whether a copy is over by now. */
  const isOver = (copy: Promise<void>) => Promise.race([copy.then(() => true), setImmediate(false)]);

  test("is in the file once it resolves, also when nothing runs", async () => {
    const { file, thread } = openWithLog({ megabytes: 4 });
    expect(statSync(file).size).toBeLessThan(1_000_000);
    await thread.copyLog();
    expect(statSync(file).size).toBeGreaterThan(4_000_000);
  });

  test("is over at once for an inbox in memory, and after the close", async () => {
    const [memory, closed] = [openThread(undefined), openThread(openInbox().file)];
    await closed.thread.close();
    for (const { thread, logger } of [memory, closed]) {
      expect(await isOver(thread.copyLog())).toBe(true);
      expect(logger.lines).toEqual([]);
    }
  });

  test.each(["close", "restart"] as const)("is over when the thread ends: %s", async (end) => {
    const { thread } = openThread(openInbox().file);
    const copies = [thread.copyLog(), thread.copyLog()];
    await thread[end]();
    for (const copy of copies) expect(await isOver(copy)).toBe(true);
  });

  test("is over when the thread fails, and starts no other", async () => {
    const { thread, logger } = openThread(inboxFile());
    const copy = thread.copyLog();
    while (logger.lines.length === 0) await setImmediate();
    expect(await isOver(copy)).toBe(true);
    expect(await isOver(thread.copyLog())).toBe(true);
    expect(logger.lines).toMatchObject([{ level: "warn" }]);
  });
});

test("A thread that cannot work is logged once, and leaves it to the event loop until there is a file", async () => {
  const file = inboxFile();
  const { thread, logger } = openThread(file);
  thread.setRunning(1);
  await waitFor(() => expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("thread") }]));
  thread.setRunning(2);
  await startAnother();
  expect(thread.needsEventLoop).toBe(true);
  expect(logger.lines).toHaveLength(1);
  openInbox({ file });
  // Also when nothing runs just then.
  thread.setRunning(0);
  await thread.restart();
  thread.setRunning(1);
  await waitFor(() => expect(thread.needsEventLoop).toBe(false));
});

test("An inbox in memory needs no thread", async () => {
  const { thread, logger } = openThread(undefined);
  thread.setRunning(1);
  await startAnother();
  expect(thread.needsEventLoop).toBe(false);
  expect(logger.lines).toEqual([]);
});

test("Where no thread may be started, the event loop keeps what runs for longer than a lease", async () => {
  const leaseMs = 900;
  const { inbox, file } = openInbox({ leaseMs });
  const child = startReceiverProcess(new URL("waiting-process.ts", import.meta.url), {
    STORE: dirname(file),
    WAIT_MS: String(3 * leaseMs),
    LEASE_MS: String(leaseMs),
    NODE_OPTIONS: "--permission --allow-fs-read=* --allow-fs-write=*",
  });
  await inbox.accept(arrival("a"));
  await child.says("started");
  const taken = work(inbox, () => succeeded);
  expect((await reached(inbox, "a", "succeeded"))?.attempts).toMatchObject([{ outcome: "succeeded" }]);
  expect(taken).toEqual([]);
  await child.says(/The thread of the inbox has stopped/);
});

test("Neither an inbox nor its thread keeps a process alive", async () => {
  const { inbox, file } = openInbox();
  await inbox.accept(arrival("a"));
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
  const runs = work(inbox, (_task, signal) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(succeeded)));
  });
  await inbox.accept(arrival("a"));
  work(inbox, () => failed({ retryAt: new Date(Date.now() + 900) }), { endpoint: "soon" });
  await inbox.accept(arrival("b", { endpoint: "soon" }));
  const isRetried = async () => expect((await inbox.get({ id: "b", endpoint: "soon" }))?.attempts).toHaveLength(1);
  await vi.waitFor(isRetried, { timeout: 15_000 });
  expect(runs).toHaveLength(1);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  await inbox.close(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

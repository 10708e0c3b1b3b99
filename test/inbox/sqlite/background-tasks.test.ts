import { expect, onTestFinished, test, vi } from "vitest";
import { BackgroundTasks } from "../../../src/inbox/sqlite/context.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

function openTasks() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = createMemoryLogger();
  const tasks = new BackgroundTasks({ log, monotonicNow: () => performance.now() });
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

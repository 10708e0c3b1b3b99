import { onTestFinished, vi } from "vitest";
import { SqliteInbox, type SqliteInboxOptions } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { emptyInboxFile } from "../inbox-file.ts";

export { failed, hold, incoming, succeeded, waitForStatus, work } from "../engine.ts";

/** Opens an inbox with short intervals and closes it after the test. */
export function openInbox(options: Partial<SqliteInboxOptions> = {}) {
  const logger = createMemoryLogger();
  const file = options.file ?? emptyInboxFile();
  const inbox = new SqliteInbox({ now: Date.now, pollMs: 20, log: logger, ...options, file });
  onTestFinished(async () => void (await inbox.close(1_000)));
  return { inbox, file, logger };
}

/** Returns a monotonic clock that advances by `stepMs` on each read. */
export function fastClock(stepMs = 0) {
  const clock = {
    stepMs,
    /** The number of reads. */
    reads: 0,
    time: 0,
    now: () => {
      clock.reads += 1;
      clock.time += clock.stepMs;
      return clock.time;
    },
  };
  return clock;
}

/** Lets `performance` pass 50 times as fast until the test ends or the returned function is called, so that locks time out. */
export function hurry(): () => void {
  const { now } = performance;
  const startedAt = performance.now();
  const hurried = vi
    .spyOn(performance, "now")
    .mockImplementation(() => startedAt + 50 * (now.call(performance) - startedAt));
  onTestFinished(() => hurried.mockRestore());
  return () => hurried.mockRestore();
}

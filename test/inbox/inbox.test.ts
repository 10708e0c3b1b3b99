import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { RepeatedErrors } from "../../src/inbox/errors.ts";
import { createLoopCounter, LoopMonitor } from "../../src/inbox/loop-monitor.ts";
import { openInbox, parseInboxUrl } from "../../src/inbox/open-inbox.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

test.each([
  ["sqlite:./inbox.db", { engine: "sqlite", file: "./inbox.db", unsafeFileSystem: "refuse" }],
  ["sqlite:///data/inbox.db", { engine: "sqlite", file: "/data/inbox.db", unsafeFileSystem: "refuse" }],
  ["sqlite:a.db?unsafe-file-system=allow", { engine: "sqlite", file: "a.db", unsafeFileSystem: "allow" }],
  ["sqlite::memory:", { engine: "sqlite", file: ":memory:", unsafeFileSystem: "refuse" }],
  ["hf://buckets/me/inbox", { engine: "bucket" }],
  ["s3://bucket", { engine: "bucket" }],
  ["redis://host", { engine: "redis" }],
  ["rediss://host", { engine: "redis" }],
  ["postgres://host/db", { engine: "postgres" }],
  ["postgresql://host/db", { engine: "postgres" }],
])("%s selects an engine", (url, expected) => {
  expect(parseInboxUrl(url)).toEqual(expected);
});

test.each(["", "sqlite:", "inbox.db", "mysql://host", "redis:host"])("%j is not supported", (url) => {
  expect(() => parseInboxUrl(url)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});

test("An inbox in memory logs a warning that its deliveries are lost with the process", async () => {
  const logger = createMemoryLogger();
  const inbox = await openInbox({ url: "sqlite::memory:", now: Date.now, log: logger });
  onTestFinished(async () => void (await inbox.close(0)));
  expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("lost") }]);
});

test("An error with the same message is logged at most once a minute", () => {
  let now = 0;
  const errors = new RepeatedErrors(() => now);
  const logged = (message: string) => errors.shouldLog(new Error(message));
  expect([logged("read failed"), logged("read failed"), logged("write failed")]).toEqual([true, false, true]);
  now = 59_999;
  expect(logged("read failed")).toBe(false);
  now = 60_000;
  expect([logged("read failed"), logged("read failed")]).toEqual([true, false]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

test("Measures how long the counter of the event loop has not changed", () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const beat = createLoopCounter();
  Atomics.add(beat, 0, 7);
  const loop = new LoopMonitor(beat);
  clock.mockReturnValue(1_400);
  expect(loop.blockedMs()).toBe(400);
  Atomics.add(beat, 0, 1);
  clock.mockReturnValue(1_500);
  expect(loop.blockedMs()).toBe(0);
  clock.mockReturnValue(1_800);
  expect(loop.blockedMs()).toBe(300);
});

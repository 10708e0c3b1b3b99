import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { connectRedis } from "../../../src/inbox/bullmq/redis.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

vi.mock(import("../../../src/inbox/bullmq/redis.ts"), { spy: true });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("A repeated error is logged again after a minute, although the clock was set back", async () => {
  const log = createMemoryLogger();
  let fail: (error: Error) => void = () => {};
  vi.mocked(connectRedis).mockImplementation(async ({ onError }) => {
    fail = onError;
    throw new Error("The server is unavailable.");
  });
  await expect(openBullmqInbox({ url: "redis://host", log, now: Date.now })).rejects.toThrow();
  const disconnected = new Error("connect ECONNREFUSED 127.0.0.1:6379");
  fail(disconnected);
  fail(disconnected);
  expect(log.lines).toHaveLength(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  fail(disconnected);
  expect(log.lines).toMatchObject([{ level: "error" }, { level: "error" }]);
});

import { expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import { replayAll } from "../../../src/receiver/console/deliveries.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ endpoint: "e", id: `${index}` }));

const mask = (message: string) => message.replaceAll("pa55word", "***");

const unknown = new WebhookError("The delivery is not stored at redis://:pa55word@host.", { code: "DELIVERY_UNKNOWN" });

test("Replays count failures by reason, the most frequent first, and log each reason once", async () => {
  const replay = async ({ id }: { id: string }) => {
    if (id === "0") throw new Error("SQLITE_CORRUPT in /data/inbox.db");
    if (id === "1" || id === "2") throw unknown;
  };
  const [log, onReplayed] = [createMemoryLogger(), vi.fn()];
  const result = await replayAll({ replay }, keys(150), { stopAt: Number.POSITIVE_INFINITY, onReplayed, log, mask });
  expect(result).toEqual({
    replayed: 147,
    failed: 3,
    failures: [
      { code: "DELIVERY_UNKNOWN", error: "The delivery is not stored at redis://:***@host.", count: 2 },
      { code: "INTERNAL", error: expect.not.stringContaining("SQLITE"), count: 1 },
    ],
    isMore: false,
  });
  expect(onReplayed).toHaveBeenCalledTimes(150);
  expect(log.lines.map(({ code }) => code)).toEqual(["INTERNAL", "DELIVERY_UNKNOWN"]);
});

test("Replays stop when their time is over, also if the inbox does not answer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const replay = vi.fn(() => new Promise<void>(() => {}));
  const options = { stopAt: performance.now() + 15_000, onReplayed: () => {}, log: createMemoryLogger(), mask };
  const replaying = replayAll({ replay }, keys(1_000), options);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await replaying).toMatchObject({
    replayed: 0,
    failed: replay.mock.calls.length,
    failures: [{ code: "INBOX_UNAVAILABLE" }],
    isMore: true,
  });
  expect(replay.mock.calls.length).toBeLessThan(1_000);
});

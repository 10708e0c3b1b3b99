import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ClockSkew } from "../../../src/inbox/bullmq/health.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Returns the result of `measure` for a server whose clock is ahead by these milliseconds. */
function createSkew() {
  const logger = createMemoryLogger();
  const skew = new ClockSkew({ now: Date.now, log: logger });
  const measure = (aheadMs: number) => skew.measure(async () => Date.now() + aheadMs);
  return { skew, logger, measure };
}

describe("The difference between two clocks", () => {
  test.each([0, 4_000, -4_000])("is not a problem up to 5 s: %d ms", async (aheadMs) => {
    const { skew, logger, measure } = createSkew();
    await measure(aheadMs);
    expect(skew.problem).toBeUndefined();
    expect(logger.lines).toEqual([]);
  });

  test.each([3_600_000, -3_600_000])("is a problem above 5 s, and is logged once: %d ms", async (aheadMs) => {
    const { skew, logger, measure } = createSkew();
    for (const _time of [1, 2, 3]) await measure(aheadMs);
    expect(skew.problem).toMatchObject({ code: "INBOX_CLOCK_SKEW", severity: "degraded" });
    expect(logger.lines).toMatchObject([{ level: "warn", code: "INBOX_CLOCK_SKEW" }]);
  });

  test("is logged again when it changes, and when the clocks agree", async () => {
    const { skew, logger, measure } = createSkew();
    for (const aheadMs of [60_000, 61_000, 120_000, 0, 0]) await measure(aheadMs);
    expect(logger.lines.map(({ level }) => level)).toEqual(["warn", "warn", "info"]);
    expect(skew.problem).toBeUndefined();
  });

  test("is measured with whether one of the clocks was set back by more than 5 s", async () => {
    const hourMs = 3_600_000;
    let [own, server] = [0, 0];
    const now = () => 1_700_000_000_000 + performance.now();
    const skew = new ClockSkew({ now: () => now() + own, log: createMemoryLogger() });
    const measure = () => skew.measure(async () => now() + server);
    // Before the first measurement, a clock may have been set back.
    expect(await measure()).toBe(true);
    expect(await measure()).toBe(false);
    const results: boolean[] = [];
    for (const change of [
      () => (own -= hourMs),
      () => (own += hourMs),
      () => (server -= hourMs),
      () => (server += hourMs),
      () => (own -= 4_000),
    ]) {
      change();
      results.push(await measure(), await measure());
    }
    expect(results).toEqual([true, false, false, false, true, false, false, false, false, false]);
  });

  test("is not a problem if the round trip took as long", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { skew, logger } = createSkew();
    const measuring = skew.measure(async () => {
      await new Promise((resolve) => setTimeout(resolve, 30_000));
      return Date.now();
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await measuring;
    expect(skew.problem).toBeUndefined();
    expect(logger.lines).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ClockSkew, DataLoss, StallDetector } from "../../../src/inbox/bullmq/health.ts";
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

const stalledMs = 1_000;

/** Creates a detector for one stalled worker. The test controls its state and the clock. */
function createDetector() {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const detector = new StallDetector(stalledMs);
  const progress = { isRunning: true, hasCapacity: true, claimed: 0 };
  const state = { hasWaiting: true };
  const isStalled = async () => {
    const workers = new Map([["retrain", { progress }]]);
    return (await detector.findProblem(workers, async () => state.hasWaiting)) !== undefined;
  };
  return { progress, state, isStalled };
}

test("An endpoint is stalled if its deliveries wait for too long and none is claimed", async () => {
  const { progress, isStalled } = createDetector();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs - 1);
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await isStalled()).toBe(true);
  progress.claimed += 1;
  expect(await isStalled()).toBe(false);
});

test.each([
  { reason: "nothing waits", busy: { hasCapacity: true }, hasWaiting: false },
  { reason: "its worker is busy", busy: { hasCapacity: false }, hasWaiting: true },
])("The time of a stall starts again when $reason", async ({ busy, hasWaiting }) => {
  const { progress, state, isStalled } = createDetector();
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  Object.assign(progress, busy);
  state.hasWaiting = hasWaiting;
  expect(await isStalled()).toBe(false);
  Object.assign(progress, { hasCapacity: true });
  state.hasWaiting = true;
  expect(await isStalled()).toBe(false);
  vi.advanceTimersByTime(stalledMs);
  expect(await isStalled()).toBe(true);
});

const processes = [0, 1, 2];
const event = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...processes) },
  { weight: 1, arbitrary: fc.constantFrom("empty", "save", "restore") },
);

test("A process reports a loss only if its last check is lost, and always if it is lost and not made up for", {
  tags: "slow",
}, () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60, size: "max" }), (events) => {
      /** The numbers of all checks that the server has stored. The first one is its identity. */
      let server: readonly number[] = [];
      let saved = server;
      let number = 0;
      const observers = processes.map(() => {
        const logger = createMemoryLogger();
        return { logger, loss: new DataLoss(logger), last: { check: -1, first: -1, count: 0 }, reported: 0 };
      });
      for (const one of events) {
        const observer = typeof one === "number" ? observers[one] : undefined;
        if (one === "save") saved = server;
        if (one === "restore") server = saved;
        if (one === "empty") server = [];
        if (!observer) continue;
        number += 1;
        const { last, loss, logger } = observer;
        const isLost = last.check > 0 && !server.includes(last.check);
        server = [...server, number];
        const isReported = loss.observe({ identity: `${server[0]}`, checks: server.length });
        // After a restore, the checks of other processes can make up for the lost ones.
        const isMadeUpFor = server[0] === last.first && server.length > last.count;
        expect(isReported).toBe(isLost && !isMadeUpFor);
        if (isReported) observer.reported += 1;
        observer.last = { check: number, first: server[0] ?? -1, count: server.length };
        expect(logger.lines).toHaveLength(observer.reported);
        expect(loss.problem !== undefined).toBe(observer.reported > 0);
      }
    }),
    { numRuns: 200 },
  );
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RefusalLog } from "../../../src/receiver/logs.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const invalid = { code: "SECRET_INVALID", status: 403 };
const message = "delivery refused: Invalid webhook secret.";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function createLog() {
  const { lines, ...logger } = createMemoryLogger();
  const clock = { now: 1_000_000 };
  const log = new RefusalLog({ log: { ...logger }, now: () => clock.now });
  const refuse = (times: number, fields: object = invalid) => {
    for (let refused = 0; refused < times; refused += 1) log.warn({ endpoint: "retrain", ...fields }, message);
  };
  const pass = (ms: number) => {
    clock.now += ms;
    vi.advanceTimersByTime(ms);
  };
  return { lines, clock, log, refuse, pass };
}

const one = { level: "warn", endpoint: "retrain", ...invalid, msg: message };
const counted = (count: number) => ({
  ...{ level: "warn", ...invalid, count },
  msg: `${count} further deliveries refused: Invalid webhook secret.`,
});

describe("The refusal log", () => {
  test("logs the first ten lines in a second", () => {
    const { lines, refuse, pass } = createLog();
    refuse(10);
    pass(5_000);
    expect(lines).toEqual(Array(10).fill(one));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("logs the count of suppressed lines once per second", () => {
    const { lines, refuse, pass } = createLog();
    refuse(147);
    expect(lines).toHaveLength(10);
    pass(1_000);
    expect(lines.slice(10)).toEqual([counted(137)]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("loses no count while refused requests continue", () => {
    const { lines, refuse, pass } = createLog();
    for (let step = 0; step < 50; step += 1) {
      refuse(20);
      pass(100);
    }
    pass(1_000);
    const total = lines.reduce((sum, { count = 1 }) => sum + Number(count), 0);
    expect(total).toBe(1_000);
    expect(lines.length).toBeLessThanOrEqual(6 * 11);
  });

  test("logs the pending count after the clock is set back or forward", () => {
    const { lines, clock, refuse } = createLog();
    for (const shift of [-3_600_000, 3_600_000]) {
      refuse(12);
      clock.now += shift;
    }
    refuse(1);
    expect(lines.filter(({ count }) => count !== undefined)).toEqual([counted(2), counted(2)]);
    expect(lines.at(-1)).toEqual(one);
  });

  test("counts different codes separately", () => {
    const { lines, log, refuse } = createLog();
    refuse(12);
    refuse(1, { code: "PAYLOAD_INVALID", status: 422 });
    expect(lines.at(-1)).toMatchObject({ code: "PAYLOAD_INVALID", msg: message });
    log.flush();
    expect(lines.at(-1)).toEqual(counted(2));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("passes other levels through", () => {
    const { lines, log } = createLog();
    for (let logged = 0; logged < 12; logged += 1) log.error({ status: 500 }, "failed");
    log.info("ready");
    log.debug("details");
    log.child({ endpoint: "retrain" }).warn("slow");
    log.warn("refused");
    expect(lines.slice(11)).toEqual([
      { level: "error", status: 500, msg: "failed" },
      { level: "info", msg: "ready" },
      { level: "debug", msg: "details" },
      { level: "warn", endpoint: "retrain", msg: "slow" },
      { level: "warn", msg: "refused" },
    ]);
  });
});

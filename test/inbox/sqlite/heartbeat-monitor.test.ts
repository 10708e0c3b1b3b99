import { describe, expect, test } from "vitest";
import { HeartbeatMonitor } from "../../../src/inbox/sqlite/due-deliveries.ts";

const leaseMs = 30_000;

function createMonitor() {
  const clock = { now: 0 };
  const monitor = new HeartbeatMonitor({ leaseMs, monotonicNow: () => clock.now });
  /** Observes a process every second. Returns the second in which it counts as gone. */
  const poll = (seconds: number, heartbeatsAt: (second: number) => number | undefined): number | undefined => {
    for (let second = 1; second <= seconds; second += 1) {
      clock.now += 1_000;
      if (monitor.observe(new Map([["process", heartbeatsAt(second)]])).length > 0) return second;
    }
    return undefined;
  };
  return { clock, monitor, poll };
}

describe("A process", () => {
  test("is gone after a lease without a heartbeat", () => {
    expect(createMonitor().poll(40, () => 7)).toBe(31);
  });

  test("is gone after a lease if it has never sent a heartbeat", () => {
    expect(createMonitor().poll(40, () => undefined)).toBe(31);
  });

  test("is not gone while it sends heartbeats", () => {
    expect(createMonitor().poll(300, (second) => Math.floor(second / 25))).toBeUndefined();
  });

  test("has time for a heartbeat after the whole machine was suspended", () => {
    const { clock, poll } = createMonitor();
    poll(2, () => 7);
    clock.now += 3_600_000;
    expect(poll(5, () => 7)).toBeUndefined();
    expect(poll(5, () => 8)).toBeUndefined();
  });

  test("has a whole lease after a reset", () => {
    const { monitor, poll } = createMonitor();
    poll(25, () => 7);
    monitor.reset();
    expect(poll(40, () => 7)).toBe(31);
  });

  test("has a whole lease again after it ran nothing", () => {
    const { clock, monitor, poll } = createMonitor();
    poll(25, () => 7);
    clock.now += 1_000;
    expect(monitor.observe(new Map())).toEqual([]);
    expect(poll(40, () => 7)).toBe(31);
  });
});

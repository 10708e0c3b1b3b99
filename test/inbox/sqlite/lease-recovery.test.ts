import { describe, expect, test } from "vitest";
import { OwnerWatch } from "../../../src/inbox/sqlite/lease-recovery.ts";

const leaseMs = 30_000;

function openWatch() {
  const clock = { now: 0 };
  const watch = new OwnerWatch({ leaseMs, monotonicNow: () => clock.now });
  /** Looks every second for so long, and returns who was found to be gone, and when. */
  const poll = (seconds: number, beatOf: (second: number) => number | undefined): number | undefined => {
    for (let second = 1; second <= seconds; second += 1) {
      clock.now += 1_000;
      if (watch.observe(new Map([["owner", beatOf(second)]])).length > 0) return second;
    }
    return undefined;
  };
  return { clock, watch, poll };
}

describe("An owner", () => {
  test("is gone when it has not shown for a lease that it is alive", () => {
    expect(openWatch().poll(40, () => 7)).toBe(31);
  });

  test("is gone likewise when it has never shown it", () => {
    expect(openWatch().poll(40, () => undefined)).toBe(31);
  });

  test("is there as long as it shows now and then that it is alive", () => {
    expect(openWatch().poll(300, (second) => Math.floor(second / 25))).toBeUndefined();
  });

  test("has time to show it after the whole machine stood still", () => {
    const { clock, poll } = openWatch();
    poll(2, () => 7);
    clock.now += 3_600_000;
    expect(poll(5, () => 7)).toBeUndefined();
    expect(poll(5, () => 8)).toBeUndefined();
  });

  test("has a whole lease again after nobody could write", () => {
    const { watch, poll } = openWatch();
    poll(25, () => 7);
    watch.reset();
    expect(poll(40, () => 7)).toBe(31);
  });

  test("is forgotten when it runs nothing any more", () => {
    const { clock, watch, poll } = openWatch();
    poll(25, () => 7);
    clock.now += 1_000;
    expect(watch.observe(new Map())).toEqual([]);
    expect(poll(40, () => 7)).toBe(31);
  });
});

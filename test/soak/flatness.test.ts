import { describe, expect, test } from "vitest";
import { trendsOf } from "./flatness.ts";
import type { Sample } from "./sampled-receiver.ts";

const mebibyte = 2 ** 20;

/** Returns samples, one per second, with a heap of `heapAt(index)` MiB and an RSS of 100 MiB more. */
function samplesWith(heapAt: (index: number) => number, count = 60): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    at: index,
    rss: (100 + heapAt(index)) * mebibyte,
    heapUsed: heapAt(index) * mebibyte,
    external: 0,
    handles: 30,
  }));
}

const heapTrend = (samples: Sample[]) => trendsOf(samples).find(({ name }) => name.startsWith("heap"));

describe("The trend of a resource", () => {
  test("is flat when the values only go up and down", () => {
    expect(heapTrend(samplesWith((index) => 20 + (index % 3)))).toMatchObject({ isFlat: true });
  });

  test("is flat when the values only grow during warm-up", () => {
    expect(heapTrend(samplesWith((index) => (index < 20 ? index : 20)))).toMatchObject({
      first: 20,
      last: 20,
      isFlat: true,
    });
  });

  test("is not flat when the values keep growing", () => {
    const trend = heapTrend(samplesWith((index) => 20 + index / 10));
    expect(trend?.isFlat).toBe(false);
    expect(trend?.slopePerHour).toBeCloseTo(360);
  });

  test.each([
    { of: "RSS", count: 60, isFlat: undefined },
    { of: "RSS", count: 120, isFlat: false },
    { of: "heap after collection", count: 60, isFlat: false },
  ])("of $of with $count samples is judged as $isFlat when it grows", ({ of, count, isFlat }) => {
    const trend = trendsOf(samplesWith((index) => index, count)).find(({ name }) => name === of);
    expect(trend?.isFlat).toBe(isFlat);
  });

  test("is unknown with too few samples", () => {
    expect(heapTrend(samplesWith((index) => index, 12))?.isFlat).toBeUndefined();
  });
});

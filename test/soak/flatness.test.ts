import { describe, expect, test } from "vitest";
import { coursesOf } from "./flatness.ts";
import type { Sample } from "./life.ts";

const mebibyte = 2 ** 20;

/** A life of so many samples, a second apart, in which the heap is as told. */
function lifeWith(heapAt: (index: number) => number, count = 60): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    at: index,
    rss: 100 * mebibyte,
    heapUsed: heapAt(index) * mebibyte,
    external: 0,
    delayP99: 1,
    delayMax: 1,
    handles: 30,
  }));
}

const heapOf = (samples: Sample[]) => coursesOf(samples).find(({ name }) => name.startsWith("heap"));

describe("The course of a life", () => {
  test("is flat where it only goes up and down", () => {
    expect(heapOf(lifeWith((index) => 20 + (index % 3)))).toMatchObject({ isFlat: true });
  });

  test("is flat where it grew while it warmed up", () => {
    expect(heapOf(lifeWith((index) => (index < 20 ? index : 20)))).toMatchObject({ first: 20, last: 20, isFlat: true });
  });

  test("is not where it grows on and on", () => {
    const course = heapOf(lifeWith((index) => 20 + index / 10));
    expect(course?.isFlat).toBe(false);
    expect(course?.slopeAnHour).toBeCloseTo(360);
  });

  test("is unknown where it was too short", () => {
    expect(heapOf(lifeWith((index) => index, 12))?.isFlat).toBeUndefined();
  });
});

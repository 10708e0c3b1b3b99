import { expect, test } from "vitest";
import { exponentialBackoff } from "../../src/core/time.ts";

test("The wait doubles with each failed attempt, up to a maximum", () => {
  const waits = [1, 2, 3, 4, 5].map((attempt) => exponentialBackoff(attempt, { firstMs: 500, maxMs: 3_000 }));
  expect(waits).toEqual([500, 1_000, 2_000, 3_000, 3_000]);
});

test("The wait after a very late attempt is the maximum", () => {
  expect(exponentialBackoff(5_000, { firstMs: 500, maxMs: 3_000 })).toBe(3_000);
});

import { expect, test } from "vitest";
import { formatCompact, formatCount, formatPlural } from "../../../../src/console/app/format.ts";

test("groups digits", () => {
  expect(formatCount(1_234_567)).toBe("1,234,567");
});

test("shortens counts from 10,000", () => {
  expect([9_999, 12_345, 1_000_000].map(formatCompact)).toEqual(["9,999", "12.3K", "1M"]);
});

test("uses the singular for one only", () => {
  expect([0, 1, 2].map((count) => formatPlural(count, "delivery", "deliveries"))).toEqual([
    "0 deliveries",
    "1 delivery",
    "2 deliveries",
  ]);
});

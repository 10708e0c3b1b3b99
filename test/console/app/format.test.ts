import { expect, test } from "vitest";
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatMoment,
  formatPlural,
} from "../../../src/console/app/format.ts";
import { formatBytes } from "../../../src/console/app/hub/repository-content.tsx";

test.each([
  [0, "0 ms", "0 s"],
  [0.34, "0.3 ms", "0 s"],
  [842, "842 ms", "1 s"],
  [999.7, "1 s", "1 s"],
  [2_340, "2.3 s", "2 s"],
  [12_400, "12 s", "12 s"],
  [59_700, "1 min", "1 min"],
  [192_000, "3 min 12 s", "3 min 12 s"],
  [7_260_000, "2 h 1 min", "2 h 1 min"],
  [604_800_000, "7 d", "7 d"],
  [90_000_000, "1 d 1 h", "1 d 1 h"],
])("%d ms are %s, and %s in whole seconds", (ms, text, seconds) => {
  expect([formatDuration(ms), formatDuration(ms, { unit: "s" })]).toEqual([text, seconds]);
});

test.each([
  [new Date(2026, 10, 23, 4, 5, 6), "04:05:06"],
  [new Date(2026, 10, 22, 23, 59, 59), "Nov 22 23:59:59"],
  [new Date(2025, 0, 2, 0, 0, 0), "Jan 2, 2025 00:00:00"],
])("A moment is as short as possible: %s", (date, text) => {
  expect(formatMoment(date, new Date(2026, 10, 23, 15, 0))).toBe(text);
});

test("Counts are grouped, shortened from 10,000, and singular for one only", () => {
  expect(formatCount(1_234_567)).toBe("1,234,567");
  expect([9_999, 12_345, 1_000_000].map(formatCompact)).toEqual(["9,999", "12.3K", "1M"]);
  const plurals = [0, 1, 2].map((count) => formatPlural(count, "delivery", "deliveries"));
  expect(plurals).toEqual(["0 deliveries", "1 delivery", "2 deliveries"]);
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1_000, "1 kB"],
  [12_345, "12.3 kB"],
  [1_000_000, "1 MB"],
  [5_250_000_000_000_000, "5,250 TB"],
])("A file of %d bytes has the size %s", (size, text) => {
  expect(formatBytes(size)).toBe(text);
});

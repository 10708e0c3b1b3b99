import { describe, expect, test } from "vitest";
import { formatDuration, formatMoment } from "../../../../src/console/app/format.ts";

describe("formatDuration", () => {
  test.each([
    [0, "0 ms"],
    [0.34, "0.3 ms"],
    [842, "842 ms"],
    [999.7, "1 s"],
    [2_340, "2.3 s"],
    [12_400, "12 s"],
    [59_700, "1 min"],
    [192_000, "3 min 12 s"],
    [7_260_000, "2 h 1 min"],
    [604_800_000, "7 d"],
    [90_000_000, "1 d 1 h"],
  ])("formats %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("counts whole seconds for a countdown", () => {
    expect(formatDuration(400, { unit: "s" })).toBe("0 s");
    expect(formatDuration(2_340, { unit: "s" })).toBe("2 s");
  });
});

describe("formatMoment", () => {
  const today = new Date(2026, 10, 23, 15, 0);

  test.each([
    [new Date(2026, 10, 23, 4, 5, 6), "04:05:06"],
    [new Date(2026, 10, 22, 23, 59, 59), "Nov 22 23:59:59"],
    [new Date(2025, 0, 2, 0, 0, 0), "Jan 2, 2025 00:00:00"],
  ])("formats a moment as short as possible: %s", (date, text) => {
    expect(formatMoment(date, today)).toBe(text);
  });
});

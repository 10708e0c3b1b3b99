import { describe, expect, test } from "vitest";
import { lasting, moment, timeUntil } from "../../../src/receiver/dashboard/moment.ts";

describe("A duration", () => {
  test.each([
    [-5, "0 ms"],
    [0, "0 ms"],
    [85.4, "85 ms"],
    [999, "999 ms"],
    [999.9, "1.0 s"],
    [3_200, "3.2 s"],
    [59_949, "59.9 s"],
    [59_999, "1 min"],
    [85_000, "1 min 25 s"],
    [3_600_000, "1 h"],
    [3_725_000, "1 h 2 min"],
    [90_000_000, "1 d 1 h"],
  ])("of %d ms is shown as %s", (milliseconds, text) => {
    expect(lasting(milliseconds)).toBe(text);
  });
});

describe("A time", () => {
  const now = new Date("2026-09-01T10:00:00.500Z");

  test("is shown in UTC, with its exact value in the datetime attribute", () => {
    expect(String(moment(now))).toBe('<time datetime="2026-09-01T10:00:00.500Z">2026-09-01 10:00:00 UTC</time>');
  });

  test.each([
    [-60_000, ">now<"],
    [0, ">now<"],
    [90_000, ">in 1 min 30 s<"],
  ])("that is %d ms away is shown as %s", (milliseconds, text) => {
    expect(String(timeUntil(new Date(now.getTime() + milliseconds), now))).toContain(text);
  });
});

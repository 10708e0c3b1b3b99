import { describe, expect, test } from "vitest";
import { lasting, moment, timeUntil } from "../../../src/receiver/dashboard/moment.ts";

describe("A length of time", () => {
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
  ])("of %d ms reads as %s", (milliseconds, text) => {
    expect(lasting(milliseconds)).toBe(text);
  });
});

describe("A moment", () => {
  const now = new Date("2026-09-01T10:00:00.500Z");

  test("reads as date and time of UTC, and holds itself exactly", () => {
    expect(String(moment(now))).toBe('<time datetime="2026-09-01T10:00:00.500Z">2026-09-01 10:00:00 UTC</time>');
  });

  test.each([
    [-60_000, ">now<"],
    [0, ">now<"],
    [90_000, ">in 1 min 30 s<"],
  ])("%d ms away reads as %s", (milliseconds, text) => {
    expect(String(timeUntil(new Date(now.getTime() + milliseconds), now))).toContain(text);
  });
});

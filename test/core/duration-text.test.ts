import { expect, test } from "vitest";
import { durationText } from "../../src/core/duration-text.ts";

test.each([
  [0, "0 ms"],
  [0.4, "0 ms"],
  [999.4, "999 ms"],
  [1_000, "1 s"],
  [2_450, "2.5 s"],
  [9_960, "10 s"],
  [30_000, "30 s"],
  [90_000, "1.5 min"],
  [600_000, "10 min"],
  [5_400_000, "1.5 h"],
  [43_200_000, "12 h"],
  [172_800_000, "2 d"],
])("A duration of %d ms is written as %s", (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

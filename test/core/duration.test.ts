import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Duration, formatDuration, toMilliseconds } from "../../src/core/options.ts";
import { invalidDurations, validDurations } from "./durations.ts";

function expectInvalid(duration: unknown): void {
  expect(() => Reflect.apply(toMilliseconds, undefined, [duration, "timeout"])).toThrow(
    expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining('Option "timeout" is ') }),
  );
}

describe("A duration", () => {
  const numbers = [1, 25_000, 2_147_483_647].map((duration): [Duration, number] => [duration, duration]);
  const durations: readonly (readonly [Duration, number])[] = [...validDurations, ...numbers];
  test.each(durations)("%j is %d milliseconds", (duration, milliseconds) => {
    expect(toMilliseconds(duration, "timeout")).toBe(milliseconds);
  });

  const rejected: readonly (readonly [string, unknown])[] = [
    ...invalidDurations,
    ["less than a millisecond", "0.1ms"],
    ["zero with a fraction", "0.0s"],
    ["longer than a timer can wait", "25d"],
    ["zero", 0],
    ["a negative number", -1],
    ["not a number", Number.NaN],
    ["infinite", Number.POSITIVE_INFINITY],
    ["one millisecond longer than a timer can wait", 2_147_483_648],
    ["null", null],
    ["a list", ["25s"]],
    ["an object with toString()", { toString: () => "25s" }],
  ];
  test.each(rejected)("is rejected with %s: %j", (_what, duration) => {
    expectInvalid(duration);
  });

  test("is a whole number of milliseconds that a timer can wait for", () => {
    const unit = fc.constantFrom("ms", "s", "m", "h", "d");
    const text = fc
      .tuple(fc.oneof(fc.nat(100_000), fc.double({ min: 0, max: 100_000, noNaN: true })), unit)
      .map(([amount, name]) => `${amount}${name}`);
    const anyNumber = fc.oneof(fc.integer(), fc.double());
    fc.assert(
      fc.property(fc.oneof(text, anyNumber), (duration) => {
        let milliseconds: unknown;
        try {
          milliseconds = Reflect.apply(toMilliseconds, undefined, [duration, "timeout"]);
        } catch {
          return;
        }
        expect(milliseconds).toSatisfy(Number.isInteger);
        expect(milliseconds).toBeGreaterThan(0);
        expect(milliseconds).toBeLessThanOrEqual(2_147_483_647);
      }),
    );
  });
});

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
  expect(formatDuration(milliseconds)).toBe(text);
});

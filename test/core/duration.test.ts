import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Duration, formatDuration, toMilliseconds } from "../../src/core/duration.ts";

const invalid = (duration: unknown) =>
  expect(() => Reflect.apply(toMilliseconds, undefined, [duration, "timeout"])).toThrow(
    expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining('Option "timeout" is ') }),
  );

describe("A duration", () => {
  const durations: readonly [Duration, number][] = [
    [1, 1],
    [25_000, 25_000],
    ["500ms", 500],
    ["25s", 25_000],
    ["10m", 600_000],
    ["1h", 3_600_000],
    ["1.5h", 5_400_000],
    ["24d", 2_073_600_000],
    ["0.1s", 100],
    ["1.0001s", 1_000],
    [2_147_483_647, 2_147_483_647],
    ["2147483647ms", 2_147_483_647],
  ];
  test.each(durations)("%j is %d milliseconds", (duration, milliseconds) => {
    expect(toMilliseconds(duration, "timeout")).toBe(milliseconds);
  });

  test.each([
    ["nothing", ""],
    ["no unit", "25"],
    ["an unknown unit", "25w"],
    ["a space in between", "25 s"],
    ["a space in front", " 25s"],
    ["a sign", "-25s"],
    ["two numbers", "1h30m"],
    ["no number", "s"],
    ["half a number", ".5s"],
    ["a number of another kind", "1e3s"],
    ["capitals", "25S"],
    ["nothing of a unit", "0s"],
    ["less than a millisecond", "0.1ms"],
    ["longer than a timer can run", "25d"],
    ["zero", 0],
    ["less than zero", -1],
    ["no number", Number.NaN],
    ["without end", Number.POSITIVE_INFINITY],
    ["one millisecond more than a timer can run", 2_147_483_648],
    ["null", null],
    ["a list", ["25s"]],
    ["an object that says so", { toString: () => "25s" }],
  ])("may not be %s: %j", (_what, duration) => {
    invalid(duration);
  });

  test("is always a whole number of milliseconds that a timer can wait for", () => {
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
      { numRuns: 300 },
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

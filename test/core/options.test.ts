import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { formatDuration, isPort, isRefusedPort, optionError, suggest, toMilliseconds } from "../../src/core/options.ts";
import type { Duration } from "../../src/index.ts";

describe("A suggestion", () => {
  test.each([
    ["modle", ' Did you mean "model"?'],
    ["MODEL", ' Did you mean "model"?'],
    ["ogr", ' Did you mean "org"?'],
    ["orgs", ' Did you mean "org"?'],
    ["repository", ""],
    ["", ""],
  ])("for %j is %j", (word, suggestion) => {
    expect(suggest(word, ["model", "org"])).toBe(suggestion);
  });

  test("is the most similar valid word", () => {
    expect(suggest("spaces", ["place", "space", "spade"])).toBe(' Did you mean "space"?');
  });
});

describe("The error of a wrong option", () => {
  test.each([
    [{ option: "port", value: 70_000, expected: "a port" }, 'Option "port" is 70000. Use a port.'],
    [{ option: "port", value: Number.NaN, expected: "a port" }, 'Option "port" is NaN. Use a port.'],
    [{ option: "host", value: "", expected: "a host" }, 'Option "host" is "". Use a host.'],
    [{ option: "list", value: [], expected: "a list of texts" }, 'Option "list" is []. Use a list of texts.'],
    [{ option: "list", value: undefined, expected: "a list" }, 'Option "list" is undefined. Use a list.'],
    [{ option: "run", value: () => {}, expected: "a text" }, 'Option "run" is a function. Use a text.'],
    [{ option: "url", expected: "an http URL" }, 'Option "url" is invalid. Use an http URL.'],
    ["Unset A or B.", "Unset A or B."],
  ])("%o has the message %s", (problem, message) => {
    expect(optionError(problem)).toMatchObject({ code: "OPTION_INVALID", message });
  });

  test("supports a value that JSON cannot represent", () => {
    const value: { self?: unknown } = {};
    value.self = value;
    expect(optionError({ option: "body", value, expected: "a text" }).message).toContain("is an object");
  });
});

test.each([
  [0, undefined, true],
  [65_535, undefined, true],
  [65_536, undefined, false],
  [-1, undefined, false],
  [1.5, undefined, false],
  [Number.NaN, undefined, false],
  [0, { min: 1 }, false],
] as const)("Whether %d is a port with %o: %s", (port, options, isValid) => {
  expect(isPort(port, options)).toBe(isValid);
});

/** Texts that both the type `Duration` and the parser accept, with their milliseconds. */
const validDurations = [
  ["250ms", 250],
  ["25s", 25_000],
  ["10m", 600_000],
  ["100m", 6_000_000],
  ["1h", 3_600_000],
  ["1.5h", 5_400_000],
  ["14d", 1_209_600_000],
  ["24d", 2_073_600_000],
  ["0.1s", 100],
  ["0.05s", 50],
  ["1.0001s", 1_000],
  ["2147483647ms", 2_147_483_647],
] as const;

/** Texts that both the type `Duration` and the parser reject, with the reason. */
const invalidDurations = [
  ["an empty text", ""],
  ["no unit", "25"],
  ["an unknown unit", "25w"],
  ["a space before the unit", "25 s"],
  ["a space after a fraction", "1.5 s"],
  ["a leading space", " 25s"],
  ["a trailing space", "25s "],
  ["a minus sign", "-5s"],
  ["a plus sign", "+5s"],
  ["two units", "1h30m"],
  ["no number", "s"],
  ["no whole number", ".5s"],
  ["no fraction", "5.s"],
  ["an exponent", "1e3s"],
  ["a hexadecimal number", "0x1fs"],
  ["leading zeros", "05s"],
  ["a capital unit", "25S"],
  ["zero", "0s"],
] as const;

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

test("The type Duration accepts what the parser accepts", () => {
  expectTypeOf<(typeof validDurations)[number][0]>().toExtend<Duration>();
  expectTypeOf<number>().toExtend<Duration>();
});

test("The type Duration rejects what the parser rejects", () => {
  expectTypeOf<Extract<(typeof invalidDurations)[number][1], Duration>>().toBeNever();
  expectTypeOf<string>().not.toExtend<Duration>();
});

describe("The refused ports", { tags: "slow" }, () => {
  /** Replaces the connections of `fetch`. */
  const dispatcher = {
    dispatch(): never {
      throw new Error("connects");
    },
  };

  /** Whether `fetch` refuses a port. */
  async function isRefusedByFetch(port: number): Promise<boolean> {
    const init: object = { dispatcher };
    const error: unknown = await fetch(`http://127.0.0.1:${port}`, init).catch((thrown: unknown) => thrown);
    return error instanceof TypeError && String(error.cause).includes("bad port");
  }

  test("The refused ports are those that fetch refuses", async () => {
    const ports = Array.from({ length: 10_100 }, (_, index) => index + 1);
    const refused = await Promise.all(ports.map(isRefusedByFetch));
    expect(ports.filter(isRefusedPort)).toEqual(ports.filter((_, index) => refused[index]));
  });
});

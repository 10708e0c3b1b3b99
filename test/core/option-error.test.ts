import { describe, expect, test } from "vitest";
import { isPort, optionError, suggest } from "../../src/core/options.ts";

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

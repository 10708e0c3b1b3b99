import { describe, expect, test } from "vitest";
import { prettyJson } from "../../../../src/cli/commands/deliveries.ts";

describe("Pretty JSON", () => {
  test.each([
    ["nested values", { a: [1, { b: null }], c: { d: [[], {}, [[]]] }, e: "{[,:]}", f: 'a"b\\', g: -1.5e-7 }],
    ["an empty object", {}],
    ["an empty array", []],
    ["a text", "a: b, c"],
    ["a number", 42],
    ["nothing", null],
    ["a text that ends with a backslash", ["\\", "\\\\", '\\"']],
  ])("lays %s out as JSON.stringify does", (_name, value) => {
    const expected = JSON.stringify(value, null, 2);
    expect(prettyJson(JSON.stringify(value))).toBe(expected);
    expect(prettyJson(`\r\n ${JSON.stringify(value, null, "\t")} \n`)).toBe(expected);
    expect(prettyJson(expected)).toBe(expected);
  });

  test("keeps the digits of numbers, and every key", () => {
    expect(prettyJson('{"n":12345678901234567890,"n":1.0}')).toBe('{\n  "n": 12345678901234567890,\n  "n": 1.0\n}');
  });

  test("escapes control characters", () => {
    expect(prettyJson('"\u009b\u202e\\u001b\u007fé"')).toBe('"\\u009b\\u202e\\u001b\\u007fé"');
  });

  test.each(["", "{", "{'a':1}", "[1,]", "text", '"open'])("is undefined for %j, which is not JSON", (text) => {
    expect(prettyJson(text)).toBeUndefined();
  });

  test("of a deep text is not much longer than the text", () => {
    const depth = 20_000;
    const text = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(prettyJson(text)?.length).toBeLessThan(text.length * 80);
  });
});

import { describe, expect, test } from "vitest";
import { plainJson, plainText } from "../../src/core/terminal.ts";

describe("Plain text", () => {
  test.each([
    ["a color", "\u001b[31mred\u001b[0m", "red"],
    ["a title of the window", "\u001b]0;owned\u0007name", "name"],
    ["a one-byte escape code", "\u009b2Jname", "name"],
    ["line ends and tabs", "one\r\n\ttwo", "one two"],
    ["control characters", "a\u0000b\u0008c\u007f", "abc"],
    ["what turns the direction of writing", "a\u202eb\u2066c", "abc"],
  ])("is free of %s", (_name, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  test("keeps the letters of every language", () => {
    expect(plainText("données/数据 🤗")).toBe("données/数据 🤗");
  });
});

test("Plain JSON contains no control characters, and keeps its meaning", () => {
  const value = { name: "\u001b[31m\u009b2J\u202ename\u007f" };
  const text = plainJson(value);
  expect(text).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(text)).toEqual(value);
});

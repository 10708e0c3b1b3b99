import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { sanitizeLine } from "../../src/cli/commands/dev/dev-lines.ts";
import { plainJson, plainText } from "../../src/core/terminal.ts";
import {
  copyStart,
  cutAt,
  deceptiveCharacters,
  escapeHidden,
  quoteShellWord,
  shorten,
  toShellWord,
} from "../../src/core/text.ts";
import { formatForTerminal } from "../../src/receiver/node/node-logger.ts";

test("A text is cut to a length, without splitting a character", () => {
  expect([shorten("four", 4), shorten("longer", 4)]).toEqual(["four", "lon…"]);
  expect([cutAt("ab😀", 3), cutAt("ab😀", 4)]).toEqual(["ab", "ab😀"]);
  expect([copyStart("longer", 4), copyStart("four", 10)]).toEqual(["long", "four"]);
  expect(copyStart("\uFEFFlonger", 4)).toBe("\uFEFFlon");
});

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

test.each([
  { what: "colours of a terminal", text: "\u001b[31mred", shown: "\\u001b[31mred" },
  { what: "writing turned around", text: "\u202egnp.exe\u2069", shown: "\\u202egnp.exe\\u2069" },
  { what: "NUL and DEL", text: "a\u0000b\u007f", shown: "a\\u0000b\\u007f" },
  { what: "a second set of control characters", text: "\u009b2J", shown: "\\u009b2J" },
  { what: "an invisible space", text: "a\u200bb\ufeff", shown: "a\\u200bb\\ufeff" },
  { what: "a lone carriage return, which hides a line", text: "safe\revil", shown: "safe\\u000devil" },
  { what: "a message in tag characters", text: "\u{e0041}", shown: "\\udb40\\udc41" },
])("Shows $what", ({ text, shown }) => {
  expect(escapeHidden(text)).toBe(shown);
});

test("Keeps visible characters", () => {
  const text = "Ünï 日本 عربي 👩‍🔬\n\tline\r\n";
  expect(escapeHidden(text)).toBe(text);
});

test("Keeps the meaning of JSON", () => {
  const value = { name: "\u202e\u200b\u{e0041}" };
  expect(JSON.parse(escapeHidden(JSON.stringify(value)))).toEqual(value);
});

const every = Array.from({ length: 0xe0100 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
const deceptive = every.filter((character) => `${character}.`.match(deceptiveCharacters) !== null).join(".");

describe("Deceptive characters", () => {
  test.each([
    ["a line of the log on a terminal", (text: string) => formatForTerminal(JSON.stringify({ level: 30, msg: text }))],
    ["a line of a command", plainText],
    ["JSON that a command writes", (text: string) => plainJson({ [text]: text })],
    ["a line that the code of a user prints", sanitizeLine],
    ["a page", escapeHidden],
  ])("stands in %s", (_where, show) => {
    // Escape sequences for colors come from our own code.
    expect(show(deceptive).replace(/\u001b\[\d+m/g, "")).not.toMatch(deceptiveCharacters);
  });

  test("of each kind are escaped", () => {
    const kinds = "\u0000\u001b\u007f\u009b\u061c\u200e\u200b\u2028\u202e\u2066\ufeff\u{e0041}";
    for (const character of kinds) expect(deceptive).toContain(character);
  });
});

test("A shell parses each quoted text as a single argument, and simple words are not quoted", () => {
  expect(toShellWord("http://127.0.0.1:5050")).toBe("http://127.0.0.1:5050");
  const texts = ["", "it's", "a b", "$(echo pwned)", "`echo pwned`", "a;b", "~", "a\nb", "\\", "*", "'; echo pwned; '"];
  const words = [...texts.map(toShellWord), ...texts.map(quoteShellWord)].join(" ");
  const printed = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${words}`], { encoding: "utf8" });
  expect(printed.split("\0")).toEqual([...texts, ...texts, ""]);
});

import { expect, test } from "vitest";
import { showHidden } from "../../src/page/visible-text.ts";

test.each([
  { what: "colours of a terminal", text: "\u001b[31mred", shown: "\\u001b[31mred" },
  { what: "writing turned around", text: "\u202egnp.exe\u2069", shown: "\\u202egnp.exe\\u2069" },
  { what: "NUL and DEL", text: "a\u0000b\u007f", shown: "a\\u0000b\\u007f" },
  { what: "a second set of control characters", text: "\u009b2J", shown: "\\u009b2J" },
  { what: "a space that nobody sees", text: "a\u200bb\ufeff", shown: "a\\u200bb\\ufeff" },
  { what: "a lone carriage return, which hides a line", text: "safe\revil", shown: "safe\\u000devil" },
  { what: "a message in tag characters", text: "\u{e0041}", shown: "\\udb40\\udc41" },
])("Shows $what", ({ text, shown }) => {
  expect(showHidden(text)).toBe(shown);
});

test("Leaves what can be seen as it is", () => {
  const text = "Ünï 日本 عربي 👩‍🔬\n\tline\r\n";
  expect(showHidden(text)).toBe(text);
});

test("Leaves the meaning of a JSON as it is", () => {
  const value = { name: "\u202e\u200b\u{e0041}" };
  expect(JSON.parse(showHidden(JSON.stringify(value)))).toEqual(value);
});

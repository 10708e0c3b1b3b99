import { expect, test } from "vitest";
import { copyStart, cutAt, shorten } from "../../src/core/text.ts";

test("A text that is short enough stays whole", () => {
  expect(shorten("four", 4)).toBe("four");
});

test("A longer text ends with an ellipsis, and has at most the given length", () => {
  expect(shorten("longer", 4)).toBe("lon…");
});

test("No character is split", () => {
  expect(cutAt("ab😀", 3)).toBe("ab");
  expect(cutAt("ab😀", 4)).toBe("ab😀");
});

test("A copied start has at most the given length", () => {
  expect([copyStart("longer", 4), copyStart("four", 10)]).toEqual(["long", "four"]);
});

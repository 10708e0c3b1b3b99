import { expect, test } from "vitest";
import { cutAt, shorten } from "../../src/core/shorten.ts";

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

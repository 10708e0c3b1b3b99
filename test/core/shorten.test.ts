import { expect, test } from "vitest";
import { cutAt, shorten } from "../../src/core/shorten.ts";

test("A text that is short enough stays whole", () => {
  expect(shorten("four", 4)).toBe("four");
});

test("A longer one ends in an ellipsis, and is no longer than asked for", () => {
  expect(shorten("longer", 4)).toBe("lon…");
});

test("No character is cut in half", () => {
  expect(cutAt("ab😀", 3)).toBe("ab");
  expect(cutAt("ab😀", 4)).toBe("ab😀");
});

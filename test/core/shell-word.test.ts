import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { quoteWord, shellWord } from "../../src/core/shell-word.ts";

test("What needs no quotes gets none", () => {
  expect(shellWord("http://127.0.0.1:5050")).toBe("http://127.0.0.1:5050");
});

test.each(["", "it's", "a b", "$(echo pwned)", "`echo pwned`", "a;b", "~", "a\nb", "\\", "*", "'; echo pwned; '"])(
  "A shell reads “%s” back as one word",
  (text) => {
    for (const word of [shellWord(text), quoteWord(text)]) {
      expect(execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${word}`], { encoding: "utf8" })).toBe(`${text}\0`);
    }
  },
);

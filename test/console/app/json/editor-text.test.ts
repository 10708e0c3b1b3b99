import { describe, expect, test } from "vitest";
import { breakLine, indent, outdent } from "../../../../src/console/app/json/editor.tsx";

describe("indent", () => {
  test("inserts spaces at the caret", () => {
    expect(indent({ text: "ab", start: 1, end: 1 })).toEqual({ text: "a  b", start: 3, end: 3 });
  });

  test("indents all selected lines", () => {
    expect(indent({ text: "a\nb\nc", start: 0, end: 3 })).toEqual({ text: "  a\n  b\nc", start: 2, end: 7 });
  });
});

describe("outdent", () => {
  test("removes one level of the selected lines", () => {
    expect(outdent({ text: "    a\n b\nc", start: 4, end: 10 })).toEqual({ text: "  a\nb\nc", start: 2, end: 7 });
  });

  test("works without a selection", () => {
    expect(outdent({ text: "  a", start: 3, end: 3 })).toEqual({ text: "a", start: 1, end: 1 });
  });
});

describe("breakLine", () => {
  test("keeps the indent", () => {
    expect(breakLine({ text: '  "a": 1', start: 8, end: 8 }).text).toBe('  "a": 1\n  ');
  });

  test("indents after a bracket, and puts the closing one on its own line", () => {
    expect(breakLine({ text: "  {}", start: 3, end: 3 })).toEqual({ text: "  {\n    \n  }", start: 8, end: 8 });
  });
});

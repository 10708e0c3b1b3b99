import { expect, test } from "vitest";
import { listsTag, readRange } from "../../../../src/local-hub/resources/repositories/files.ts";

test.each([
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=2-5", { start: 2, end: 5 }],
  ["bytes=8-", { start: 8, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=-30", { start: 0, end: 9 }],
  ["bytes=9-1000", { start: 9, end: 9 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-2", "whole"],
  ["bytes=0-1,4-5", "whole"],
  ["lines=0-1", "whole"],
  ["bytes=-", "whole"],
  [undefined, "whole"],
])("The range %s of a file of 10 bytes is read", (header, expected) => {
  expect(readRange(header, { size: 10 })).toEqual(expected);
});

test("Each range of an empty file is the whole file", () => {
  expect(readRange("bytes=0-0", { size: 0 })).toBe("whole");
});

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  [undefined, false],
])("The header %s lists a tag: %s", (header, expected) => {
  expect(listsTag(header, '"a"')).toBe(expected);
});

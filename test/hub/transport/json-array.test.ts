import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonArrayError, JsonArraySplitter } from "../../../src/hub/transport/response-body.ts";

/** Parses a text that arrives in these pieces. */
function split(pieces: readonly string[]): unknown[] {
  const splitter = new JsonArraySplitter();
  const elements = pieces.flatMap((piece) => splitter.push(piece));
  splitter.end();
  return elements.map((element) => JSON.parse(element));
}

/** Splits a text at these positions. */
function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

describe("A JSON array that arrives in pieces", () => {
  test("has the same elements for all pieces and indentations", () => {
    const cases = fc.record({
      values: fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }),
      indent: fc.constantFrom(0, 1, "\t", "\n"),
      places: fc.array(fc.nat(), { maxLength: 12, size: "max" }),
    });
    fc.assert(
      fc.property(cases, ({ values, indent, places }) => {
        const text = JSON.stringify(values, null, indent);
        expect(split(cut(text, places))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("returns each element with the piece that completes it", () => {
    const splitter = new JsonArraySplitter();
    expect(splitter.push('[{"a":"]')).toEqual([]);
    expect(splitter.push('}"}')).toEqual([]);
    expect(splitter.push(", 2")).toEqual(['{"a":"]}"}']);
    expect(splitter.push(',[3,"\\"],"]')).toEqual([" 2"]);
    expect(splitter.push("]\n")).toEqual(['[3,"\\"],"]']);
    expect(() => splitter.end()).not.toThrow();
  });

  test.each(["[]", " [ ] ", "\n[\n]\n"])("can be empty: %j", (text) => {
    expect(split([text])).toEqual([]);
  });

  test.each(["", " ", "[", "[1", "[1,", '["', '["]', '["\\"]', "[{]", "[[1]", '[{"a":1}'])(
    "throws if the text is incomplete: %j",
    (text) => {
      expect(() => split([text])).toThrow(JsonArrayError);
    },
  );

  test.each(["{}", "1", "x[]", "<html>", "[]x", "[1][2]", "[1]]", "[,1]", "[1,]", "[1,,2]", "[ , ]"])(
    "throws if the text is not an array: %j",
    (text) => {
      expect(() => split([text])).toThrow(JsonArrayError);
      expect(() => split([...text])).toThrow(JsonArrayError);
    },
  );

  test("throws for an element that is too long", () => {
    const text = "x".repeat(9_999_998);
    expect(split([`["${text}"]`])).toEqual([text]);
    const splitter = new JsonArraySplitter();
    splitter.push(`["${text}x`);
    expect(() => splitter.push("x")).toThrow(JsonArrayError);
  });
});

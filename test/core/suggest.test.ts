import { describe, expect, test } from "vitest";
import { suggest } from "../../src/core/suggest.ts";

describe("A suggestion", () => {
  test.each([
    ["modle", ' Did you mean "model"?'],
    ["MODEL", ' Did you mean "model"?'],
    ["ogr", ' Did you mean "org"?'],
    ["orgs", ' Did you mean "org"?'],
    ["repository", ""],
    ["", ""],
  ])("for %j is %j", (word, suggestion) => {
    expect(suggest(word, ["model", "org"])).toBe(suggestion);
  });

  test("is the nearest of those known", () => {
    expect(suggest("spaces", ["place", "space", "spade"])).toBe(' Did you mean "space"?');
  });
});

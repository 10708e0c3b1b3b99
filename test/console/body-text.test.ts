import { describe, expect, test } from "vitest";
import { bodyText } from "../../src/console/body-text.ts";

const most = 20_000;

describe("A JSON body", () => {
  test.each([
    { a: [1, 2.5, -3e10, true, null, "x"], b: {}, c: [], d: { e: [[]] } },
    [{ text: 'quotes " and \\ backslashes, {braces}: [too]' }],
    {},
  ])("is indented by two spaces per level: %j", (value) => {
    expect(bodyText(JSON.stringify(value), { most })).toEqual({ text: JSON.stringify(value, null, 2) });
    expect(bodyText(JSON.stringify(value, null, 7), { most })).toEqual({ text: JSON.stringify(value, null, 2) });
  });

  test("keeps digits that a number cannot represent, and duplicate keys", () => {
    expect(bodyText(`{"id":12345678901234567890,"id":1.0}`, { most }).text).toBe(
      `{\n  "id": 12345678901234567890,\n  "id": 1.0\n}`,
    );
  });

  test("that is nested very deeply is formatted only as far as it is shown", () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    // With indentation, this text would exceed the maximum string length.
    const { text, cutFrom } = bodyText(deep, { most: 40_000 });
    expect(text).toHaveLength(40_000);
    expect(cutFrom).toBe(100_000);
  });
});

describe("Any other body", () => {
  test.each(["plain text", "", "<b>markup</b>", `{"broken": `, "[1,]", `"a string"`, "  42"])(
    "is shown unchanged: “%s”",
    (body) => {
      expect(bodyText(body, { most })).toEqual({ text: body });
    },
  );
});

test("A long body is truncated, and its length is shown", () => {
  expect(bodyText("x".repeat(most), { most })).toEqual({ text: "x".repeat(most) });
  expect(bodyText("x".repeat(most + 1), { most })).toEqual({ text: "x".repeat(most), cutFrom: most + 1 });
});

test("A long JSON body is indented before it is truncated, even inside a string", () => {
  expect(bodyText(JSON.stringify({ text: "y".repeat(50) }), { most: 20 })).toEqual({
    text: `{\n  "text": "yyyyyyy`,
    cutFrom: 61,
  });
});

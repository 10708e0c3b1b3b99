import { describe, expect, test } from "vitest";
import {
  checkMarker,
  isSameMarker,
  markComment,
  markCommit,
  markDescription,
  readDescriptionMarker,
  readMarker,
} from "../../../src/hub/repositories/marker.ts";

const marker = { signature: "bot", marker: "card-review" };

describe("A marker", () => {
  test("is a hidden comment after the text", () => {
    expect(markComment("Please add a license.\n", marker)).toBe(
      "Please add a license.\n\n<!-- hub-webhooks: bot card-review -->",
    );
    expect(markComment("", marker)).toBe("<!-- hub-webhooks: bot card-review -->");
  });

  test("is the last line of a commit", () => {
    expect(markCommit("Adds a license.", marker)).toBe("Adds a license.\n\nHub-Webhooks: bot card-review");
  });

  test.each(["card-review", "two words", "--> <script>", "a--b---c--", "ü 猫", "100%", "a/b@c", "line\nbreak"])(
    "with the name %j is found again, and does not end its HTML comment",
    (name) => {
      for (const mark of [markComment, markCommit]) {
        const text = mark("Text", { signature: "a b--c", marker: name });
        expect(readMarker(text)).toEqual({ signature: "a b--c", marker: name });
        expect(readMarker(`${text}\r\n`)).toEqual({ signature: "a b--c", marker: name });
      }
      const [, ...rest] = markComment("", { signature: "a", marker: name }).split("--");
      expect(rest).toHaveLength(2);
    },
  );

  test("can be a signature only", () => {
    const text = markComment("Text", { signature: "bot", marker: undefined });
    expect(readMarker(text)).toEqual({ signature: "bot", marker: undefined });
    expect(isSameMarker(readMarker(text), marker)).toBe(false);
  });

  test("counts only at the end, because texts can quote other texts", () => {
    const quoted = `> ${markComment("Quoted", marker)}`;
    expect(readMarker(`${quoted}\n\nI agree.`)).toBeUndefined();
    expect(readMarker(markComment(quoted, { signature: "bot", marker: "answer" }))?.marker).toBe("answer");
    expect(readMarker(`${markCommit("", marker)}\nSigned-off-by: me`)).toBeUndefined();
  });

  test("of another client is not the same marker", () => {
    const other = readMarker(markComment("Text", { ...marker, signature: "other" }));
    expect(isSameMarker(readMarker(markComment("Text", marker)), marker)).toBe(true);
    expect(isSameMarker(other, marker)).toBe(false);
  });

  test("of a description is not the marker of a comment", () => {
    const description = markDescription("Text", marker);
    expect(readDescriptionMarker(description)).toEqual(marker);
    expect(readMarker(description)).toBeUndefined();
    expect(readDescriptionMarker(markComment("Text", marker))).toBeUndefined();
  });

  test.each([
    "<!-- hub-webhooks: %zz x -->",
    "<!-- hub-webhooks:  -->",
    "Hub-Webhooks:",
    "",
    "<!-- hub-webhooks: a b c -->",
  ])("is not read from %j", (text) => {
    expect(readMarker(text)).toBeUndefined();
  });

  test.each(["", "x".repeat(201), "\ud800"])("is rejected if it is %j", (name) => {
    expect(() => checkMarker(name)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", fields: ["marker"] }));
  });
});

import { describe, expect, test } from "vitest";
import { decodeHeaders, encodeHeaders } from "../../src/inbox/records.ts";

describe("Recorded headers", () => {
  test("are stored unchanged if they fit", () => {
    const headers = { "user-agent": "Hub/1.0", "x-text": "\u0000\ud800" };
    expect(decodeHeaders(encodeHeaders(headers) ?? "")).toEqual(headers);
    expect(encodeHeaders(undefined)).toBeUndefined();
  });

  test("do not include the last headers if they are too large", () => {
    const text = encodeHeaders({ first: "1", second: "2".repeat(5_000), third: "3" }) ?? "";
    expect(decodeHeaders(text)).toEqual({ first: "1" });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  });

  test.each(["", "no JSON", "[]", '{"a":1}'])("are ignored if they are unreadable: %j", (text) => {
    expect(decodeHeaders(text)).toBeUndefined();
  });
});

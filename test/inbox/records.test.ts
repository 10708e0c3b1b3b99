import { describe, expect, test } from "vitest";
import type { AttemptDetails, AttemptLog } from "../../src/inbox/inbox.ts";
import {
  decodeDetails,
  decodeHeaders,
  encodeDetails,
  encodeHeaders,
  maxDetailsBytes,
} from "../../src/inbox/records.ts";

function cutOf(details: AttemptDetails): AttemptDetails {
  const text = encodeDetails(details) ?? "";
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxDetailsBytes);
  return decodeDetails(text) ?? {};
}

const line = (message: string, fields?: string): AttemptLog => ({
  at: 1,
  level: "info",
  message,
  ...(fields !== undefined && { fields }),
});

describe("The details of an attempt", () => {
  test.each([undefined, {}, { result: undefined }])("are not stored if there are none: %j", (details) => {
    expect(encodeDetails(Object.assign({}, details))).toBeUndefined();
  });

  test("are stored unchanged if they fit", () => {
    const details = { result: "1", logs: [line("\u0000\ud800", "{}")] };
    expect(cutOf(details)).toEqual(details);
  });

  test("keep the start of a long stack and a long result", () => {
    const { stack, result, isTruncated } = cutOf({ stack: "s".repeat(50_000), result: "\u{1f917}".repeat(20_000) });
    expect(stack).toMatch(/^s{2000,}$/);
    expect(result?.length).toBeGreaterThan(1_000);
    expect(isTruncated).toBe(true);
  });

  test("keep the first of many lines, and whole fields", () => {
    const { logs, stack } = cutOf({
      stack: "Error: No.",
      logs: Array.from({ length: 1_000 }, (_, index) => line(`line ${index}`, index === 0 ? '{"a":1}' : undefined)),
    });
    expect(stack).toBe("Error: No.");
    expect(logs?.length).toBeGreaterThan(100);
    expect(logs?.[0]).toEqual(line("line 0", '{"a":1}'));
  });

  test("omit fields that are too long, because cut fields would not be JSON", () => {
    const { logs } = cutOf({ logs: [line("m", JSON.stringify({ text: "x".repeat(50_000) }))] });
    expect(logs).toEqual([line("m")]);
  });

  test.each(["", "no JSON", "[]", '{"logs":[{}]}'])("are ignored if they are unreadable: %j", (text) => {
    expect(decodeDetails(text)).toBeUndefined();
  });
});

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

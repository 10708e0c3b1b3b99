import { expect, test } from "vitest";
import { timeAgo } from "../../../src/console/pages/document.ts";

const now = new Date("2026-09-01T12:00:00.000Z");

test.each([
  { at: "2026-09-01T12:00:00.000Z", words: "just now" },
  { at: "2026-09-01T11:59:00.001Z", words: "just now" },
  { at: "2026-09-01T11:59:00.000Z", words: "1 minute ago" },
  { at: "2026-09-01T11:00:00.001Z", words: "59 minutes ago" },
  { at: "2026-09-01T11:00:00.000Z", words: "1 hour ago" },
  { at: "2026-08-31T12:00:00.001Z", words: "23 hours ago" },
  { at: "2026-08-31T12:00:00.000Z", words: "1 day ago" },
  { at: "2025-09-01T12:00:00.000Z", words: "365 days ago" },
])("At noon of 1 September 2026, $at is “$words”", ({ at, words }) => {
  expect(String(timeAgo(at, now))).toBe(`<time datetime="${at}" title="${at}">${words}</time>`);
});

test("A time in the future, after the clock was set back, is “just now”", () => {
  expect(String(timeAgo("2026-09-01T13:00:00.000Z", now))).toContain(">just now<");
});

import { describe, expect, test } from "vitest";
import { recordHeaders } from "../../../src/receiver/request.ts";

const redact = (text: string) => text.replaceAll("pl4nted", "[redacted]");
const record = (entries: readonly (readonly [string, string])[]) => ({ ...recordHeaders(entries, redact) });

describe("Recorded headers", () => {
  test.each([
    ...[
      ...["X-Webhook-Secret", "Authorization", "Proxy-Authorization"],
      ...["Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token"],
    ],
    ...["X-Hub-Signature-256", "X-Amz-Security-Token", "X-CSRF-Token", "X-Session-Id", "CF-Access-Jwt-Assertion"],
    ...["X-Password", "X-Credentials", "X-Amzn-Oidc-Data", "X-Ms-Client-Principal", "X-Vercel-Protection-Bypass"],
  ])("never contain the value of %s", (name) => {
    expect(record([[name, "anything"]])).toEqual({ [name.toLowerCase()]: "[redacted]" });
  });

  test.each([
    ["X-Original-URI", "/webhooks/retrain?secret=pl4nted", "/webhooks/retrain?secret=[redacted]"],
    ["Referer", "https://bot.example/?secret=pl4nted", "https://bot.example/?secret=[redacted]"],
    ["X-Note", "pl4nted", "[redacted]"],
  ])("do not contain a known secret in %s", (name, value, shown) => {
    expect(record([[name, value]])).toEqual({ [name.toLowerCase()]: shown });
  });

  test("contain the others by lower-case name", () => {
    const entries = [
      ["Host", "bot.example"],
      ["Content-Type", "application/json"],
      ["Webhook-Id", "d-1"],
      ["X-Request-Id", "r-1"],
    ] as const;
    expect(record(entries)).toEqual({
      host: "bot.example",
      "content-type": "application/json",
      "webhook-id": "d-1",
      "x-request-id": "r-1",
    });
  });

  test("join repeated headers", () => {
    const entries = [
      ["Via", "1.1 a"],
      ["via", "1.1 b"],
    ] as const;
    expect(record(entries)).toEqual({ via: "1.1 a, 1.1 b" });
  });

  test("are at most 4,096 characters", () => {
    const entries = Array.from({ length: 100 }, (_, index) => [`x-${index}`, "y".repeat(200)] as const);
    const recorded = record(entries);
    expect(JSON.stringify(recorded).length).toBeLessThan(4_500);
    expect(Object.keys(recorded).length).toBeGreaterThan(15);
    expect(record([["x-long", "y".repeat(5_000)]])).toEqual({});
  });

  test("can have the name of a property of objects", () => {
    const recorded = recordHeaders(
      [
        ["__proto__", "a"],
        ["constructor", "b"],
        ["toString", "c"],
      ],
      redact,
    );
    expect(Object.entries(recorded)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["tostring", "c"],
    ]);
  });
});

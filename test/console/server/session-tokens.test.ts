import { describe, expect, test } from "vitest";
import { SessionTokens } from "../../../src/console/server/access.ts";

const week = 7 * 24 * 3_600_000;

function createTokens(secret: string | undefined, clock = { now: 1_000_000 }) {
  return { clock, tokens: new SessionTokens({ secret, now: () => clock.now }) };
}

describe("A session", () => {
  test("is valid in each process with the same secret", async () => {
    const { tokens } = createTokens("s3cret");
    const value = await tokens.create();
    const session = await tokens.verify(value);
    expect(session?.csrfToken).toMatch(/^[\da-f]{64}$/);
    expect((await createTokens("s3cret").tokens.verify(value))?.csrfToken).toBe(session?.csrfToken);
  });

  test("is not valid with another secret", async () => {
    const value = await createTokens("s3cret").tokens.create();
    expect(await createTokens("other").tokens.verify(value)).toBeUndefined();
    expect(await createTokens(undefined).tokens.verify(value)).toBeUndefined();
  });

  test("without a secret is only valid for the object that created it", async () => {
    const { tokens } = createTokens(undefined);
    const value = await tokens.create();
    expect(await tokens.verify(value)).toBeDefined();
    expect(await createTokens(undefined).tokens.verify(value)).toBeUndefined();
  });

  test("expires after a week", async () => {
    const { tokens, clock } = createTokens("s3cret");
    const value = await tokens.create();
    clock.now += week - 1;
    expect(await tokens.verify(value)).toBeDefined();
    clock.now += 1;
    expect(await tokens.verify(value)).toBeUndefined();
    expect(tokens.maxAgeSeconds).toBe(week / 1_000);
  });

  test("has its own value and CSRF token, which do not contain the secret", async () => {
    const { tokens } = createTokens("s3cret");
    const values = await Promise.all(Array.from({ length: 20 }, () => tokens.create()));
    const sessions = await Promise.all(values.map((value) => tokens.verify(value)));
    expect(new Set(values).size).toBe(20);
    expect(new Set(sessions.map((session) => session?.csrfToken)).size).toBe(20);
    expect(JSON.stringify([values, sessions])).not.toContain("s3cret");
  });

  test("is not valid if one character changes", async () => {
    const { tokens } = createTokens("s3cret");
    const value = await tokens.create();
    for (let index = 0; index < value.length; index += 1) {
      const other = value[index] === "1" ? "2" : "1";
      const forged = `${value.slice(0, index)}${other}${value.slice(index + 1)}`;
      expect([forged, await tokens.verify(forged)]).toEqual([forged, undefined]);
    }
  });

  test.each([
    ["nothing", () => ""],
    ["no signature", (value: string) => value.split(".").slice(0, 2).join(".")],
    ["an empty signature", (value: string) => `${value.split(".").slice(0, 2).join(".")}.`],
    ["a later expiry", (value: string) => `zzzzzzzzzz.${value.split(".").slice(1).join(".")}`],
    ["an additional part", (value: string) => `${value}.x`],
    ["an upper-case signature", (value: string) => value.replace(/[^.]+$/, (signature) => signature.toUpperCase())],
    ["a longer signature", (value: string) => `${value}00`],
    ["another signature", (value: string) => value.replace(/[^.]+$/, "0".repeat(64))],
    ["the CSRF token as its signature", (value: string, csrf: string) => value.replace(/[^.]+$/, csrf)],
    ["a long value", () => "x".repeat(100_000)],
  ])("is not valid with %s", async (_what, forge) => {
    const { tokens } = createTokens("s3cret");
    const value = await tokens.create();
    const session = await tokens.verify(value);
    expect(await tokens.verify(forge(value, session?.csrfToken ?? ""))).toBeUndefined();
  });
});

test("The name of the cookie depends on the secret only, so that two servers on one host do not sign each other out", async () => {
  const name = await createTokens("s3cret").tokens.cookieName();
  expect(name).toMatch(/^hub_webhooks_[\da-f]{12}$/);
  expect(await createTokens("s3cret").tokens.cookieName()).toBe(name);
  expect(await createTokens("other").tokens.cookieName()).not.toBe(name);
});

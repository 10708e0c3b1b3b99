import { describe, expect, test } from "vitest";
import { WebhookError } from "../../src/index.ts";

/** Loads a second instance of the module, as in a program with two copies of the package. */
async function loadAnotherCopy(): Promise<typeof import("../../src/core/errors.ts")> {
  const address = new URL("../../src/core/errors.ts?another-copy", import.meta.url);
  return import(address.href);
}

describe("A WebhookError", () => {
  test("is an error with a code, without options that were not given", () => {
    const error = new WebhookError("There is nothing at this path.", { code: "NOT_FOUND" });
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.message, error.code]).toEqual([
      "WebhookError",
      "There is nothing at this path.",
      "NOT_FOUND",
    ]);
    expect([error.status, error.retryable, error.retryAfterSeconds]).toEqual([undefined, false, undefined]);
    expect("cause" in error).toBe(false);
    expect(error.stack).toContain("errors.test.ts");
  });

  test("keeps the options", () => {
    const cause = new Error("EADDRINUSE");
    const error = new WebhookError("failed", {
      code: "CLOSING",
      status: 503,
      retryable: true,
      retryAfterSeconds: 5,
      cause,
    });
    expect(error).toMatchObject({ status: 503, retryable: true, retryAfterSeconds: 5 });
    expect(error.cause).toBe(cause);
  });

  test("keeps a falsy cause except undefined", () => {
    expect(new WebhookError("failed", { code: "INTERNAL", cause: 0 }).cause).toBe(0);
    expect(new WebhookError("failed", { code: "INTERNAL", cause: null }).cause).toBeNull();
  });
});

describe("WebhookError.isInstance", () => {
  test("recognizes errors of any copy of this package", async () => {
    const copy = await loadAnotherCopy();
    expect(copy.WebhookError).not.toBe(WebhookError);
    const theirs = new copy.WebhookError("failed", { code: "INTERNAL" });
    const ours = new WebhookError("failed", { code: "INTERNAL" });
    expect(theirs).not.toBeInstanceOf(WebhookError);
    expect([WebhookError.isInstance(theirs), copy.WebhookError.isInstance(ours)]).toEqual([true, true]);
    expect([WebhookError.isInstance(ours), copy.WebhookError.isInstance(theirs)]).toEqual([true, true]);
  });

  test("recognizes errors of a subclass", () => {
    class BotError extends WebhookError {}
    expect(WebhookError.isInstance(new BotError("failed", { code: "INTERNAL" }))).toBe(true);
  });

  test.each([
    ["another error", new Error("failed")],
    ["an object that looks like one", { name: "WebhookError", code: "INTERNAL", message: "failed" }],
    ["a text", "WebhookError"],
    ["null", null],
    ["undefined", undefined],
    ["the class itself", WebhookError],
  ])("returns false for %s", (_what, value) => {
    expect(WebhookError.isInstance(value)).toBe(false);
  });
});

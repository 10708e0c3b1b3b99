import { describe, expect, test } from "vitest";
import { describeError, readField, toError } from "../../src/core/describe.ts";
import { HubError } from "../../src/core/errors.ts";
import { WebhookError } from "../../src/index.ts";
import { isNonRetriable, retryTimeOf } from "../../src/receiver/handler.ts";
import { hostileValues } from "../support/hostile-values.ts";

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

describe("The description of a thrown value", () => {
  test("contains the name, message, code, stack and causes of an error", () => {
    const cause = Object.assign(new TypeError("no socket"), { code: "ECONNREFUSED" });
    expect(describeError(new WebhookError("No Hub.", { code: "HUB_UNREACHABLE", cause }))).toEqual({
      name: "WebhookError",
      message: "No Hub.",
      code: "HUB_UNREACHABLE",
      stack: expect.stringContaining("No Hub."),
      cause: {
        name: "TypeError",
        message: "no socket",
        code: "ECONNREFUSED",
        stack: expect.stringContaining("no socket"),
      },
    });
  });

  test.each([
    ["a string", "no GPU", { name: "string", message: "no GPU" }],
    ["undefined", undefined, { name: "undefined", message: "undefined" }],
    ["null", null, { name: "null", message: "null" }],
    ["a symbol", Symbol("x"), { name: "symbol", message: "Symbol(x)" }],
    ["an object with a message", { message: "no GPU" }, { name: "Object", message: "no GPU" }],
    ["an object without one", {}, { name: "Object", message: "[object Object]" }],
    ["an error without a message", Object.assign(new Error(), { stack: 1 }), { name: "Error", message: "" }],
    [
      "several errors in one",
      Object.assign(new AggregateError([new Error("refused")]), { stack: 1 }),
      { name: "AggregateError", message: "refused" },
    ],
  ])("has a name and a message where it is %s", (_what, thrown, described) => {
    expect(describeError(thrown)).toEqual(described);
  });

  test("ends if the causes form a cycle", () => {
    const error: Error & { cause?: unknown } = new Error("round");
    error.cause = error;
    expect(JSON.stringify(describeError(error)).match(/"message":"round"/g)).toHaveLength(6);
  });
});

test("toError() returns a thrown error unchanged, and wraps any other value", () => {
  const error = new TypeError("no GPU");
  expect(toError(error)).toBe(error);
  expect(toError("no GPU")).toEqual(new Error("no GPU"));
});

test.each(Object.entries(hostileValues()))("%s is described as plain data, and can be retried", (_what, thrown) => {
  const described = describeError(thrown);
  expect(described).toEqual({ ...described, name: expect.any(String), message: expect.any(String) });
  expect(JSON.parse(JSON.stringify(described))).toEqual(described);
  expect(toError(thrown)).toEqual(expect.any(Error));
  for (const name of ["message", "stack", "code", "cause", "job"]) {
    expect(() => readField(thrown, name)).not.toThrow();
  }
  expect([WebhookError.isInstance(thrown), HubError.isInstance(thrown)]).toEqual([false, false]);
  expect([isNonRetriable(thrown), retryTimeOf(thrown)]).toEqual([false, undefined]);
});

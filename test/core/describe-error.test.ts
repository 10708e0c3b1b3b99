import { describe, expect, test } from "vitest";
import { describeError, readField, toError } from "../../src/core/describe.ts";
import { HubError, WebhookError } from "../../src/core/errors.ts";
import { isNonRetriable, retryTimeOf } from "../../src/receiver/handler.ts";
import { hostileValues } from "../support/hostile-values.ts";

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
  ])("says what it is where it is %s", (_what, thrown, described) => {
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

import { expect, test } from "vitest";
import { RepeatedErrors } from "../../src/inbox/errors.ts";

test("An error with the same message is logged at most once a minute", () => {
  let now = 0;
  const errors = new RepeatedErrors(() => now);
  const logged = (message: string) => errors.shouldLog(new Error(message));
  expect([logged("read failed"), logged("read failed"), logged("write failed")]).toEqual([true, false, true]);
  now = 59_999;
  expect(logged("read failed")).toBe(false);
  now = 60_000;
  expect([logged("read failed"), logged("read failed")]).toEqual([true, false]);
});

import { expect, test } from "vitest";
import { findSharedMessage } from "../../../../src/console/app/endpoints/endpoints-model.ts";

const unknown = { registration: { state: "unknown", message: "No token." } } as const;

test("A message that two or more endpoints with an unknown registration have is shared", () => {
  expect(findSharedMessage([unknown, unknown])).toBe("No token.");
  expect(findSharedMessage([unknown])).toBeUndefined();
  expect(findSharedMessage([])).toBeUndefined();
});

test.each([
  { registration: { state: "unknown", message: "The Hub does not respond." } },
  { registration: { state: "missing", message: "No token." } },
  {},
] as const)("A message is not shared with %j", (other) => {
  expect(findSharedMessage([unknown, other])).toBeUndefined();
  expect(findSharedMessage([other, unknown])).toBeUndefined();
});

import { expect } from "vitest";

/** `expect.poll` with the patience that the start of a process on a busy machine takes. */
export function eventually<Value>(read: () => Value) {
  return expect.poll(read, { timeout: 15_000 });
}

import { vi } from "vitest";

/** `vi.waitFor` with a longer default timeout, because 1 s is too short to start a process on a busy machine. */
export function waitFor<Value>(
  check: () => Value | Promise<Value>,
  options: { interval?: number; timeout?: number } = {},
): Promise<Value> {
  return vi.waitFor(check, { timeout: 15_000, ...options });
}

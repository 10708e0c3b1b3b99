import { vi } from "vitest";

/** `vi.waitFor` with the patience that a busy machine takes: its own second is over before a process has started. */
export function waitFor<Value>(
  check: () => Value | Promise<Value>,
  options: { interval?: number } = {},
): Promise<Value> {
  return vi.waitFor(check, { timeout: 15_000, ...options });
}

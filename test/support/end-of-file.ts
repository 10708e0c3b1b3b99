import { afterAll, vi } from "vitest";

/*
 * Test files share a process. Vitest restores the environment before each test, but the imports of the next file run before its first
 * test, and would still see the variables of the last one.
 */
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

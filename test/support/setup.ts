import { afterAll, vi } from "vitest";
import "./bundled-thread.ts";

/*
 * Test files share a process. Vitest restores the environment before each test, but the imports of the next file run before its first
 * test, and would still see the variables of the last one. The tests of the examples assign variables without `vi.stubEnv`.
 */
const environment = { ...process.env };

afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

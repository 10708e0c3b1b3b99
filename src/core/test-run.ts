import { readEnvironment } from "./environment.ts";

/**
 * Whether a test runner started this process: vitest, `node --test`, or a test runner that sets `NODE_ENV`, such as Jest.
 */
export function isTestRun(): boolean {
  return (
    readEnvironment("VITEST") !== undefined ||
    readEnvironment("NODE_TEST_CONTEXT") !== undefined ||
    readEnvironment("NODE_ENV") === "test"
  );
}

import { readEnvironment } from "../core/environment.ts";

/** The Space that the process runs in (`SPACE_ID`, `SPACE_HOST`; the Hub's documentation of Spaces). */
export interface Space {
  /** Such as `acme/bot`. */
  id: string;
  /** Public address, without a trailing slash. */
  url: string;
}

/** Returns the Space that the process runs in; `undefined` outside of Spaces. */
export function readSpace(): Space | undefined {
  const id = readEnvironment("SPACE_ID");
  const host = readEnvironment("SPACE_HOST");
  return id && host ? { id, url: `https://${host}` } : undefined;
}

/** Whether a test runner started this process: vitest, `node --test`, or any that sets `NODE_ENV`, as Jest does. */
export function isTestRun(): boolean {
  return (
    readEnvironment("VITEST") !== undefined ||
    readEnvironment("NODE_TEST_CONTEXT") !== undefined ||
    readEnvironment("NODE_ENV") === "test"
  );
}

/**
 * Reads an environment variable. Treats an empty variable as unset. Returns `undefined` on edge workers, which have no
 * `process` and receive their settings with each request.
 */
export function readEnvironment(name: string): string | undefined {
  return readRawEnvironment(name) || undefined;
}

/** Like {@link readEnvironment}, but returns an empty string for an empty variable. */
export function readRawEnvironment(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

/** The Space in which the process runs. The Hub sets `SPACE_ID` and `SPACE_HOST` in a Space. */
export interface Space {
  /** The name of the Space, such as `acme/bot`. */
  id: string;
  /** The public URL of the Space, without a trailing slash. */
  url: string;
}

/** Returns the Space in which the process runs, or `undefined` outside of Spaces. `read` reads an environment variable. */
export function readSpace(read: (name: string) => string | undefined = readEnvironment): Space | undefined {
  const id = read("SPACE_ID");
  const host = read("SPACE_HOST");
  // A Space of a local Hub.
  const scheme = /^127\.0\.0\.1(?::|$)/.test(host ?? "") ? "http" : "https";
  return id && host ? { id, url: `${scheme}://${host}` } : undefined;
}

/** Whether a test runner started this process: vitest, `node --test`, or one that sets `NODE_ENV`, such as Jest. */
export function isTestRun(): boolean {
  return (
    readEnvironment("VITEST") !== undefined ||
    readEnvironment("NODE_TEST_CONTEXT") !== undefined ||
    readEnvironment("NODE_ENV") === "test"
  );
}

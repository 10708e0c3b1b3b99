import { readEnvironment } from "../core/environment.ts";

/** The Space that the process runs in (`SPACE_ID`, `SPACE_HOST`; the Hub's documentation of Spaces). */
export interface Space {
  /** Such as `acme/bot`. */
  id: string;
  /** Public address, without a trailing slash. */
  url: string;
}

/** Returns the Space that the process runs in; `undefined` outside of Spaces. `read` returns an environment variable. */
export function readSpace(read: (name: string) => string | undefined = readEnvironment): Space | undefined {
  const id = read("SPACE_ID");
  const host = read("SPACE_HOST");
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

/*
 * Bun and `deno serve` serve the default export of the main module if it has `fetch`. After `launch()` the server listens
 * by itself, and the runtime must not open a second port: Bun would take 3000, or fail with EADDRINUSE if PORT is set.
 *
 * Both look at the default export after the module has run, so `launch()` can opt out before its first await:
 * - Bun skips objects with a function `stop`: it takes them for the result of `Bun.serve()`.
 * - Deno looks for an own property `fetch`. `deno run` would also suggest `deno serve`.
 */

/** Lets the runtime serve an object that is the default export of the main module. */
export function serveDefaultExport(server: object, fetch: unknown): void {
  Object.defineProperty(server, "fetch", { value: fetch, enumerable: true, configurable: true });
}

/** Keeps the runtime from serving it. The prototype still has `fetch`. */
export function stopServingDefaultExport(server: { close(): Promise<void> }): void {
  Reflect.deleteProperty(server, "fetch");
  Object.defineProperty(server, "stop", { value: () => server.close(), configurable: true });
}

import { readEnvironment } from "../core/environment.ts";

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
  return id && host ? { id, url: `https://${host}` } : undefined;
}

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

/*
 * Bun and `deno serve` serve the default export of the main module if it has a `fetch` method. After `launch()`, the server
 * listens itself, and the runtime must not open a second port: Bun would open port 3000, or fail with EADDRINUSE if PORT is set.
 *
 * Both runtimes check the default export after the module has run, so `launch()` can opt out before its first `await`:
 * - Bun ignores objects with a `stop` method, which are usually results of `Bun.serve()`.
 * - Deno requires an own property `fetch`. `deno run` would also suggest `deno serve` if this property existed.
 */

/** Enables the runtime to serve `server` if it is the default export of the main module. */
export function serveDefaultExport(server: object, fetch: unknown): void {
  Object.defineProperty(server, "fetch", { value: fetch, enumerable: true, configurable: true });
}

/** Prevents the runtime from serving `server`. The prototype still has a `fetch` method. */
export function stopServingDefaultExport(server: { close(): Promise<void> }): void {
  Reflect.deleteProperty(server, "fetch");
  Object.defineProperty(server, "stop", { value: () => server.close(), configurable: true });
}

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

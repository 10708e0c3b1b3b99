/*
 * Bun and `deno serve` serve the default export of the main module if it has a `fetch` method. After `launch()`, the server
 * listens itself, and the runtime must not open a second port: Bun would open port 3000, or fail with EADDRINUSE if PORT is set.
 *
 * Both runtimes check the default export after the module has run, so `launch()` can opt out before its first `await`:
 * - Bun ignores objects with a `stop` method, which are usually results of `Bun.serve()`.
 * - Deno only serves objects with an own `fetch` property. If this property existed, `deno run` would also suggest
 *   `deno serve`.
 */

/** Enables the runtime to serve `server` if it is the default export of the main module. */
export function serveDefaultExport(server: object, fetch: unknown): void {
  Object.defineProperty(server, "fetch", { value: fetch, enumerable: true, configurable: true });
}

/**
 * Prevents the runtime from serving `server`: Deno requires an own `fetch` property, and Bun ignores objects with a
 * `stop` method. The prototype of `server` still has `fetch`.
 */
export function stopServingDefaultExport(server: { close(): Promise<void> }): void {
  Reflect.deleteProperty(server, "fetch");
  Object.defineProperty(server, "stop", { value: () => server.close(), configurable: true });
}

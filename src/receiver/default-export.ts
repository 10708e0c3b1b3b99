/*
 * `export default server` means two things. Without `launch()` the runtime serves it: Bun does so for the default export
 * of the file it is started with, and so does `deno serve`. With `launch()` the server listens by itself, and the
 * runtime must not open a second port: Bun would take 3000, or fail with EADDRINUSE where PORT is set.
 *
 * Both runtimes look at the default export once its module has been evaluated, so `launch()` can still say no before its
 * first await:
 * - Bun leaves out what has a function `stop`: it takes that for what `Bun.serve()` returns, which listens already.
 * - Deno looks for `fetch` as an own property. `deno run` would also print that `deno serve` is meant.
 */

/** Makes the runtime serve an object that is the default export of its main module. */
export function serveDefaultExport(server: object, fetch: unknown): void {
  Object.defineProperty(server, "fetch", { value: fetch, enumerable: true, configurable: true });
}

/** Keeps the runtime from it. `fetch` has to be on the prototype as well, where everything else finds it. */
export function stopServingDefaultExport(server: { close(): Promise<void> }): void {
  Reflect.deleteProperty(server, "fetch");
  Object.defineProperty(server, "stop", { value: () => server.close(), configurable: true });
}

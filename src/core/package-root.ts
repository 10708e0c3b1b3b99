/** Whether this runs from the sources rather than from the bundled package. */
const isSource = import.meta.url.endsWith(".ts");

/** The root folder of this package, with a slash at the end. */
export const packageRoot = new URL(isSource ? "../../" : "../", import.meta.url);

/**
 * The URL of a file that runs in a thread or a process of its own. In the sources it lies beside the module that starts
 * it; the bundler puts all of them beside its chunks.
 *
 * @param name without extension, and unique in this package.
 * @example
 * ```ts
 * new Worker(programUrl("background-writer-thread", import.meta.url));
 * ```
 */
export function programUrl(name: string, moduleUrl: string): URL {
  return new URL(`./${name}.${isSource ? "ts" : "js"}`, moduleUrl);
}

/** Whether this module runs from the TypeScript sources rather than from the bundled package. */
const isSource = import.meta.url.endsWith(".ts");

/** The URL of the root folder of this package, with a trailing slash. */
export const packageRoot = new URL(isSource ? "../../" : "../", import.meta.url);

/**
 * Returns the URL of a file that runs in a separate thread or process. In the sources, the file is in the folder of the
 * module that starts it. In the bundled package, all of these files are in the folder of the bundled chunks.
 *
 * @param name the file name without its extension. It must be unique in this package.
 * @example
 * ```ts
 * new Worker(programUrl("background-maintenance-thread", import.meta.url));
 * ```
 */
export function programUrl(name: string, moduleUrl: string): URL {
  return new URL(`./${name}.${isSource ? "ts" : "js"}`, moduleUrl);
}

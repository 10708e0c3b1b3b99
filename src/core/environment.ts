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

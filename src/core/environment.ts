/**
 * Reads an environment variable; an empty one counts as unset. Always `undefined` in workers, which have no `process` and get
 * their settings with each request.
 */
export function readEnvironment(name: string): string | undefined {
  return readRawEnvironment(name) || undefined;
}

/** Like {@link readEnvironment}, but an empty variable is an empty text. */
export function readRawEnvironment(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

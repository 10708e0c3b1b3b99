/**
 * Reads an environment variable where the runtime has any; an empty one counts as not set. Workers have no `process`:
 * there, settings come with each request.
 */
export function readEnvironment(name: string): string | undefined {
  return readRawEnvironment(name) || undefined;
}

/** The same, but an empty variable is an empty text. */
export function readRawEnvironment(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

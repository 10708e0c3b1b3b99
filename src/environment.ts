/**
 * Reads an environment variable where the runtime has any; an empty one counts as not set. Workers have no `process`:
 * there, settings come with each request.
 */
export function readEnvironment(name: string): string | undefined {
  const value = typeof process === "undefined" ? undefined : process.env?.[name];
  return value === "" ? undefined : value;
}

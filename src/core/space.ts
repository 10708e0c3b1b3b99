import { readEnvironment } from "./environment.ts";

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

import { readEnvironment } from "../core/environment.ts";

/** The Space of the Hub that the process runs in (`SPACE_ID`, `SPACE_HOST`; the Hub's documentation of Spaces). */
export interface Space {
  /** Such as `acme/bot`. */
  id: string;
  /** Its public address, without a trailing slash. */
  url: string;
}

/** Reads which Space this is, if any. */
export function readSpace(): Space | undefined {
  const id = readEnvironment("SPACE_ID");
  const host = readEnvironment("SPACE_HOST");
  return id && host ? { id, url: `https://${host}` } : undefined;
}

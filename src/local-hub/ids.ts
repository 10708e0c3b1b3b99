import { createHash, randomBytes } from "node:crypto";

/** Creates an id in the format of the Hub. */
export function createId(): string {
  return randomBytes(12).toString("hex");
}

/** Creates the id of a commit. */
export function createSha(): string {
  return randomBytes(20).toString("hex");
}

/** Derives an id from a text: always the same for the same text. */
export function deriveId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

import { createHash, randomBytes } from "node:crypto";

/** A new id, of the form that the Hub's have. */
export function newId(): string {
  return randomBytes(12).toString("hex");
}

/** The id of a new commit. */
export function newSha(): string {
  return randomBytes(20).toString("hex");
}

/** An id that is always the same for the same text. */
export function objectIdOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

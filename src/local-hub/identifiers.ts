import { randomBytes } from "node:crypto";

/** A new id, of the form that the Hub's have. */
export function newId(): string {
  return randomBytes(12).toString("hex");
}

/** The id of a new commit. */
export function newSha(): string {
  return randomBytes(20).toString("hex");
}

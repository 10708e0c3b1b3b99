import { createHash, randomBytes } from "node:crypto";

/** Creates a random ID in the Hub's format. */
export function createId(): string {
  return randomBytes(12).toString("hex");
}

/** Creates a random commit ID. */
export function createSha(): string {
  return randomBytes(20).toString("hex");
}

/** Derives an ID from a text. The same text always results in the same ID. */
export function deriveId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

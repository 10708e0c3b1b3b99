import { createHash, randomBytes } from "node:crypto";

/** The bytes for the next IDs. Requesting them for each ID would take a tenth of the time of an event. */
let pool = randomBytes(0);
let used = 0;
const poolBytes = 8 * 1024;

/** Creates a random ID in the Hub's format. */
export function createId(): string {
  return takeHex(12);
}

/** Creates a random commit ID. */
export function createSha(): string {
  return takeHex(20);
}

function takeHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(poolBytes);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

/** Derives an ID from a text. The same text always results in the same ID. */
export function deriveId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

import { createHash } from "node:crypto";

/** The types of git objects. */
type ObjectType = "blob" | "tree" | "commit";

/** The number of hexadecimal digits of a git object ID. */
export const objectIdLength = 40;

/** Computes git's ID of an object, so that a git clone of the same content would have the same IDs. */
export function hashObject(type: ObjectType, content: Uint8Array): string {
  return createHash("sha1").update(`${type} ${content.byteLength}\0`).update(content).digest("hex");
}

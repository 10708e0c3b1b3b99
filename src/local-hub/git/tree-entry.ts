import { createHash } from "node:crypto";

/** A file or a folder in a tree. */
export interface TreeEntry {
  name: string;
  type: "file" | "directory";
  /** The ID of the blob or tree. The blob of a file in LFS is its pointer file. */
  oid: string;
  /** The size in bytes: of the content for files, also in LFS, and `0` for folders. */
  size: number;
  /** Present if the content of the file is in LFS. */
  lfs?: LfsFile;
}

/** The content of a file in LFS. */
export interface LfsFile {
  /** The SHA-256 of the content, in hexadecimal digits. */
  oid: string;
  size: number;
  /** The size of the pointer file in git. */
  pointerSize: number;
}

/** A file or folder, with its path from the root of the repository. */
export interface FileEntry extends Omit<TreeEntry, "name"> {
  path: string;
}

/** Returns the pointer file that git stores instead of a file in LFS. */
export function lfsPointer({ oid, size }: { oid: string; size: number }): Uint8Array {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);
}

const pointerPattern =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (0|[1-9]\d{0,14})\n$/;
const maxPointerBytes = 200;

/** Returns the file in LFS to which a pointer file points, or `undefined` for other content. */
export function parseLfsPointer(content: Uint8Array): { oid: string; size: number } | undefined {
  if (content.byteLength > maxPointerBytes) return undefined;
  const [, oid, size] = pointerPattern.exec(Buffer.from(content).toString("latin1")) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}

/** Sorts the entries of a tree like git, which compares bytes and treats folders as names that end in a slash. */
export function sortEntries(entries: Iterable<TreeEntry>): TreeEntry[] {
  const keyed = Array.from(entries, (entry) => ({
    entry,
    key: entry.type === "directory" ? `${entry.name}/` : entry.name,
  }));
  return keyed.sort((one, other) => compareBytes(one.key, other.key)).map(({ entry }) => entry);
}

/** Matches characters that have another order in UTF-16 than in UTF-8. */
const reordered = /[\ud800-\uffff]/;

/** Compares texts by their bytes in UTF-8. Encoding every name would double the time of a commit to a large folder. */
function compareBytes(one: string, other: string): number {
  if (reordered.test(one) && reordered.test(other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : Number(one > other);
}

/** Computes git's ID of a tree from its sorted entries. */
export function hashTree(entries: readonly TreeEntry[]): string {
  // One buffer for all entries. A character has at most three bytes per UTF-16 unit, and an ID has 20 bytes.
  const content = Buffer.allocUnsafe(entries.reduce((sum, { name }) => sum + 3 * name.length + 28, 0));
  let length = 0;
  for (const { name, type, oid } of entries) {
    length += content.write(`${type === "directory" ? "40000" : "100644"} ${name}\0`, length);
    length += content.write(oid, length, "hex");
  }
  return hashObject("tree", content.subarray(0, length));
}

// A line per entry is read several times faster than JSON. Names contain neither tabs nor line feeds (path.ts).

/** Serializes the entries of a tree for the database. */
export function formatEntries(entries: readonly TreeEntry[]): string {
  return entries
    .map(({ name, type, oid, size, lfs }) =>
      [type === "directory" ? "d" : "f", oid, size, lfs?.oid ?? "", lfs?.pointerSize ?? "", name].join("\t"),
    )
    .join("\n");
}

/** Reads the entries that {@link formatEntries} wrote. */
export function parseEntries(text: string): TreeEntry[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [type, oid = "", sizeText, lfsOid = "", pointerSize, name = ""] = line.split("\t");
    const size = Number(sizeText);
    const entry: TreeEntry = { name, type: type === "d" ? "directory" : "file", oid, size };
    if (lfsOid !== "") entry.lfs = { oid: lfsOid, size, pointerSize: Number(pointerSize) };
    return entry;
  });
}

/** The types of git objects. */
type ObjectType = "blob" | "tree" | "commit";

/** The number of hexadecimal digits of a git object ID. */
export const objectIdLength = 40;

/** Computes git's ID of an object, so that a git clone of the same content would have the same IDs. */
export function hashObject(type: ObjectType, content: Uint8Array): string {
  return createHash("sha1").update(`${type} ${content.byteLength}\0`).update(content).digest("hex");
}

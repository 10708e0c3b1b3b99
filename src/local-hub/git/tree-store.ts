import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { LargeFile } from "./large-files.ts";

type Tree = ReadonlyMap<string, TreeEntry>;

export interface ChangedPath {
  path: string;
  /** Missing if the file was added. */
  before?: FileEntry;
  /** Missing if the file was deleted. */
  after?: FileEntry;
}

const emptyTree: Tree = new Map();
/** The maximum number of entries in the cache, in all trees together. Reading a tree of 10,000 entries takes 5 ms. */
const maxCachedEntries = 30_000;

/** Stores trees by their ID. A tree contains all entries of one folder, in git's order. */
export class TreeStore {
  readonly #read;
  readonly #write;
  readonly #cache = new Map<string, Tree>();
  #cachedEntries = 0;

  constructor(database: DatabaseSync) {
    this.#read = database.prepare("SELECT entries FROM trees WHERE oid = ?");
    this.#write = database.prepare("INSERT OR IGNORE INTO trees (oid, entries) VALUES (?, ?)");
  }

  /** Returns the entries of a tree. `undefined` stands for an empty tree. */
  get(oid: string | undefined): Tree {
    if (oid === undefined) return emptyTree;
    const cached = this.#cache.get(oid);
    if (cached) return cached;
    const row = this.#read.get(oid);
    return this.#remember(oid, row ? parseEntries(String(row.entries)) : []);
  }

  put(entries: Iterable<TreeEntry>): string {
    const sorted = sortEntries(entries);
    const oid = hashTree(sorted);
    this.#write.run(oid, formatEntries(sorted));
    this.#remember(oid, sorted);
    return oid;
  }

  /** Returns the entry of a path, or `undefined` if there is none. The empty path is the root. */
  find(root: string, path: string): FileEntry | undefined {
    let found: FileEntry = { path: "", type: "directory", oid: root, size: 0 };
    if (path === "") return found;
    for (const name of path.split("/")) {
      const entry = found.type === "directory" ? this.get(found.oid).get(name) : undefined;
      if (!entry) return undefined;
      found = toFile(entry, joinPath(found.path, name));
    }
    return found;
  }

  /** Returns the entries of a folder in git's order. With `recursive`, each folder is followed by its entries. */
  *list(root: string | undefined, { path = "", recursive = false } = {}): Generator<FileEntry> {
    const folder = root === undefined ? undefined : this.find(root, path);
    if (folder?.type !== "directory") return;
    for (const entry of this.get(folder.oid).values()) {
      const file = toFile(entry, joinPath(path, entry.name));
      yield file;
      if (recursive && entry.type === "directory") yield* this.#listTree(entry.oid, file.path);
    }
  }

  *#listTree(tree: string, path: string): Generator<FileEntry> {
    for (const entry of this.get(tree).values()) {
      const file = toFile(entry, joinPath(path, entry.name));
      yield file;
      if (entry.type === "directory") yield* this.#listTree(entry.oid, file.path);
    }
  }

  /** Returns the files that differ between two trees, in git's order. Does not read identical folders. */
  *compare(before: string | undefined, after: string | undefined, path = ""): Generator<ChangedPath> {
    if (before === after) return;
    const [old, current] = [this.get(before), this.get(after)];
    const names = new Map([...old, ...current]);
    const ordered = old.size === 0 || current.size === 0 ? names.values() : sortEntries(names.values());
    for (const { name } of ordered) {
      yield* this.#compareEntry(old.get(name), current.get(name), joinPath(path, name));
    }
  }

  *#compareEntry(before: TreeEntry | undefined, after: TreeEntry | undefined, path: string): Generator<ChangedPath> {
    if (before?.oid === after?.oid && before?.type === after?.type) return;
    const [oldFolder, newFolder] = [before, after].map((entry) =>
      entry?.type === "directory" ? entry.oid : undefined,
    );
    const oldFile = before?.type === "file" ? toFile(before, path) : undefined;
    const newFile = after?.type === "file" ? toFile(after, path) : undefined;
    if (oldFile || newFile) yield { path, ...(oldFile && { before: oldFile }), ...(newFile && { after: newFile }) };
    yield* this.compare(oldFolder, newFolder, path);
  }

  /** Forgets trees that a rolled-back transaction did not store. */
  clearCache(): void {
    this.#cache.clear();
    this.#cachedEntries = 0;
  }

  #remember(oid: string, entries: readonly TreeEntry[]): Tree {
    const tree = new Map(entries.map((entry) => [entry.name, entry]));
    if (this.#cachedEntries + tree.size > maxCachedEntries) this.clearCache();
    if (!this.#cache.has(oid)) this.#cachedEntries += tree.size;
    this.#cache.set(oid, tree);
    return tree;
  }
}

function toFile({ name: _name, ...entry }: TreeEntry, path: string): FileEntry {
  return { path, ...entry };
}

function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export interface TreeEntry {
  name: string;
  type: "file" | "directory";
  /** The ID of the blob or tree. The blob of a file in LFS is its pointer file. */
  oid: string;
  /** The size in bytes: of the content for files, also in LFS, and `0` for folders. */
  size: number;
  /** Present if the content of the file is in LFS, with the size of the pointer file in git. */
  lfs?: LargeFile & { pointerSize: number };
}

/** A file or folder, with its path from the root of the repository. */
export interface FileEntry extends Omit<TreeEntry, "name"> {
  path: string;
}

export function lfsPointer({ oid, size }: LargeFile): Uint8Array {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);
}

const pointerPattern =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (0|[1-9]\d{0,14})\n$/;
const maxPointerBytes = 200;

/** Returns the file in LFS to which a pointer file points, or `undefined` for other content. */
export function parseLfsPointer(content: Uint8Array): LargeFile | undefined {
  if (content.byteLength > maxPointerBytes) return undefined;
  const [, oid, size] = pointerPattern.exec(Buffer.from(content).toString("latin1")) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}

/** Sorts the entries of a tree like git, which compares bytes and treats folders as names that end in a slash. */
function sortEntries(entries: Iterable<TreeEntry>): TreeEntry[] {
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

function hashTree(entries: readonly TreeEntry[]): string {
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

function formatEntries(entries: readonly TreeEntry[]): string {
  return entries
    .map(({ name, type, oid, size, lfs }) =>
      [type === "directory" ? "d" : "f", oid, size, lfs?.oid ?? "", lfs?.pointerSize ?? "", name].join("\t"),
    )
    .join("\n");
}

function parseEntries(text: string): TreeEntry[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [type, oid = "", sizeText, lfsOid = "", pointerSize, name = ""] = line.split("\t");
    const size = Number(sizeText);
    const entry: TreeEntry = { name, type: type === "d" ? "directory" : "file", oid, size };
    if (lfsOid !== "") entry.lfs = { oid: lfsOid, size, pointerSize: Number(pointerSize) };
    return entry;
  });
}

type ObjectType = "blob" | "tree" | "commit";

export const objectIdLength = 40;

/** Computes git's ID of an object, so that a git clone of the same content would have the same IDs. */
export function hashObject(type: ObjectType, content: Uint8Array): string {
  return createHash("sha1").update(`${type} ${content.byteLength}\0`).update(content).digest("hex");
}

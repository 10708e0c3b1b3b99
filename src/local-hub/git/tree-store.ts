import type { DatabaseSync } from "node:sqlite";
import { type FileEntry, formatEntries, hashTree, parseEntries, sortEntries, type TreeEntry } from "./tree-entry.ts";

/** A folder at one point in time. */
export type Tree = ReadonlyMap<string, TreeEntry>;

/** A path that differs between two trees. */
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

  /** Stores a tree, and returns its ID. */
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
      if (recursive && entry.type === "directory" && root !== undefined) {
        yield* this.#listTree(entry.oid, file.path);
      }
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

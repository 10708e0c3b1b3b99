import type { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { WebhookError } from "../../core/errors.ts";
import { type Commit, type CommitKey, CommitStore } from "./commit-store.ts";
import { editTree, invalidPath, type TreeChange } from "./edit-tree.ts";
import { type ByteRange, type LargeFile, LargeFiles } from "./large-files.ts";
import { type ChangedPath, type FileEntry, hashObject, lfsPointer, parseLfsPointer, TreeStore } from "./tree-store.ts";

/** A change of one path: new content, content that was uploaded to LFS, a copy of another file or folder, or a deletion. */
export type FileChange =
  | { path: string; content: Uint8Array }
  | { path: string; lfs: LargeFile }
  | { path: string; entry: FileEntry }
  | { path: string; deleted: "file" | "folder" };

/** The content of a new commit. The first parent is the base of the changes. */
export interface NewCommit extends Pick<Commit, "parents" | "title" | "message" | "author" | "date"> {
  changes: readonly FileChange[];
}

/**
 * The content of repositories: refs, commits, trees, and files, with the same IDs as in git. Commits and files in LFS belong to one
 * repository. Blobs and trees are stored once for all repositories, and stay stored after a repository is deleted.
 */
export class ContentStore {
  readonly #database: DatabaseSync;
  readonly #commits: CommitStore;
  readonly #trees: TreeStore;
  readonly #files: LargeFiles;
  readonly #statements;

  /** @param options.folder is the folder for files in LFS. Default: a temporary folder. */
  constructor(database: DatabaseSync, { folder }: { folder?: string | undefined } = {}) {
    this.#database = database;
    this.#commits = new CommitStore(database);
    this.#trees = new TreeStore(database);
    this.#files = new LargeFiles(folder);
    this.#statements = prepareStatements(database);
  }

  /** Returns the full names, such as `refs/heads/main`, `refs/tags/v1`, or `refs/pr/1`, and the IDs of the commits. */
  refs(repositoryId: string) {
    return this.#statements.listRefs
      .all(repositoryId)
      .map(({ name, oid }) => ({ name: String(name), oid: String(oid) }));
  }

  getRef(repositoryId: string, name: string): string | undefined {
    const row = this.#statements.getRef.get(repositoryId, name);
    return row && String(row.oid);
  }

  /** Sets refs to commits. `null` deletes a ref. @throws `ARGUMENT_INVALID` if a commit is not in the repository. */
  setRefs(repositoryId: string, updates: readonly { name: string; oid: string | null }[]): void {
    for (const { name, oid } of updates) {
      if (oid === null) this.#statements.deleteRef.run(repositoryId, name);
      else this.#statements.setRef.run(repositoryId, name, this.#requireCommit(repositoryId, oid).oid);
    }
  }

  /** `revision`: a branch, a tag, the full name of a ref, or the ID or unique start (7 digits or more) of the ID of a commit. */
  resolve(repositoryId: string, revision: string): Commit | undefined {
    const names = revision.startsWith("refs/") ? [revision] : [`refs/heads/${revision}`, `refs/tags/${revision}`];
    for (const name of names) {
      const oid = this.getRef(repositoryId, name);
      if (oid !== undefined) return this.getCommit(repositoryId, oid);
    }
    return this.#commits.findByPrefix(repositoryId, revision);
  }

  getCommit(repositoryId: string, oid: string): Commit | undefined {
    return this.#commits.get({ repositoryId, oid });
  }

  /**
   * Stores a commit. Sets no ref. A commit without changes is stored, too.
   *
   * @throws `ARGUMENT_INVALID` for an invalid path, a conflict of a file with a folder, a deleted path that does not exist, a file
   *   that was not uploaded to LFS, or a parent that is not a commit of the repository.
   */
  createCommit(repositoryId: string, { parents, changes, ...details }: NewCommit): Commit {
    const [base] = parents.map((oid) => this.#requireCommit(repositoryId, oid));
    const tree = editTree(
      this.#trees,
      base?.tree,
      changes.map((change) => this.#store(repositoryId, change)),
    );
    return this.#commits.put(repositoryId, { tree, parents, ...details });
  }

  /** Returns a commit and all its ancestors, newest first. */
  history(repositoryId: string, oid: string): Iterable<Commit> {
    return this.#commits.history({ repositoryId, oid });
  }

  /** Returns the newest common ancestor of two commits, or `undefined` if their histories are unrelated. */
  mergeBase(repositoryId: string, one: string, other: string): string | undefined {
    return this.#commits.mergeBase(repositoryId, one, other);
  }

  /** Returns the last commit that changed each path. */
  lastCommits(repositoryId: string, oid: string, paths: readonly string[]): ReadonlyMap<string, Commit> {
    return findLastCommits(this.#commits, this.#trees, { repositoryId, oid }, paths);
  }

  /** Returns the file or folder of a path, or `undefined` if there is none. The empty path is the root. */
  find(tree: string, path: string): FileEntry | undefined {
    return this.#trees.find(tree, path);
  }

  /** Returns the entries of a folder in git's order. With `recursive`, each folder is followed by its entries. */
  list(tree: string, options: { path?: string; recursive?: boolean } = {}): Iterable<FileEntry> {
    return this.#trees.list(tree, options);
  }

  /** Returns the files that differ between two trees, in git's order. `undefined` stands for an empty tree. */
  compare(before: string | undefined, after: string | undefined): Iterable<ChangedPath> {
    return this.#trees.compare(before, after);
  }

  /** Reads a file that git stores, or a part of it: the pointer file for files in LFS. */
  read(
    { oid }: Pick<FileEntry, "oid">,
    { start = 0, end = Number.MAX_SAFE_INTEGER }: Partial<ByteRange> = {},
  ): Uint8Array {
    const row = this.#statements.getBlob.get(start + 1, end - start + 1, oid);
    if (!row) throw new Error(`The blob ${oid} is missing in the database.`);
    // SQLite returns NULL for an empty part.
    return row.content instanceof Uint8Array ? row.content : new Uint8Array();
  }

  /** Whether a file was uploaded to LFS for this repository. Uploads for other repositories do not count, because they can be private. */
  hasLarge(repositoryId: string, { oid, size }: LargeFile): boolean {
    return this.#statements.getLarge.get(repositoryId, oid)?.size === size && this.#files.has(oid);
  }

  findLarge(repositoryId: string, oid: string): LargeFile | undefined {
    const row = this.#statements.getLarge.get(repositoryId, oid);
    return row && { oid, size: Number(row.size) };
  }

  /** @throws `ARGUMENT_INVALID` if the content has another size or SHA-256. */
  async saveLarge(repositoryId: string, file: LargeFile, body: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#files.save(file, body, () => this.#statements.addLarge.run(repositoryId, file.oid, file.size));
  }

  openLarge(oid: string, range?: Partial<ByteRange>): Readable {
    return this.#files.open(oid, range);
  }

  /** Deletes the refs and commits of a repository. Call {@link deleteUnusedFiles} after the transaction. */
  deleteRepository(repositoryId: string): void {
    for (const statement of this.#statements.deleteRepository) statement.run(repositoryId);
    this.#commits.clearCache();
  }

  /** Deletes files from disk that no repository uses anymore. */
  deleteUnusedFiles(oids: readonly string[]): void {
    for (const oid of oids) if (!this.#statements.findLarge.get(oid)) this.#files.delete(oid);
  }

  largeFiles(repositoryId: string): string[] {
    return this.#statements.listLarge.all(repositoryId).map(({ oid }) => String(oid));
  }

  /** Forgets content that a rolled-back transaction did not store. */
  reload(): void {
    this.#trees.clearCache();
    this.#commits.clearCache();
  }

  /** Deletes all content, except the files on disk: see {@link clearFiles}. */
  clear(): void {
    this.#database.exec(
      "DELETE FROM blobs; DELETE FROM trees; DELETE FROM commits; DELETE FROM refs; DELETE FROM large_files",
    );
    this.reload();
  }

  /** Deletes all files in LFS from disk. Call this method after the transaction of {@link clear}. */
  clearFiles(): void {
    this.#files.clear();
  }

  close(): void {
    this.#files.close();
  }

  #store(repositoryId: string, change: FileChange): TreeChange {
    if ("deleted" in change) return change;
    const { path } = change;
    if ("entry" in change) return this.#copy(repositoryId, path, change.entry);
    // Git stores a file in LFS as a pointer, so a pointer that a client wrote itself has the same ID. Without this rule, anyone
    // who knows an SHA-256 could read files of private repositories.
    const large = "lfs" in change ? change.lfs : parseLfsPointer(change.content);
    if ("content" in change && large === undefined) {
      return { path, file: { oid: this.#putBlob(change.content), size: change.content.byteLength } };
    }
    if (large === undefined || !this.hasLarge(repositoryId, large)) {
      throw invalidPath(path, "was not uploaded to LFS. Upload the file before the commit");
    }
    const { oid, size } = large;
    const pointer = lfsPointer(large);
    return { path, file: { oid: this.#putBlob(pointer), size, lfs: { oid, size, pointerSize: pointer.byteLength } } };
  }

  /** Copies a file or folder. Its files in LFS then belong to this repository, too, and stay if the other repository is deleted. */
  #copy(repositoryId: string, path: string, { path: _path, type, ...file }: FileEntry): TreeChange {
    const isFolder = type === "directory";
    const files = isFolder ? this.#trees.list(file.oid, { recursive: true }) : [file];
    for (const { lfs } of files) if (lfs) this.#statements.addLarge.run(repositoryId, lfs.oid, lfs.size);
    return isFolder ? { path, folder: { oid: file.oid } } : { path, file };
  }

  #requireCommit(repositoryId: string, oid: string): Commit {
    const commit = this.getCommit(repositoryId, oid);
    if (commit) return commit;
    throw new WebhookError(`The repository has no commit ${JSON.stringify(oid)}. Use the ID of one of its commits.`, {
      code: "ARGUMENT_INVALID",
    });
  }

  #putBlob(content: Uint8Array): string {
    const oid = hashObject("blob", content);
    this.#statements.addBlob.run(oid, content);
    return oid;
  }
}

function prepareStatements(database: DatabaseSync) {
  return {
    listRefs: database.prepare("SELECT name, oid FROM refs WHERE repository_id = ? ORDER BY name"),
    getRef: database.prepare("SELECT oid FROM refs WHERE repository_id = ? AND name = ?"),
    setRef: database.prepare("INSERT OR REPLACE INTO refs (repository_id, name, oid) VALUES (?, ?, ?)"),
    deleteRef: database.prepare("DELETE FROM refs WHERE repository_id = ? AND name = ?"),
    getBlob: database.prepare("SELECT substr(content, ?, ?) AS content FROM blobs WHERE oid = ?"),
    addBlob: database.prepare("INSERT OR IGNORE INTO blobs (oid, content) VALUES (?, ?)"),
    getLarge: database.prepare("SELECT size FROM large_files WHERE repository_id = ? AND oid = ?"),
    findLarge: database.prepare("SELECT 1 FROM large_files WHERE oid = ?"),
    listLarge: database.prepare("SELECT oid FROM large_files WHERE repository_id = ?"),
    addLarge: database.prepare("INSERT OR REPLACE INTO large_files (repository_id, oid, size) VALUES (?, ?, ?)"),
    deleteRepository: ["refs", "commits", "large_files"].map((table) =>
      database.prepare(`DELETE FROM ${table} WHERE repository_id = ?`),
    ),
  };
}

type Paths = Map<string, string[]>;

/**
 * Returns the last commit that changed each path, by path. Follows the history only as far as paths are left, and per path along the
 * parent that has the same content, so that a merge is not reported as the change. Paths that do not exist in the commit `oid` are
 * missing in the result.
 */
function findLastCommits(
  commits: CommitStore,
  trees: TreeStore,
  { repositoryId, oid }: CommitKey,
  paths: readonly string[],
): ReadonlyMap<string, Commit> {
  const found = new Map<string, Commit>();
  const newest = commits.get({ repositoryId, oid });
  if (!newest) return found;
  const existing = paths.filter((path) => trees.find(newest.tree, path) !== undefined);
  /** The paths to follow from each commit. */
  let waiting = new Map<string, Paths>([[oid, groupByFolder(existing)]]);
  while (waiting.size > 0) {
    const next = new Map<string, Paths>();
    for (const [commitId, wanted] of waiting) {
      const commit = commits.get({ repositoryId, oid: commitId });
      if (!commit) continue;
      let remaining = wanted;
      for (const parentId of commit.parents) {
        const parent = commits.get({ repositoryId, oid: parentId });
        if (!parent || remaining.size === 0) continue;
        const { same, changed } = splitPaths(trees, parent.tree, commit.tree, remaining);
        if (same.size > 0) next.set(parentId, merge(next.get(parentId), same));
        remaining = changed;
      }
      for (const [folder, names] of remaining) {
        for (const name of names) found.set(folder === "" ? name : `${folder}/${name}`, commit);
      }
    }
    waiting = next;
  }
  return found;
}

function groupByFolder(paths: Iterable<string>): Paths {
  const groups: Paths = new Map();
  for (const path of new Set(paths)) {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, Math.max(slash, 0));
    const names = groups.get(folder);
    if (names) names.push(path.slice(slash + 1));
    else groups.set(folder, [path.slice(slash + 1)]);
  }
  return groups;
}

function merge(existing: Paths | undefined, added: Paths): Paths {
  for (const [folder, names] of existing ?? []) added.set(folder, names.concat(added.get(folder) ?? []));
  return added;
}

/** Does not read identical folders, so that a commit that changes other files takes the same time for any number of paths. */
function splitPaths(trees: TreeStore, before: string, after: string, paths: Paths): { same: Paths; changed: Paths } {
  if (before === after) return { same: paths, changed: new Map() };
  const same: Paths = new Map();
  const changed: Paths = new Map();
  for (const [folder, names] of paths) {
    const [old, current] = [before, after].map((root) => trees.find(root, folder));
    if (old?.oid === current?.oid) {
      same.set(folder, names);
      continue;
    }
    const [oldNames, currentNames] = [old, current].map((entry) =>
      trees.get(entry?.type === "directory" ? entry.oid : undefined),
    );
    // The empty name is the root, which differs here.
    const { true: unchanged, false: different } = Object.groupBy(names, (name) =>
      String(name !== "" && oldNames?.get(name)?.oid === currentNames?.get(name)?.oid),
    );
    if (unchanged) same.set(folder, unchanged);
    if (different) changed.set(folder, different);
  }
  return { same, changed };
}

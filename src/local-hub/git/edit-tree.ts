import { WebhookError } from "../../core/errors.ts";
import type { TreeEntry, TreeStore } from "./tree-store.ts";

/** A change of one path: a new file, a new folder with all its files, or a deletion. */
export type TreeChange =
  | { path: string; file: Omit<TreeEntry, "name" | "type"> }
  | { path: string; folder: { oid: string } }
  | { path: string; deleted: "file" | "folder" };

/** A folder that is being changed. Folders that do not change are not read. */
type EditedFolder = Map<string, TreeEntry | EditedFolder>;

/**
 * Stores the tree that results from changes, and returns its ID. Deletions are applied first, so that a file can replace a folder
 * that is deleted at the same time. Folders without files are removed, because git has none.
 *
 * @throws `ARGUMENT_INVALID` for an invalid path, a deleted path that does not exist, or a file in the place of a folder, or a
 *   folder in the place of a file or folder.
 */
export function editTree(trees: TreeStore, base: string | undefined, changes: readonly TreeChange[]): string {
  const root: EditedFolder = new Map(trees.get(base));
  for (const change of changes) if ("deleted" in change) remove(trees, root, change);
  for (const change of changes) if (!("deleted" in change)) add(trees, root, change);
  return store(trees, root) ?? trees.put([]);
}

function add(trees: TreeStore, root: EditedFolder, change: Exclude<TreeChange, { deleted: unknown }>): void {
  const { path } = change;
  const { folders, name } = splitPath(path);
  let folder = root;
  for (const segment of folders) {
    const next = openFolder(trees, folder, segment) ?? new Map();
    if (folder.has(segment) && !openFolder(trees, folder, segment)) {
      throw invalidPath(path, `is inside "${segment}", which is a file. Delete the file first`);
    }
    folder.set(segment, next);
    folder = next;
  }
  const existing = folder.get(name);
  if (existing && (existing instanceof Map ? existing.size > 0 : existing.type === "directory")) {
    throw invalidPath(path, "is a folder. Delete the folder first");
  }
  if ("file" in change) {
    folder.set(name, { ...change.file, name, type: "file" });
    return;
  }
  if (existing && !(existing instanceof Map)) throw invalidPath(path, "is a file. Delete the file first");
  folder.set(name, { name, type: "directory", oid: change.folder.oid, size: 0 });
}

function remove(trees: TreeStore, root: EditedFolder, change: Extract<TreeChange, { deleted: unknown }>): void {
  const { path, deleted } = change;
  const { folders, name } = splitPath(path);
  let folder: EditedFolder | undefined = root;
  for (const segment of folders) folder = folder && openFolder(trees, folder, segment);
  const existing = folder?.get(name);
  const isFolder = existing instanceof Map || existing?.type === "directory";
  if (!existing || isFolder !== (deleted === "folder")) {
    throw invalidPath(path, `is not a ${deleted} of this revision, so it cannot be deleted`);
  }
  folder?.delete(name);
}

/** Returns a folder for changes, or `undefined` if there is no folder of this name. */
function openFolder(trees: TreeStore, parent: EditedFolder, name: string): EditedFolder | undefined {
  const entry = parent.get(name);
  if (entry === undefined || entry instanceof Map) return entry;
  if (entry.type === "file") return undefined;
  const opened: EditedFolder = new Map(trees.get(entry.oid));
  parent.set(name, opened);
  return opened;
}

/** Stores a folder with its subfolders. Returns `undefined` for a folder without files. */
function store(trees: TreeStore, folder: EditedFolder): string | undefined {
  const entries: TreeEntry[] = [];
  for (const [name, entry] of folder) {
    const oid = entry instanceof Map ? store(trees, entry) : entry.oid;
    if (oid === undefined) continue;
    entries.push(entry instanceof Map ? { name, type: "directory", oid, size: 0 } : entry);
  }
  return entries.length === 0 ? undefined : trees.put(entries);
}

const maxPathBytes = 1_000;
const maxSegmentBytes = 255;

/** @throws `ARGUMENT_INVALID` if git clients could not check out the path, or if the path could leave their folder. */
function splitPath(path: string): { folders: string[]; name: string } {
  const segments = path.split("/");
  const problem = findProblem(path, segments);
  if (problem !== undefined) throw invalidPath(path, problem);
  return { folders: segments.slice(0, -1), name: segments.at(-1) ?? "" };
}

export function invalidPath(path: string, problem: string): WebhookError {
  const message = `The path ${JSON.stringify(path.slice(0, maxPathBytes))} ${problem}.`;
  return new WebhookError(message, { code: "ARGUMENT_INVALID" });
}

function findProblem(path: string, segments: readonly string[]): string | undefined {
  if (!path.isWellFormed() || /\p{Cc}/u.test(path)) return "contains a control character. Rename the file";
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes. Use a shorter path`;
  for (const segment of segments) {
    if (segment === "") return "has an empty segment. Use a path such as data/train.csv";
    if (segment === "." || segment === ".." || segment.toLowerCase() === ".git") {
      return `contains the segment "${segment}". Use a path without this segment`;
    }
    if (Buffer.byteLength(segment) > maxSegmentBytes) {
      return `has a segment of more than ${maxSegmentBytes} bytes. Use a shorter name`;
    }
  }
  return undefined;
}

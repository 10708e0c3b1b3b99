import type { ContentStore, FileChange } from "./content-store.ts";
import type { FileEntry } from "./tree-entry.ts";
import type { ChangedPath } from "./tree-store.ts";

/** The result of a three-way merge: the changes to apply to the target, or the paths that both sides changed differently. */
export interface MergeResult {
  changes: FileChange[];
  conflicts: string[];
}

/**
 * Merges whole files: a path that only the source changed since the base is taken from the source. Lines within a file are not merged,
 * so two different changes of one file are a conflict, even if git could combine them.
 */
export function mergeTrees(
  content: ContentStore,
  { base, target, source }: { base: string | undefined; target: string; source: string },
): MergeResult {
  const changedInTarget = new Map(Array.from(content.compare(base, target), (change) => [change.path, change]));
  const changedInSource = [...content.compare(base, source)];
  const deleted = new Set(changedInSource.filter(({ after }) => !after).map(({ path }) => path));
  const changes: FileChange[] = [];
  const conflicts: string[] = [];
  for (const change of changedInSource) {
    const other = changedInTarget.get(change.path);
    if (other && isSame(change, other)) continue;
    if (other || isBlocked(content, { target, change, deleted })) conflicts.push(change.path);
    else changes.push(toFileChange(change));
  }
  return { changes, conflicts };
}

function isSame(one: ChangedPath, other: ChangedPath): boolean {
  return one.after?.oid === other.after?.oid;
}

/** Whether the target has a folder in the place of a new file, or a file in the place of its folder, which the source does not delete. */
function isBlocked(
  content: ContentStore,
  { target, change, deleted }: { target: string; change: ChangedPath; deleted: ReadonlySet<string> },
): boolean {
  const { path, before, after } = change;
  if (before || !after) return false;
  const isKeptFile = (entry: FileEntry | undefined) => entry?.type === "file" && !deleted.has(entry.path);
  const segments = path.split("/");
  const folders = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
  if (folders.some((folder) => isKeptFile(content.find(target, folder)))) return true;
  if (content.find(target, path)?.type !== "directory") return false;
  return [...content.list(target, { path, recursive: true })].some(isKeptFile);
}

function toFileChange({ path, after }: ChangedPath): FileChange {
  return after ? { path, entry: after } : { path, deleted: "file" };
}

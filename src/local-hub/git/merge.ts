import type { ContentStore, FileChange } from "./content-store.ts";
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
  const changes: FileChange[] = [];
  const conflicts: string[] = [];
  for (const change of content.compare(base, source)) {
    const other = changedInTarget.get(change.path);
    if (other && isSame(change, other)) continue;
    if (other || isBlocked(content, { target, change })) conflicts.push(change.path);
    else changes.push(toFileChange(change));
  }
  return { changes, conflicts };
}

function isSame(one: ChangedPath, other: ChangedPath): boolean {
  return one.after?.oid === other.after?.oid;
}

/** Whether the target has a folder in the place of a new file, or a file in the place of its folder. */
function isBlocked(content: ContentStore, { target, change }: { target: string; change: ChangedPath }): boolean {
  if (!change.after) return false;
  if (content.find(target, change.path)?.type === "directory") return true;
  const segments = change.path.split("/");
  return segments.some(
    (_, index) => index > 0 && content.find(target, segments.slice(0, index).join("/"))?.type === "file",
  );
}

function toFileChange({ path, after }: ChangedPath): FileChange {
  return after ? { path, entry: after } : { path, deleted: "file" };
}

/** A file that differs between two revisions. */
export interface ChangedFile {
  /** The path in the newer revision, or the path of the deleted file. */
  path: string;
  status: "added" | "modified" | "deleted" | "renamed";
  /** The path in the older revision. Only renamed files have this field. */
  previousPath?: string;
}

/** A file in the tree of a revision. */
export interface TreeFile {
  path: string;
  /** The ID of the content. */
  oid: string;
}

/**
 * Compares the files of two revisions. A deleted and an added file with the same content are a renamed file.
 *
 * Time and memory grow with the number of files.
 */
export function compareTrees(older: readonly TreeFile[], newer: readonly TreeFile[]): ChangedFile[] {
  const remaining = new Map(older.map(({ path, oid }) => [path, oid]));
  const changed: ChangedFile[] = [];
  const added: TreeFile[] = [];
  for (const file of newer) {
    const before = remaining.get(file.path);
    remaining.delete(file.path);
    if (before === undefined) added.push(file);
    else if (before !== file.oid) changed.push({ path: file.path, status: "modified" });
  }
  const deleted = Map.groupBy(remaining.keys(), (path) => remaining.get(path) ?? "");
  for (const { path, oid } of added) {
    const previousPath = deleted.get(oid)?.shift();
    if (previousPath === undefined) changed.push({ path, status: "added" });
    else changed.push({ path, status: "renamed", previousPath });
  }
  for (const path of [...deleted.values()].flat()) changed.push({ path, status: "deleted" });
  return sortByPath(changed);
}

/** Sorts files by path, in the order of UTF-16 code units. */
export function sortByPath(files: ChangedFile[]): ChangedFile[] {
  return files.sort((left, right) => (left.path < right.path ? -1 : 1));
}

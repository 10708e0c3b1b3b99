import type { Commit, CommitStore } from "./commit-store.ts";
import type { TreeStore } from "./tree-store.ts";

/** Names to follow, by the path of their folder. */
type Paths = Map<string, string[]>;

/**
 * Returns the last commit that changed each path, by path. Follows the history only as far as paths are left, and per path along the
 * parent that has the same content, so that a merge is not reported as the change. Paths that do not exist in the commit `oid` are
 * missing in the result.
 */
export function findLastCommits(
  { commits, trees }: { commits: CommitStore; trees: TreeStore },
  { repositoryId, oid, paths }: { repositoryId: string; oid: string; paths: readonly string[] },
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
        const { same, changed } = splitPaths(trees, { before: parent.tree, after: commit.tree, paths: remaining });
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

/**
 * Splits paths into those that are the same in both trees and those that changed. Does not read identical folders, so that a commit
 * that changes other files takes the same time for any number of paths.
 */
function splitPaths(
  trees: TreeStore,
  { before, after, paths }: { before: string; after: string; paths: Paths },
): { same: Paths; changed: Paths } {
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

import type { Commit, CommitStore } from "./commit-store.ts";
import type { TreeStore } from "./tree-store.ts";

/**
 * Returns the last commit that changed each path, by path. Follows the history only as far as paths are left, and per path along the
 * parent that has the same content, so that a merge is not reported as the change.
 */
export function findLastCommits(
  { commits, trees }: { commits: CommitStore; trees: TreeStore },
  { repositoryId, oid, paths }: { repositoryId: string; oid: string; paths: readonly string[] },
): ReadonlyMap<string, Commit> {
  const found = new Map<string, Commit>();
  /** The paths to follow from each commit. */
  let waiting = new Map<string, readonly string[]>([[oid, paths]]);
  while (waiting.size > 0) {
    const next = new Map<string, string[]>();
    for (const [commitId, wanted] of waiting) {
      const commit = commits.get({ repositoryId, oid: commitId });
      if (!commit) continue;
      const parents = commit.parents.flatMap((parent) => commits.get({ repositoryId, oid: parent }) ?? []);
      for (const path of wanted) {
        const blob = idOf(trees, commit, path);
        const same = parents.find((parent) => parent.tree === commit.tree || idOf(trees, parent, path) === blob);
        if (!same) {
          found.set(path, commit);
          continue;
        }
        const list = next.get(same.oid);
        if (list) list.push(path);
        else next.set(same.oid, [path]);
      }
    }
    waiting = next;
  }
  return found;
}

function idOf(trees: TreeStore, { tree }: Commit, path: string): string | undefined {
  return trees.find(tree, path)?.oid;
}

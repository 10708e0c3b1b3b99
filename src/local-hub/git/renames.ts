import type { ChangedPath } from "./tree-store.ts";

/** A changed path, and the previous path of a renamed file. */
export interface DiffedPath extends ChangedPath {
  previousPath?: string;
}

/** Replaces deleted and added files with the same content by renamed files, which git shows at their new path. */
export function findRenames(changes: Iterable<ChangedPath>): DiffedPath[] {
  const all = [...changes];
  const deleted = Map.groupBy(
    all.filter(({ after }) => !after),
    ({ before }) => before?.oid ?? "",
  );
  const sources = new Set<ChangedPath>();
  const diffed = all.map((change): DiffedPath => {
    const candidates = change.before || !change.after ? [] : (deleted.get(change.after.oid) ?? []);
    const source = candidates.find((candidate) => !sources.has(candidate));
    if (!source?.before) return change;
    sources.add(source);
    return { ...change, before: source.before, previousPath: source.path };
  });
  return diffed.filter((change) => !sources.has(change));
}

import type * as z from "zod/mini";
import type { treeEntry } from "../../../hub/repositories/files.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { FileEntry } from "../../git/tree-entry.ts";

type TreeEntry = z.output<typeof treeEntry>;

const notScanned = { status: "unscanned" };

/** Converts files and folders of a commit to the format of the API. With `expand`, adds the last commit and the security status. */
export function toTreeEntries(
  content: ContentStore,
  {
    repositoryId,
    commit,
    entries,
    expand,
  }: { repositoryId: string; commit: Commit; entries: readonly FileEntry[]; expand: boolean },
): TreeEntry[] {
  if (!expand) return entries.map(toTreeEntry);
  const paths = entries.map(({ path }) => path);
  const commits = content.lastCommits(repositoryId, commit.oid, paths);
  return entries.map((entry) => {
    const last = commits.get(entry.path);
    return {
      ...toTreeEntry(entry),
      ...(last && { lastCommit: { id: last.oid, title: last.title, date: new Date(last.date).toISOString() } }),
      ...(entry.type === "file" && {
        securityFileStatus: { ...notScanned, avScan: notScanned, pickleImportScan: notScanned },
      }),
    };
  });
}

function toTreeEntry({ type, oid, size, path, lfs }: FileEntry): TreeEntry {
  return { type, oid, size, path, ...(lfs && { lfs }) };
}

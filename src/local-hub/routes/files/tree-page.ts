import { invalidRequest } from "../../error-response.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { FileEntry } from "../../git/tree-entry.ts";

/** A page of a list of files. */
interface TreePage {
  commit: Commit;
  entries: FileEntry[];
  /** The cursor of the next page. */
  next: string | undefined;
}

interface TreePageOptions {
  path: string;
  rev: string;
  recursive: boolean;
  expand: boolean;
  limit?: number | undefined;
  cursor?: string | undefined;
  findCommit: (rev: string) => Commit;
}

const maxEntries = { plain: 1_000, expanded: 100 };

/**
 * Reads a page of the files of a folder. All pages show the same commit, even if the branch changes in between. Returns `undefined` if
 * the folder does not exist.
 */
export function readTreePage(content: ContentStore, options: TreePageOptions): TreePage | undefined {
  const { recursive, expand, findCommit } = options;
  const path = options.path.replace(/\/+$/, "");
  const { rev, start } = options.cursor === undefined ? { rev: options.rev, start: 0 } : readCursor(options.cursor);
  const commit = findCommit(rev);
  if (content.find(commit.tree, path)?.type !== "directory") return undefined;
  const max = expand ? maxEntries.expanded : maxEntries.plain;
  const end = start + Math.min(options.limit ?? max, max);
  const entries: FileEntry[] = [];
  let index = 0;
  for (const entry of content.list(commit.tree, { path, recursive })) {
    if (index === end) return { commit, entries, next: `${commit.oid}-${end}` };
    if (index >= start) entries.push(entry);
    index += 1;
  }
  return { commit, entries, next: undefined };
}

/** Reads the cursor of a page: the ID of the commit, and the number of the first entry. */
function readCursor(cursor: string): { rev: string; start: number } {
  const [, rev, start] = /^([0-9a-f]{40})-(\d{1,9})$/.exec(cursor) ?? [];
  if (rev === undefined) throw invalidRequest(["query.cursor: expected the cursor from the Link header"]);
  return { rev, start: Number(start) };
}

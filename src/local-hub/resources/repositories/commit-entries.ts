import type * as z from "zod/mini";
import { escapeHtml } from "../../../core/text.ts";
import type { commit as commitSchema } from "../../../hub/repositories/commits.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore } from "../../git/content-store.ts";
import { getAvatarUrl } from "../avatars.ts";

type CommitEntry = z.output<typeof commitSchema>;

/** A page of the history of a commit. */
export interface CommitPage {
  commits: Commit[];
  /** The number of commits on all pages. */
  total: number;
}

/** Reads a page of the history of a commit, newest first. `page` starts at 0. */
export function readCommitPage(
  content: ContentStore,
  { repositoryId, oid, page, limit }: { repositoryId: string; oid: string; page: number; limit: number },
): CommitPage {
  const commits: Commit[] = [];
  let total = 0;
  for (const commit of content.history(repositoryId, oid)) {
    if (total >= page * limit && commits.length < limit) commits.push(commit);
    total += 1;
  }
  return { commits, total };
}

/** Converts a commit to the format of the API. */
export function toCommitEntry(
  { oid, title, message, author, date }: Commit,
  { hubUrl, formatted }: { hubUrl: string; formatted: boolean },
): CommitEntry {
  return {
    ...{ id: oid, title, message },
    authors: [{ user: author, avatar: getAvatarUrl(author, { hubUrl }) }],
    date: new Date(date).toISOString(),
    ...(formatted && {
      formatted: { title: escapeHtml(title), ...(message !== "" && { message: escapeHtml(message) }) },
    }),
  };
}

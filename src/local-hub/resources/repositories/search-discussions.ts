import type { z } from "zod";
import type { discussionOperations } from "../../../hub/repositories/discussions.ts";
import type { StoredDiscussion } from "../../store/discussion-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";

const discussionsPerPage = 50;

type Query = z.output<typeof discussionOperations.list.request.query>;

/** A page of the discussions that match a search. */
interface DiscussionPage {
  page: StoredDiscussion[];
  /** The number of matching discussions before the page. */
  start: number;
  /** The number of matching discussions on all pages. */
  count: number;
  /** The number of matching discussions with any status other than open and draft. */
  closed: number;
}

/** Searches the discussions of a repository. Pinned discussions come first, then newer ones. */
export function searchDiscussions(
  store: Store,
  { repository, query }: { repository: StoredRepository; query: Query },
): DiscussionPage {
  const { p, type = "all", status = "all", author, search = "" } = query;
  const words = search.toLowerCase();
  const candidates = store.discussions
    .list(repository.id)
    .filter(({ isPullRequest }) => type === "all" || isPullRequest === (type === "pull_request"))
    .filter((discussion) => author === undefined || discussion.author === author)
    .filter(({ title }) => title.toLowerCase().includes(words));
  const matching = candidates
    .filter((discussion) => status === "all" || isOpen(discussion) === (status === "open"))
    .sort((one, other) => Number(other.pinned) - Number(one.pinned));
  const start = p * discussionsPerPage;
  return {
    page: matching.slice(start, start + discussionsPerPage),
    start,
    count: matching.length,
    closed: candidates.filter((discussion) => !isOpen(discussion)).length,
  };
}

/** Drafts count as open. */
function isOpen({ status }: StoredDiscussion): boolean {
  return status === "open" || status === "draft";
}

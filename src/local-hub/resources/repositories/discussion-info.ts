import { html } from "hono/html";
import type { DiscussionDetails, DiscussionEvent, DiscussionSummary } from "../../../hub/repositories/discussions.ts";
import { accountId, formatFullName, getAccountKind } from "../../accounts.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredComment, StoredDiscussion, StoredDiscussionEvent } from "../../store/discussion-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { getAvatarUrl } from "../avatars.ts";
import { pullRequestRef } from "./discussions.ts";
import { findConflicts } from "./pull-requests.ts";

type Urls = Pick<HubContext, "hubUrl">;
type Author = NonNullable<DiscussionSummary["author"]>;
type EventOf<Type extends DiscussionEvent["type"]> = Extract<DiscussionEvent, { type: Type }>;

/** Returns a discussion in the format of lists. */
export function toSummary(
  discussion: StoredDiscussion,
  { repository, comments, hubUrl }: Urls & { repository: StoredRepository; comments: number },
): DiscussionSummary {
  const { num, author, title, createdAt, status, isPullRequest, pinned } = discussion;
  return {
    ...{ num, title, status, isPullRequest, pinned, createdAt: new Date(createdAt).toISOString() },
    author: toAuthor(author, { hubUrl }),
    repo: { type: repository.type, name: repository.name },
    ...{ numComments: comments, numReactionUsers: 0, topReactions: [] },
  };
}

/** Returns a discussion with its events. The commits of a pull request are events, too. */
export function toDetails(
  { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">,
  { repository, discussion }: { repository: StoredRepository; discussion: StoredDiscussion },
): DiscussionDetails {
  const { id, num, author, title, createdAt, status, isPullRequest, pinned, changes } = discussion;
  const events = [
    ...store.discussions.events(discussion).map((event) => toEvent(event, { hubUrl })),
    ...commitEvents({ store, hubUrl }, { repository, discussion }),
  ].sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  return {
    ...{ _id: id, num, title, status, isPullRequest, pinned, createdAt: new Date(createdAt).toISOString(), events },
    author: toAuthor(author, { hubUrl }),
    repo: { type: repository.type, name: repository.name },
    ...{ locked: false, collection: "discussions", isReport: false },
    ...(changes && { changes, filesWithConflicts: toConflicts(findConflicts({ store }, { repository, discussion })) }),
  };
}

/** Returns an event in the format of the API. */
export function toEvent(event: StoredComment, urls: Urls): EventOf<"comment">;
export function toEvent<Type extends StoredDiscussionEvent["type"]>(
  event: Extract<StoredDiscussionEvent, { type: Type }>,
  urls: Urls,
): EventOf<Type>;
export function toEvent(event: StoredDiscussionEvent, urls: Urls): DiscussionEvent;
export function toEvent(event: StoredDiscussionEvent, { hubUrl }: Urls): DiscussionEvent {
  const common = {
    id: event.id,
    createdAt: new Date(event.createdAt).toISOString(),
    author: toAuthor(event.author, { hubUrl }),
  };
  switch (event.type) {
    case "comment":
      return { ...common, type: "comment", data: commentData(event, { hubUrl }) };
    case "status-change":
      return { ...common, type: "status-change", data: { status: event.status } };
    case "title-change":
      return { ...common, type: "title-change", data: { from: event.from, to: event.to } };
    case "pinning-change":
      return { ...common, type: "pinning-change", data: { pinned: event.pinned } };
  }
}

function commentData(
  { author, content, hidden, hiddenBy, updatedAt, edits }: StoredComment,
  { hubUrl }: Urls,
): EventOf<"comment">["data"] {
  const editors = [...new Set(edits)];
  return {
    ...{ edited: edits.length > 0, hidden, numEdits: edits.length, editors, reactions: [] },
    ...(hiddenBy !== undefined && { hiddenBy }),
    // The local Hub does not render Markdown.
    latest: {
      ...{ raw: content, html: String(html`<p>${content}</p>`), updatedAt: new Date(updatedAt).toISOString() },
      author: toAuthor(edits.at(-1) ?? author, { hubUrl }),
    },
    editorAvatarUrls: editors.map((editor) => getAvatarUrl(editor, { hubUrl })),
  };
}

/** Returns the commits that a pull request adds to its base, oldest first. */
function commitEvents(
  { store: { content }, hubUrl }: Pick<HubContext, "store" | "hubUrl">,
  { repository, discussion }: { repository: StoredRepository; discussion: StoredDiscussion },
): DiscussionEvent[] {
  const head = discussion.isPullRequest ? content.getRef(repository.id, pullRequestRef(discussion)) : undefined;
  if (head === undefined) return [];
  const commits = [];
  for (const commit of content.history(repository.id, head)) {
    if (commit.oid === discussion.baseCommit) break;
    commits.push(commit);
  }
  return commits.reverse().map(({ oid, title, author, date }) => ({
    ...{ id: oid.slice(0, 24), type: "commit" as const, createdAt: new Date(date).toISOString() },
    author: toAuthor(author, { hubUrl }),
    data: { subject: title, oid },
  }));
}

function toConflicts(paths: readonly string[]): boolean | string[] {
  return paths.length === 0 ? false : [...paths];
}

function toAuthor(name: string, { hubUrl }: Urls): Author {
  return {
    ...{ _id: accountId(name), name, fullname: formatFullName(name), avatarUrl: getAvatarUrl(name, { hubUrl }) },
    ...{ type: getAccountKind(name) ?? "user", isHf: false, isHfAdmin: false, isMod: false },
  };
}

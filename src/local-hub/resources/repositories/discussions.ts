import { isDeepStrictEqual } from "node:util";
import { badRequest } from "../../error-response.ts";
import { discussionId } from "../../events/event-request.ts";
import { publishChange } from "../../events/publish-change.ts";
import type { RepositoryChange } from "../../events/repository-change.ts";
import type { HubContext } from "../../hub-context.ts";
import type {
  DiscussionKey,
  StoredComment,
  StoredDiscussion,
  StoredDiscussionEvent,
} from "../../store/discussion-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { reread } from "./repository-changes.ts";

/** The discussion that a user changes. */
export interface DiscussionTarget {
  repository: StoredRepository;
  discussion: StoredDiscussion;
  user: string;
}

export interface NewDiscussion {
  repository: StoredRepository;
  /** A number that is not used. Default: the next number of the repository. */
  num?: number;
  user: string;
  title: string;
  /** The text of the first comment. */
  description: string;
}

/** A new discussion, with its description as the first comment. */
export interface OpenedDiscussion {
  repository: StoredRepository;
  discussion: StoredDiscussion;
  comment: StoredComment;
}

/** Opens a discussion. Fires `discussion` create. */
export function openDiscussion(context: HubContext, opened: NewDiscussion): OpenedDiscussion {
  const stored = context.store.transaction(() => storeDiscussion(context, { ...opened, status: "open" }));
  publishOpened(context, stored);
  return stored;
}

/** Stores a new discussion or pull request. Call this function in a transaction. */
export function storeDiscussion(
  context: HubContext,
  {
    repository,
    num: given,
    user,
    title,
    description,
    status,
    changes,
    baseCommit,
  }: NewDiscussion & Pick<StoredDiscussion, "status" | "changes" | "baseCommit">,
): OpenedDiscussion {
  const { store, now } = context;
  // The caller can have read the repository before another discussion was opened.
  const current = reread(store, repository);
  const num = given ?? current.discussions + 1;
  const updated = { ...current, discussions: Math.max(num, current.discussions) };
  const discussion: StoredDiscussion = {
    ...{ repositoryId: repository.id, num, id: discussionId({ repositoryId: repository.id, num }) },
    ...{ title, status, isPullRequest: changes !== undefined, author: user, createdAt: now(), pinned: false },
    ...(changes && { changes }),
    ...(baseCommit !== undefined && { baseCommit }),
  };
  store.repositories.put(updated);
  store.discussions.put(discussion);
  const comment = createComment(context, { user, content: description });
  store.discussions.addEvent(discussion, comment);
  return { repository: updated, discussion, comment };
}

/** Publishes a stored discussion with its first comment. */
export function publishOpened(context: HubContext, { comment, ...opened }: OpenedDiscussion): void {
  const target = { ...opened, user: opened.discussion.author };
  publish(context, target, { scope: "discussion", action: "create", comment });
}

/** Adds a comment. Fires `discussion.comment` create. */
export function addComment(context: HubContext, { content, ...target }: DiscussionTarget & { content: string }) {
  const comment = createComment(context, { user: target.user, content });
  context.store.discussions.addEvent(target.discussion, comment);
  publish(context, target, { scope: "discussion.comment", action: "create", comment });
  return comment;
}

/** Fires `discussion.comment` update if the text is new. @throws HTTPException 400 if the comment is hidden. */
export function editComment(
  context: HubContext,
  { comment, content, ...target }: DiscussionTarget & { comment: StoredComment; content: string },
): StoredComment {
  if (comment.hidden) throw badRequest("The comment is hidden. Write another comment instead.");
  if (content === comment.content) return comment;
  const edits = [...comment.edits, target.user];
  return updateComment(context, target, { ...comment, content, updatedAt: context.now(), edits });
}

/** Hides a comment, which deletes its text. Fires `discussion.comment` update. */
export function hideComment(
  context: HubContext,
  { comment, ...target }: DiscussionTarget & { comment: StoredComment },
): StoredComment {
  if (comment.hidden) return comment;
  const hidden = { content: "", hidden: true, hiddenBy: target.user, updatedAt: context.now() };
  return updateComment(context, target, { ...comment, ...hidden });
}

/** Fires `discussion` update, after the comment if there is one. @throws HTTPException 400 if the pull request is merged. */
export function changeStatus(
  context: HubContext,
  { status, comment, ...target }: DiscussionTarget & { status: "open" | "closed"; comment?: string | undefined },
) {
  if (target.discussion.status === "merged") {
    throw badRequest("The pull request is merged, so its status cannot change.");
  }
  if (comment) addComment(context, { ...target, content: comment });
  const event = { ...newEvent(context, target.user), type: "status-change", status } as const;
  return changeDiscussion(context, { ...target, event, fields: { status } });
}

/** Changes the title. Fires `discussion` update. */
export function changeTitle(context: HubContext, { title, ...target }: DiscussionTarget & { title: string }) {
  const { title: from } = target.discussion;
  const event = { ...newEvent(context, target.user), type: "title-change", from, to: title } as const;
  return changeDiscussion(context, { ...target, event, fields: { title } });
}

/** Pins or unpins a discussion. Fires `discussion` update. */
export function setPinned(context: HubContext, { pinned, ...target }: DiscussionTarget & { pinned: boolean }) {
  const event = { ...newEvent(context, target.user), type: "pinning-change", pinned } as const;
  return changeDiscussion(context, { ...target, event, fields: { pinned } });
}

/** Fires `discussion` delete, and for a pull request `repo.content` update with the ref. The number is not used again. */
export function deleteDiscussion(context: HubContext, target: DiscussionTarget): void {
  const { repository, discussion, user } = target;
  const { discussions, content, transaction } = context.store;
  const ref = pullRequestRef(discussion);
  const oldSha = discussion.isPullRequest ? content.getRef(repository.id, ref) : undefined;
  transaction(() => {
    discussions.delete(discussion);
    if (oldSha !== undefined) content.setRefs(repository.id, [{ name: ref, oid: null }]);
  });
  publish(context, target, { scope: "discussion", action: "delete" });
  if (oldSha === undefined) return;
  publishChange(context, {
    ...{ scope: "repo.content", action: "update", user, before: repository, after: repository },
    updatedRefs: [{ ref, oldSha, newSha: null }],
  });
}

/** Changed fields of a discussion, and the event that records the change. */
interface ChangedFields<Event extends StoredDiscussionEvent = StoredDiscussionEvent> {
  event: Event;
  fields: Partial<Pick<StoredDiscussion, "status" | "title" | "pinned" | "changes">>;
}

/** Stores changed fields of a discussion. Fires nothing. Call this function in a transaction. */
export function storeFields(
  { store }: Pick<HubContext, "store">,
  { discussion, event, fields }: Pick<DiscussionTarget, "discussion"> & ChangedFields,
): StoredDiscussion {
  const changed = { ...discussion, ...fields };
  store.discussions.put(changed);
  store.discussions.addEvent(changed, event);
  return changed;
}

/** Publishes a discussion whose changed fields were stored. */
export function publishUpdate(context: HubContext, target: DiscussionTarget): void {
  publish(context, target, { scope: "discussion", action: "update" });
}

/** Fires `discussion` update. Does nothing if the discussion already has the fields. */
function changeDiscussion<Event extends StoredDiscussionEvent>(
  context: HubContext,
  { event, fields, ...target }: DiscussionTarget & ChangedFields<Event>,
): { discussion: StoredDiscussion; event: Event } {
  if (isDeepStrictEqual({ ...target.discussion, ...fields }, target.discussion)) {
    return { discussion: target.discussion, event };
  }
  const discussion = context.store.transaction(() => storeFields(context, { ...target, event, fields }));
  publishUpdate(context, { ...target, discussion });
  return { discussion, event };
}

/** Creates the common fields of an event. */
export function newEvent({ createId, now }: HubContext, user: string) {
  return { id: createId(), author: user, createdAt: now() };
}

/** Returns the ref with the commits of a pull request. */
export function pullRequestRef({ num }: Pick<DiscussionKey, "num">): string {
  return `refs/pr/${num}`;
}

function createComment(context: HubContext, { user, content }: { user: string; content: string }): StoredComment {
  const event = newEvent(context, user);
  return { ...event, type: "comment", content, hidden: false, updatedAt: event.createdAt, edits: [] };
}

function updateComment(context: HubContext, target: DiscussionTarget, comment: StoredComment): StoredComment {
  context.store.discussions.updateEvent(comment);
  publish(context, target, { scope: "discussion.comment", action: "update", comment });
  return comment;
}

/** Publishes a change of a discussion, which leaves its repository as it is. */
function publish(
  context: HubContext,
  { repository, discussion, user }: DiscussionTarget,
  change: Pick<RepositoryChange, "scope" | "action" | "comment">,
): void {
  publishChange(context, { ...change, user, before: repository, after: repository, discussion });
}

import { HTTPException } from "hono/http-exception";
import { readOwnField } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { sampleTexts } from "../../payload/samples.ts";
import { findUserById } from "../access.ts";
import { localUser } from "../accounts.ts";
import type { Commit } from "../git/commit-store.ts";
import type { ContentStore, FileChange } from "../git/content-store.ts";
import type { HubContext } from "../hub-context.ts";
import {
  addComment,
  changeStatus,
  changeTitle,
  type DiscussionTarget,
  deleteDiscussion,
  editComment,
  hideComment,
  openDiscussion,
  setPinned,
} from "../resources/repositories/discussions.ts";
import { mergePullRequest, openPullRequest } from "../resources/repositories/pull-requests.ts";
import { updateRefs } from "../resources/repositories/refs.ts";
import type { StoredComment, StoredDiscussion } from "../store/discussion-store.ts";
import { mainRef, type StoredRepository } from "../store/repository-store.ts";
import type { ParsedEvent } from "./event-request.ts";
import { findKnownScope } from "./repository-change.ts";

/**
 * Pushes to refs: adds a commit to each branch, even if it has the same files, and creates and deletes branches and tags. If the new
 * commit of a ref exists, the ref is set to this commit. Refs of pull requests that do not exist stay missing, and the main branch is
 * not deleted.
 *
 * @throws `ARGUMENT_INVALID` if a new commit is for a pull request that does not exist.
 */
export function pushToRefs(context: HubContext, { event, repository }: Trigger): void {
  const { updatedRefs = [{ ref: mainRef, newSha: "" }], files } = event;
  const user = localUser;
  const { content } = context.store;
  for (const { ref, newSha } of updatedRefs) {
    const oldSha = content.getRef(repository.id, ref) ?? null;
    const set = (sha: string | null) =>
      updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: sha }] });
    const head = content.resolve(repository.id, oldSha === null ? mainRef : ref);
    if (!head || (oldSha === null && /^refs\/pr\//.test(ref))) {
      if (newSha !== "") continue;
      throw new WebhookError(`There is no "${ref}". Open a pull request first.`, { code: "ARGUMENT_INVALID" });
    }
    if (newSha === null) {
      if (oldSha !== null && ref !== mainRef) set(null);
      continue;
    }
    const target = content.getCommit(repository.id, newSha);
    if (target || ref.startsWith("refs/tags/")) {
      set((target ?? head).oid);
      continue;
    }
    const changes = files ? toFileChanges(files) : createPush(content, { head, name: repository.name });
    const details = { title: "Update the data", message: "", author: user, date: context.now() };
    set(content.createCommit(repository.id, { parents: [head.oid], changes, ...details }).oid);
  }
}

export function toFileChanges(files: NonNullable<ParsedEvent["files"]>): FileChange[] {
  return Object.entries(files).map(([path, file]) => {
    if (file === null) return { path, deleted: "file" };
    return { path, content: typeof file === "string" ? Buffer.from(file) : Buffer.from(file.base64, "base64") };
  });
}

/** A new version of `data/latest.txt` with the number of the push, and a card without metadata if there is no `README.md`. */
function createPush(content: ContentStore, { head, name }: { head: Commit; name: string }): FileChange[] {
  const path = content.find(head.tree, "data")?.type === "file" ? "latest.txt" : "data/latest.txt";
  const entry = content.find(head.tree, path);
  const text = entry?.type === "file" ? Buffer.from(content.read(entry)).toString() : "";
  const pushed = Number(/^push: (\d{1,9})$/m.exec(text)?.[1] ?? 0);
  const data = { path, content: Buffer.from(`push: ${pushed + 1}\n`) };
  if (content.find(head.tree, "README.md")) return [data];
  return [data, { path: "README.md", content: Buffer.from(`# ${name}\n`) }];
}

export interface Trigger {
  event: ParsedEvent;
  /** Before the event. */
  repository: StoredRepository;
}

/** The discussion of an event, and its comment if the payload has one. */
interface TriggeredDiscussion {
  discussion: StoredDiscussion;
  comment?: StoredComment | undefined;
}

/**
 * Makes the change of an event on a discussion. Without a number, the event is about the latest discussion, which is opened if
 * there is none. Returns `undefined` if the local Hub does not store the discussion of the event.
 */
export function changeDiscussionOf(context: HubContext, trigger: Trigger): TriggeredDiscussion | undefined {
  const { event, repository } = trigger;
  const { scope, action } = event.event;
  if (scope === "discussion" && action === "create") return openDiscussionOf(context, trigger);
  const discussion = findDiscussion(context, trigger);
  if (!discussion) return undefined;
  const target = { repository, discussion, user: localUser };
  switch (`${scope} ${action}`) {
    case "discussion update":
      return { discussion: updateDiscussion(context, event, target) };
    case "discussion delete":
      deleteDiscussion(context, target);
      return { discussion };
    case "discussion.comment create": {
      const user = authorOf(context, event.comment);
      const content = textIn(event.comment, "content") ?? sampleTexts.content;
      return { discussion, comment: addComment(context, { ...target, user, content }) };
    }
    case "discussion.comment update":
      return { discussion, comment: updateComment(context, event, target) };
    default:
      // The Hub does not document this event, so that it changes nothing.
      return findKnownScope(scope) === "discussion"
        ? { discussion }
        : { discussion, comment: findComment(context, event, discussion) };
  }
}

/** Far below the numbers with ten digits, which have no path in the API. */
const maxGivenNum = 1e8;

function openDiscussionOf(context: HubContext, { event, repository }: Trigger): TriggeredDiscussion | undefined {
  const { content } = context.store;
  const { num = repository.discussions + 1 } = event.discussion ?? {};
  // The numbers up to the latest are used. A number for which the API has no path is only in the payload.
  const isUsed = event.silent
    ? context.store.discussions.get({ repositoryId: repository.id, num }) !== undefined
    : num <= repository.discussions;
  if (!Number.isInteger(num) || num < 1 || num >= maxGivenNum || isUsed) return undefined;
  const opened = {
    repository,
    num,
    user: authorOf(context, event.discussion),
    title: textIn(event.discussion, "title") ?? sampleTexts.title,
    description: textIn(event.comment, "content") ?? sampleTexts.content,
  };
  const head = content.resolve(repository.id, repository.headSha ?? "");
  if (readOwnField(event.discussion, "isPullRequest") !== true || !head) return openDiscussion(context, opened);
  const draft = textIn(event.discussion, "status") === "draft";
  const changes = event.files ? toFileChanges(event.files) : createPush(content, { head, name: repository.name });
  return openPullRequest(context, { ...opened, draft, changes });
}

/** Finds the discussion of an event by its number. By default, the latest discussion, which is opened if there is none. */
function findDiscussion(context: HubContext, { event, repository }: Trigger): StoredDiscussion | undefined {
  const { discussions } = context.store;
  const { num } = event.discussion ?? {};
  if (num !== undefined) return discussions.get({ repositoryId: repository.id, num });
  const [latest] = discussions.list(repository.id);
  const { scope, action } = event.event;
  if (latest || action === "delete" || (scope !== "discussion" && scope !== "discussion.comment")) return latest;
  // The new discussion fires no event, because the caller asked for another event.
  const silent = { ...context, collectedChanges: [] };
  return openDiscussionOf(silent, { repository, event: { ...event, comment: undefined } })?.discussion;
}

function updateDiscussion(context: HubContext, event: ParsedEvent, target: DiscussionTarget): StoredDiscussion {
  const title = textIn(event.discussion, "title");
  const status = textIn(event.discussion, "status");
  const pinned = readOwnField(event.discussion, "pinned");
  let { discussion } = target;
  if (title !== undefined && title !== discussion.title) {
    ({ discussion } = changeTitle(context, { ...target, discussion, title }));
  }
  if (typeof pinned === "boolean" && pinned !== discussion.pinned) {
    ({ discussion } = setPinned(context, { ...target, discussion, pinned }));
  }
  if (status === undefined || status === discussion.status || discussion.status === "merged") return discussion;
  if (status === "merged") return mergeIfPossible(context, { ...target, discussion });
  if (status !== "open" && status !== "closed") return discussion;
  return changeStatus(context, { ...target, discussion, status }).discussion;
}

/** Merges a pull request. If it cannot be merged, only the payload of the event contains the merge. */
function mergeIfPossible(context: HubContext, target: DiscussionTarget): StoredDiscussion {
  try {
    return context.store.transaction(() => mergePullRequest(context, target));
  } catch (error) {
    if (error instanceof HTTPException) return target.discussion;
    throw error;
  }
}

function updateComment(context: HubContext, event: ParsedEvent, target: DiscussionTarget): StoredComment | undefined {
  const comment = findComment(context, event, target.discussion);
  if (!comment || comment.hidden) return comment;
  if (readOwnField(event.comment, "hidden") === true) return hideComment(context, { ...target, comment });
  const content = textIn(event.comment, "content");
  if (content === undefined || content === comment.content) return comment;
  return editComment(context, { ...target, comment, content });
}

function findComment({ store }: HubContext, event: ParsedEvent, discussion: StoredDiscussion) {
  const comments = store.discussions.events(discussion).filter((stored) => stored.type === "comment");
  const id = textIn(event.comment, "id");
  return comments.find((comment) => comment.id === id) ?? comments.at(-1);
}

/** Default: the developer. */
function authorOf({ store }: HubContext, given: unknown): string {
  const id = textIn(readOwnField(given, "author"), "id");
  return (id === undefined ? undefined : findUserById(store, id)) ?? localUser;
}

function textIn(value: unknown, name: string): string | undefined {
  const text = readOwnField(value, name);
  return typeof text === "string" ? text : undefined;
}

import type { Context } from "hono";
import { html } from "hono/html";
import type { z } from "zod";
import {
  type DiscussionDetails,
  type DiscussionEvent,
  type DiscussionSummary,
  discussionDetails,
  discussionOperations,
  discussionSummary,
} from "../../../hub/repositories/discussions.ts";
import type { RepositoryPath } from "../../../hub/repositories/repository-path.ts";
import { accountId, formatFullName, getAccountKind, getAvatarUrl } from "../../accounts.ts";
import { notFound } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import { checkNamespaceAccess, findDiscussed, repositoryUrl } from "../../routes/repository-access.ts";
import {
  type ApiEnvironment,
  describeRoutes,
  linkNextPage,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import type { StoredComment, StoredDiscussion, StoredDiscussionEvent } from "../../store/discussion-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";
import {
  addComment,
  changeStatus,
  changeTitle,
  type DiscussionTarget,
  deleteDiscussion,
  editComment,
  hideComment,
  openDiscussion,
  pullRequestRef,
  setPinned,
} from "./discussions.ts";
import { findConflicts, formatPullRequestDiff, mergePullRequest, openPullRequest } from "./pull-requests.ts";

const discussionRoutes = describeRoutes(discussionOperations, "discussions", {
  list: {
    token: "optional",
    parameters: {
      p: { in: "query", description: "The page, starting at 0." },
      author: { in: "query", description: "The name of the user who opened the discussion." },
      search: { in: "query", description: "Text in the title." },
    },
    success: "The discussions, pinned discussions first, then newest first.",
    headers: nextPageHeader,
    errors: ["forbidden"],
  },
  create: { success: "The discussion." },
  get: {
    token: "optional",
    parameters: {
      diff: { in: "query", description: "With a value, the response contains the changes of a pull request." },
    },
    success: "The discussion.",
    errors: ["forbidden"],
  },
  delete: { success: "The discussion was deleted." },
  comment: { success: "The comment." },
  editComment: { success: "The comment." },
  hideComment: { success: "The comment." },
  setStatus: { success: "The new status." },
  setTitle: { success: "The new title." },
  pin: { success: "The discussion was pinned or unpinned." },
  merge: { success: "The pull request was merged." },
});

type DiscussionPath = RepositoryPath & { num: string };

/**
 * Serves discussions and pull requests. Every user with a token that can write can open and comment on discussions of readable
 * repositories. Authors can change their own discussions and comments. All other changes require write access to the repository.
 */
export const discussionApi = {
  routes: discussionRoutes,
  components: { DiscussionSummary: discussionSummary, DiscussionDetails: discussionDetails },
  serve(app, hub) {
    const { store } = hub;

    const find = (path: DiscussionPath, context: Context<ApiEnvironment>, access: "read" | "write") => {
      const repository = findDiscussed(hub, path, context.var.optionalCaller, access);
      const num = /^[1-9]\d{0,8}$/.test(path.num) ? Number(path.num) : 0;
      const discussion = store.discussions.get({ repositoryId: repository.id, num });
      if (!discussion) throw notFound(`There is no discussion ${path.num}.`);
      return { repository, discussion };
    };
    const target = (path: DiscussionPath, context: Context<ApiEnvironment>): DiscussionTarget => ({
      ...find(path, context, "write"),
      user: context.var.caller.user,
    });
    const checkWriteAccess = (path: RepositoryPath, context: Context<ApiEnvironment>) =>
      checkNamespaceAccess(store, context.var.caller, path.namespace);
    const writeTarget = (path: DiscussionPath, context: Context<ApiEnvironment>): DiscussionTarget => {
      const found = target(path, context);
      checkWriteAccess(path, context);
      return found;
    };
    /** Returns the discussion if the caller opened the discussion or can write to the repository. */
    const ownTarget = (path: DiscussionPath, context: Context<ApiEnvironment>): DiscussionTarget => {
      const found = target(path, context);
      if (found.discussion.author !== found.user) checkWriteAccess(path, context);
      return found;
    };
    /** Returns the comment if the caller wrote the comment or can write to the repository. */
    const ownComment = (
      { commentId, ...path }: DiscussionPath & { commentId: string },
      context: Context<ApiEnvironment>,
    ): DiscussionTarget & { comment: StoredComment } => {
      const found = target(path, context);
      const comment = store.discussions.getComment(found.discussion, commentId);
      if (!comment) throw notFound(`There is no comment "${commentId}" in this discussion.`);
      if (comment.author !== found.user) checkWriteAccess(path, context);
      return { ...found, comment };
    };

    serveRoute(app, discussionRoutes.list, ({ params, query }, context) => {
      const repository = findDiscussed(hub, params, context.var.optionalCaller, "read");
      const { page, start, count, closed } = searchDiscussions(store, repository, query);
      if (start + page.length < count) linkNextPage(context, { p: String(query.p + 1) });
      const comments = store.discussions.countComments(repository.id);
      const discussions = page.map((discussion) =>
        toSummary(hub, repository, discussion, comments.get(discussion.num) ?? 0),
      );
      return { discussions, count, start, numClosedDiscussions: closed };
    });

    serveRoute(app, discussionRoutes.create, ({ params, body: { title, description, pullRequest } }, context) => {
      const { caller } = context.var;
      const repository = findDiscussed(hub, params, caller, "write");
      const opened = { repository, user: caller.user, title, description };
      const { discussion } = pullRequest
        ? openPullRequest(hub, { ...opened, draft: true })
        : openDiscussion(hub, opened);
      const { num, changes } = discussion;
      const url = `${repositoryUrl(repository, hub)}/discussions/${num}`;
      return { url, num, pullRequest, ...(changes && { references: changes }) };
    });

    serveRoute(app, discussionRoutes.get, ({ params, query: { diff } }, context) => {
      const found = find(params, context, "read");
      const details = toDetails(hub, found);
      const withDiff = diff !== undefined && found.discussion.isPullRequest;
      return { ...details, ...(withDiff && { diff: formatPullRequestDiff(hub, found) }) };
    });

    serveRoute(app, discussionRoutes.delete, ({ params }, context) =>
      deleteDiscussion(hub, writeTarget(params, context)),
    );

    serveRoute(app, discussionRoutes.comment, ({ params, body: { comment } }, context) => {
      return { newMessage: toEvent(addComment(hub, { ...target(params, context), content: comment }), hub) };
    });

    serveRoute(app, discussionRoutes.editComment, ({ params, body: { content } }, context) => {
      return { updatedComment: toEvent(editComment(hub, { ...ownComment(params, context), content }), hub) };
    });

    serveRoute(app, discussionRoutes.hideComment, ({ params }, context) => {
      return { updatedComment: toEvent(hideComment(hub, ownComment(params, context)), hub) };
    });

    serveRoute(app, discussionRoutes.setStatus, ({ params, body: { status, comment } }, context) => {
      const { event } = changeStatus(hub, { ...ownTarget(params, context), status, comment });
      return { newStatus: toEvent(event, hub) };
    });

    serveRoute(app, discussionRoutes.setTitle, ({ params, body: { title } }, context) => {
      const { event } = changeTitle(hub, { ...ownTarget(params, context), title });
      return { newTitle: toEvent(event, hub) };
    });

    serveRoute(app, discussionRoutes.pin, ({ params, body: { pinned } }, context) => {
      setPinned(hub, { ...writeTarget(params, context), pinned });
    });

    serveRoute(app, discussionRoutes.merge, ({ params, body }, context) => {
      mergePullRequest(hub, { ...writeTarget(params, context), comment: body?.comment });
    });
  },
} satisfies ResourceApi;

type Discussed = Pick<DiscussionTarget, "repository" | "discussion">;
type Author = NonNullable<DiscussionSummary["author"]>;
type EventOf<Type extends DiscussionEvent["type"]> = Extract<DiscussionEvent, { type: Type }>;

function toSummary(
  hub: HubContext,
  repository: StoredRepository,
  discussion: StoredDiscussion,
  comments: number,
): DiscussionSummary {
  const { num, author, title, createdAt, status, isPullRequest, pinned } = discussion;
  return {
    ...{ num, title, status, isPullRequest, pinned, createdAt: new Date(createdAt).toISOString() },
    author: toAuthor(author, hub),
    repo: { type: repository.type, name: repository.name },
    ...{ numComments: comments, numReactionUsers: 0, topReactions: [] },
  };
}

/** Returns a discussion with its events. The commits of a pull request are events, too. */
function toDetails(hub: HubContext, { repository, discussion }: Discussed): DiscussionDetails {
  const { id, num, author, title, createdAt, status, isPullRequest, pinned, changes } = discussion;
  const events = [
    ...hub.store.discussions.events(discussion).map((event) => toEvent(event, hub)),
    ...commitEvents(hub, { repository, discussion }),
  ].sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  const conflicts = changes ? findConflicts(hub, { repository, discussion }) : [];
  return {
    ...{ _id: id, num, title, status, isPullRequest, pinned, createdAt: new Date(createdAt).toISOString(), events },
    author: toAuthor(author, hub),
    repo: { type: repository.type, name: repository.name },
    ...{ locked: false, collection: "discussions", isReport: false },
    ...(changes && { changes, filesWithConflicts: conflicts.length > 0 && conflicts }),
  };
}

function toEvent(event: StoredComment, hub: HubContext): EventOf<"comment">;
function toEvent<Type extends StoredDiscussionEvent["type"]>(
  event: Extract<StoredDiscussionEvent, { type: Type }>,
  hub: HubContext,
): EventOf<Type>;
function toEvent(event: StoredDiscussionEvent, hub: HubContext): DiscussionEvent;
function toEvent(event: StoredDiscussionEvent, hub: HubContext): DiscussionEvent {
  const common = {
    id: event.id,
    createdAt: new Date(event.createdAt).toISOString(),
    author: toAuthor(event.author, hub),
  };
  switch (event.type) {
    case "comment":
      return { ...common, type: "comment", data: commentData(event, hub) };
    case "status-change":
      return { ...common, type: "status-change", data: { status: event.status } };
    case "title-change":
      return { ...common, type: "title-change", data: { from: event.from, to: event.to } };
    case "pinning-change":
      return { ...common, type: "pinning-change", data: { pinned: event.pinned } };
  }
}

function commentData(comment: StoredComment, hub: HubContext): EventOf<"comment">["data"] {
  const { author, content, hidden, hiddenBy, updatedAt, edits } = comment;
  const editors = [...new Set(edits)];
  return {
    ...{ edited: edits.length > 0, hidden, numEdits: edits.length, editors, reactions: [] },
    ...(hiddenBy !== undefined && { hiddenBy }),
    // The local Hub does not render Markdown.
    latest: {
      ...{ raw: content, html: String(html`<p>${content}</p>`), updatedAt: new Date(updatedAt).toISOString() },
      author: toAuthor(edits.at(-1) ?? author, hub),
    },
    editorAvatarUrls: editors.map((editor) => getAvatarUrl(editor, hub)),
  };
}

/** Returns the commits that a pull request adds to its base, oldest first. */
function commitEvents(hub: HubContext, { repository, discussion }: Discussed): DiscussionEvent[] {
  const { content } = hub.store;
  const head = discussion.isPullRequest ? content.getRef(repository.id, pullRequestRef(discussion)) : undefined;
  if (head === undefined) return [];
  const commits = [];
  for (const commit of content.history(repository.id, head)) {
    if (commit.oid === discussion.baseCommit) break;
    commits.push(commit);
  }
  return commits.reverse().map(({ oid, title, author, date }) => ({
    ...{ id: oid.slice(0, 24), type: "commit" as const, createdAt: new Date(date).toISOString() },
    author: toAuthor(author, hub),
    data: { subject: title, oid },
  }));
}

function toAuthor(name: string, hub: HubContext): Author {
  return {
    ...{ _id: accountId(name), name, fullname: formatFullName(name), avatarUrl: getAvatarUrl(name, hub) },
    ...{ type: getAccountKind(name) ?? "user", isHf: false, isHfAdmin: false, isMod: false },
  };
}

const discussionsPerPage = 50;

type Query = z.output<typeof discussionOperations.list.request.query>;

/**
 * Returns a page of the discussions of a repository that match a search, and how many match before the page, on all pages, and with any
 * status other than open and draft. Pinned discussions come first, then newer ones.
 */
function searchDiscussions(store: Store, repository: StoredRepository, query: Query) {
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

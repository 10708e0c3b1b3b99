import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { discussionDetails, discussionOperations, discussionSummary } from "../../hub/repositories/discussions.ts";
import type { RepositoryPath } from "../../hub/repositories/repository-path.ts";
import type { HubContext } from "../hub-context.ts";
import { toDetails, toEvent, toSummary } from "../resources/repositories/discussion-info.ts";
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
import { formatPullRequestDiff, mergePullRequest, openPullRequest } from "../resources/repositories/pull-requests.ts";
import { searchDiscussions } from "../resources/repositories/search-discussions.ts";
import type { StoredComment } from "../store/discussion-store.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { findDiscussed } from "./discussion-access.ts";
import { checkNamespaceAccess } from "./repository-access.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const discussionRoutes = {
  list: describeRoute(discussionOperations.list, {
    tag: "discussions",
    token: "optional",
    parameters: {
      p: { in: "query", description: "The page, starting at 0." },
      author: { in: "query", description: "The name of the user who opened the discussion." },
      search: { in: "query", description: "Text in the title." },
    },
    success: { description: "The discussions, pinned discussions first, then newest first." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  create: describeRoute(discussionOperations.create, {
    tag: "discussions",
    success: { description: "The discussion." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  get: describeRoute(discussionOperations.get, {
    tag: "discussions",
    token: "optional",
    parameters: {
      diff: { in: "query", description: "With a value, the response contains the changes of a pull request." },
    },
    success: { description: "The discussion." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  delete: describeRoute(discussionOperations.delete, {
    tag: "discussions",
    success: { description: "The discussion was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  comment: describeRoute(discussionOperations.comment, {
    tag: "discussions",
    success: { description: "The comment." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  editComment: describeRoute(discussionOperations.editComment, {
    tag: "discussions",
    success: { description: "The comment." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  hideComment: describeRoute(discussionOperations.hideComment, {
    tag: "discussions",
    success: { description: "The comment." },
    errors: ["forbidden", "notFound"],
  }),
  setStatus: describeRoute(discussionOperations.setStatus, {
    tag: "discussions",
    success: { description: "The new status." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  setTitle: describeRoute(discussionOperations.setTitle, {
    tag: "discussions",
    success: { description: "The new title." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  pin: describeRoute(discussionOperations.pin, {
    tag: "discussions",
    success: { description: "The discussion was pinned or unpinned." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  merge: describeRoute(discussionOperations.merge, {
    tag: "discussions",
    success: { description: "The pull request was merged." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

type DiscussionPath = RepositoryPath & { num: string };

/**
 * Serves discussions and pull requests. Every user with a token that can write can open and comment on discussions of readable
 * repositories. Authors can change their own discussions and comments. All other changes require write access to the repository.
 */
export const discussionApi = {
  routes: discussionRoutes,
  components: { DiscussionSummary: discussionSummary, DiscussionDetails: discussionDetails },
  serve(app: Hono<ApiEnvironment>, hub: HubContext) {
    const { store, hubUrl } = hub;

    const find = (path: DiscussionPath, context: Context<ApiEnvironment>, access: "read" | "write") => {
      const repository = findDiscussed(hub, path, context.var.optionalCaller, access);
      const num = /^[1-9]\d{0,8}$/.test(path.num) ? Number(path.num) : 0;
      const discussion = store.discussions.get({ repositoryId: repository.id, num });
      if (!discussion) throw new HTTPException(404, { message: `There is no discussion ${path.num}.` });
      return { repository, discussion };
    };
    const target = (path: DiscussionPath, context: Context<ApiEnvironment>): DiscussionTarget => ({
      ...find(path, context, "write"),
      user: context.var.caller.user,
    });
    const checkWriteAccess = (path: RepositoryPath, context: Context<ApiEnvironment>) =>
      checkNamespaceAccess(store, { caller: context.var.caller, namespace: path.namespace });
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
      if (!comment) throw new HTTPException(404, { message: `There is no comment "${commentId}" in this discussion.` });
      if (comment.author !== found.user) checkWriteAccess(path, context);
      return { ...found, comment };
    };

    serveRoute(app, discussionRoutes.list, ({ params, query }, context) => {
      const repository = findDiscussed(hub, params, context.var.optionalCaller, "read");
      const { page, start, count, closed } = searchDiscussions(store, { repository, query });
      const comments = store.discussions.countComments(repository.id);
      const discussions = page.map((discussion) =>
        toSummary(discussion, { repository, comments: comments.get(discussion.num) ?? 0, hubUrl }),
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
      const url = `${hubUrl}${repositoryUrlPath(repository)}/discussions/${num}`;
      return { url, num, pullRequest, ...(changes && { references: changes }) };
    });

    serveRoute(app, discussionRoutes.get, ({ params, query: { diff } }, context) => {
      const found = find(params, context, "read");
      const details = toDetails(hub, found);
      const withDiff = diff !== undefined && found.discussion.isPullRequest;
      return { ...details, ...(withDiff && { diff: formatPullRequestDiff(hub, found) }) };
    });

    serveRoute(app, discussionRoutes.delete, ({ params }, context) => {
      const found = target(params, context);
      checkWriteAccess(params, context);
      deleteDiscussion(hub, found);
      return {};
    });

    serveRoute(app, discussionRoutes.comment, ({ params, body: { comment } }, context) => {
      const { event } = addComment(hub, { ...target(params, context), content: comment });
      return { newMessage: toEvent(event, { hubUrl }) };
    });

    serveRoute(app, discussionRoutes.editComment, ({ params, body: { content } }, context) => {
      const { event } = editComment(hub, { ...ownComment(params, context), content });
      return { updatedComment: toEvent(event, { hubUrl }) };
    });

    serveRoute(app, discussionRoutes.hideComment, ({ params }, context) => {
      const { event } = hideComment(hub, ownComment(params, context));
      return { updatedComment: toEvent(event, { hubUrl }) };
    });

    serveRoute(app, discussionRoutes.setStatus, ({ params, body: { status, comment } }, context) => {
      const { event } = changeStatus(hub, { ...ownTarget(params, context), status, comment });
      return { newStatus: toEvent(event, { hubUrl }) };
    });

    serveRoute(app, discussionRoutes.setTitle, ({ params, body: { title } }, context) => {
      const { event } = changeTitle(hub, { ...ownTarget(params, context), title });
      return { newTitle: toEvent(event, { hubUrl }) };
    });

    serveRoute(app, discussionRoutes.pin, ({ params, body: { pinned } }, context) => {
      const found = target(params, context);
      checkWriteAccess(params, context);
      setPinned(hub, { ...found, pinned });
      return {};
    });

    serveRoute(app, discussionRoutes.merge, ({ params, body }, context) => {
      const found = target(params, context);
      checkWriteAccess(params, context);
      mergePullRequest(hub, { ...found, comment: body?.comment });
      return {};
    });
  },
} satisfies ResourceApi;

/** Returns the path of a repository's page on the Hub. */
function repositoryUrlPath({ type, name }: StoredRepository): string {
  return type === "model" ? `/${name}` : `/${type}s/${name}`;
}

import * as z from "zod/mini";
import { discussionStatuses } from "../../payload/names.ts";
import { jsonBody, type Operations } from "../operation.ts";
import { type RepoRef, repoRef, responseEnum, timestamp, undocumentedBody, wholeNumber } from "../schemas.ts";
import { repositoryPath } from "./repository-path.ts";

/** The type is open, because the Hub adds repository types. */
const returnedRepo: z.ZodMiniType<RepoRef, RepoRef> = repoRef;

/** The user or organization that opened a discussion, or that made a change of a discussion. */
const discussionAuthor = z.object({
  _id: z.string(),
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  type: responseEnum(["user", "org"]),
  isHf: z.boolean(),
  isHfAdmin: z.boolean(),
  isMod: z.boolean(),
});

const status = responseEnum(discussionStatuses);

const event = {
  id: z.string(),
  createdAt: timestamp,
  /** Missing if the account was deleted. */
  author: z.optional(discussionAuthor),
};

const commentData = z.object({
  edited: z.boolean(),
  hidden: z.boolean(),
  hiddenBy: z.optional(z.string()),
  /** The current text. Empty while the comment is hidden. */
  latest: z.object({
    raw: z.string(),
    html: z.string(),
    updatedAt: timestamp,
    /** The author of the current text. */
    author: z.optional(discussionAuthor),
  }),
  numEdits: z.number(),
  editors: z.array(z.string()),
  editorAvatarUrls: z.array(z.string()),
  reactions: z.array(z.unknown()),
});

const commentEvent = z.object({ ...event, type: z.literal("comment"), data: commentData });
const statusEvent = z.object({
  ...event,
  type: z.literal("status-change"),
  data: z.object({ status, reason: z.optional(z.string()) }),
});
const titleEvent = z.object({
  ...event,
  type: z.literal("title-change"),
  data: z.object({ from: z.string(), to: z.string() }),
});

/** A comment or a change in a discussion. Its fields depend on `type`. */
const discussionEvent = z.discriminatedUnion("type", [
  commentEvent,
  statusEvent,
  titleEvent,
  z.object({ ...event, type: z.literal("commit"), data: z.object({ subject: z.string(), oid: z.string() }) }),
  z.object({ ...event, type: z.literal("pinning-change"), data: z.object({ pinned: z.boolean() }) }),
  z.object({ ...event, type: z.literal("ref-deleted") }),
]);

const discussion = {
  num: z.number(),
  author: z.optional(discussionAuthor),
  repo: returnedRepo,
  title: z.string(),
  createdAt: timestamp,
  status,
};

/** A discussion or pull request in a list. */
export const discussionSummary = z.object({
  ...discussion,
  isPullRequest: z.boolean(),
  numComments: z.number(),
  numReactionUsers: z.number(),
  topReactions: z.array(z.unknown()),
  pinned: z.boolean(),
});

/** A discussion or pull request with its events. */
export const discussionDetails = z.object({
  _id: z.string(),
  ...discussion,
  /** Oldest first. The first event is the description, as a comment. */
  events: z.array(discussionEvent),
  pinned: z.boolean(),
  locked: z.boolean(),
  collection: z.string(),
  isPullRequest: z.boolean(),
  isReport: z.boolean(),
  /** The paths that prevent a merge, or `false`. Only for pull requests. */
  filesWithConflicts: z.optional(z.union([z.boolean(), z.array(z.string())])),
  /** Only for pull requests. */
  changes: z.optional(
    z.object({
      /** The full name of the target branch, such as `refs/heads/main`. */
      base: z.string(),
      mergeCommitId: z.optional(z.string()),
    }),
  ),
  diffUrl: z.optional(z.string()),
  /** The changes of a pull request in git's format, if the request has `diff`. */
  diff: z.optional(z.string()),
});

const path = z.object({ ...repositoryPath.shape, num: z.string() });
const commentPath = z.object({ ...path.shape, commentId: z.string() });
const text = z.string().check(z.minLength(1), z.maxLength(65_536));
const title = z.string().check(z.minLength(3), z.maxLength(200));
const optionalComment = z.optional(z.string().check(z.maxLength(65_536)));

const search = z.object({
  p: wholeNumber({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }),
  type: z.optional(responseEnum(["all", "discussion", "pull_request"])),
  status: z.optional(responseEnum(["all", "open", "closed"])),
  /** The name of a user or an organization. */
  author: z.optional(z.string()),
  /** Text in the title. */
  search: z.optional(z.string()),
  sort: z.optional(responseEnum(["recently-created", "trending", "reactions"])),
});

const base = "/api/{repoType}/{namespace}/{repo}/discussions";

/** The operations on discussions and pull requests. */
export const discussionOperations = {
  list: {
    requestLine: `GET ${base}`,
    operationId: "listDiscussions",
    summary: "List the discussions of a repository",
    request: { params: repositoryPath, query: search },
    response: z.object({
      discussions: z.array(discussionSummary),
      /** The number of matching discussions on all pages. */
      count: z.number(),
      /** The number of matching discussions before this page. */
      start: z.number(),
      numClosedDiscussions: z.optional(z.number()),
    }),
  },
  create: {
    requestLine: `POST ${base}`,
    operationId: "createDiscussion",
    summary: "Open a discussion or pull request",
    request: {
      params: repositoryPath,
      body: jsonBody(
        z.object({
          title,
          description: z.string().check(z.maxLength(65_536)),
          /** Opens a draft pull request without changes. Default `false`. */
          pullRequest: z._default(z.boolean(), false),
        }),
      ),
    },
    response: z.object({
      url: z.string(),
      num: z.number(),
      pullRequest: z.boolean(),
      references: z.optional(z.object({ base: z.string(), mergeCommitId: z.optional(z.string()) })),
    }),
  },
  get: {
    requestLine: `GET ${base}/{num}`,
    operationId: "getDiscussion",
    summary: "Get a discussion or pull request",
    request: { params: path, query: z.object({ diff: z.optional(z.string()) }) },
    response: discussionDetails,
  },
  delete: {
    requestLine: `DELETE ${base}/{num}`,
    operationId: "deleteDiscussion",
    summary: "Delete a discussion or pull request",
    request: { params: path },
    response: undocumentedBody,
  },
  comment: {
    requestLine: `POST ${base}/{num}/comment`,
    operationId: "createComment",
    summary: "Comment on a discussion",
    request: { params: path, body: jsonBody(z.object({ comment: text })) },
    response: z.object({ newMessage: commentEvent }),
  },
  editComment: {
    requestLine: `POST ${base}/{num}/comment/{commentId}/edit`,
    operationId: "editComment",
    summary: "Edit a comment",
    request: { params: commentPath, body: jsonBody(z.object({ content: text })) },
    response: z.object({ updatedComment: commentEvent }),
  },
  hideComment: {
    requestLine: `POST ${base}/{num}/comment/{commentId}/hide`,
    operationId: "hideComment",
    summary: "Hide a comment",
    request: { params: commentPath },
    response: z.object({ updatedComment: commentEvent }),
  },
  setStatus: {
    requestLine: `POST ${base}/{num}/status`,
    operationId: "setDiscussionStatus",
    summary: "Open or close a discussion",
    request: {
      params: path,
      body: jsonBody(z.object({ status: z.enum(["open", "closed"]), comment: optionalComment })),
    },
    response: z.object({ newStatus: statusEvent }),
  },
  setTitle: {
    requestLine: `POST ${base}/{num}/title`,
    operationId: "setDiscussionTitle",
    summary: "Change the title of a discussion",
    request: { params: path, body: jsonBody(z.object({ title })) },
    response: z.object({ newTitle: titleEvent }),
  },
  pin: {
    requestLine: `POST ${base}/{num}/pin`,
    operationId: "pinDiscussion",
    summary: "Pin a discussion",
    request: { params: path, body: jsonBody(z.object({ pinned: z.boolean() })) },
    response: undocumentedBody,
  },
  merge: {
    requestLine: `POST ${base}/{num}/merge`,
    operationId: "mergePullRequest",
    summary: "Merge a pull request",
    request: { params: path, body: { ...jsonBody(z.object({ comment: optionalComment })), required: false } },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** A discussion or pull request in a list. */
export type DiscussionSummary = z.output<typeof discussionSummary>;
/** A discussion or pull request with its events. */
export type DiscussionDetails = z.output<typeof discussionDetails>;
/** A comment or a change in a discussion. Its fields depend on `type`. */
export type DiscussionEvent = z.output<typeof discussionEvent>;

import { createRoute, z } from "@hono/zod-openapi";
import { discussionStatuses, repoTypes } from "../../payload/schema.ts";
import { jsonAnswer, jsonBody } from "./json.ts";
import { openEnum } from "./open.ts";
import { flag, type SearchOf, wholeNumber } from "./query.ts";
import { type RepoId, repoId } from "./repositories.ts";
import { bearer, notShown, objectId, refusals, timestamp } from "./values.ts";

/** The states of a discussion, as a notification tells them. */
export const discussionStatus = openEnum(discussionStatuses);

/** An answer may hold a newer type of repository than a request can name. */
const answeredRepoId: z.ZodType<RepoId, RepoId> = repoId;

const participating = z.array(z.strictObject({ _id: objectId, avatar: z.string(), user: z.string() }));

const common = {
  updatedAt: timestamp,
  read: z.boolean(),
  discussionEventId: z.string().optional(),
};

/** A notification; `type` tells which of the four it is. */
export const notification = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("paper"),
      ...common,
      paper: z.strictObject({ _id: objectId, title: z.string() }),
      paperDiscussion: z.strictObject({ id: z.string(), participating, paperId: objectId }),
    }),
    z.strictObject({
      type: z.literal("repo"),
      ...common,
      repo: answeredRepoId,
      discussion: z.strictObject({
        num: z.number(),
        title: z.string(),
        status: discussionStatus,
        id: objectId,
        isPullRequest: z.boolean(),
        participating,
      }),
    }),
    z.strictObject({
      type: z.literal("post"),
      ...common,
      post: z.strictObject({
        id: z.string(),
        slug: z.string(),
        authorName: z.string(),
        title: z.string(),
        participating,
      }),
    }),
    z.strictObject({
      type: z.literal("community_blog"),
      ...common,
      blog: z.strictObject({
        id: z.string(),
        slug: z.string(),
        title: z.string(),
        canonical: z.boolean(),
        participating,
        authorName: z.string().optional(),
      }),
    }),
  ])
  .openapi("Notification");

/** A page of notifications. */
export const notificationPage = z
  .strictObject({
    notifications: z.array(notification),
    /** How many match the search, are unread, and are there at all. */
    count: z.strictObject({ view: z.number(), unread: z.number(), all: z.number() }),
    /** How many of those that match stand before the first one here. */
    start: z.number(),
  })
  .openapi("NotificationPage");

/** Which notifications; every field narrows it (hub-api.md, Notification search parameters). */
const search = z.object({
  p: wholeNumber({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }),
  readStatus: openEnum(["all", "unread"]).default("all"),
  repoType: openEnum(repoTypes).optional(),
  repoName: z.string().optional(),
  postAuthor: z.string().optional(),
  paperId: z.string().optional(),
  articleId: z.string().optional(),
  mention: openEnum(["all", "participating", "mentions"]).default("all"),
  lastUpdate: timestamp.optional(),
});

const searchAndApply = search.extend({ applyToAll: flag() });

/** The notifications to delete, by the ids of their discussions. */
export const notificationDeletion = z
  .object({ discussionIds: z.array(objectId).min(1).readonly().optional() })
  .openapi("NotificationDeletion");

/** The discussions to mark, and as what. */
export const notificationMark = z
  .object({ discussionIds: z.array(z.string()).readonly().default([]), read: z.boolean().default(true) })
  .openapi("NotificationMark");

/** A notification; `type` tells which of the four it is. */
export type Notification = z.output<typeof notification>;
/** A page of notifications: `count` and `start` say where it stands among all. */
export type NotificationPage = z.output<typeof notificationPage>;
/** Which notifications: every field narrows it, `p` is the page, from 0 on. */
export type NotificationSearch = SearchOf<typeof search>;

const tags = ["notifications"];

/** The operations on notifications (hub-api.md, Notifications). */
export const notificationRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/notifications",
    operationId: "listNotifications",
    summary: "List your notifications",
    tags,
    security: bearer,
    request: { query: search },
    responses: {
      200: jsonAnswer("A page of them, the latest first.", notificationPage),
      ...refusals.invalid,
      ...refusals.unauthorized,
    },
  }),
  delete: createRoute({
    method: "delete",
    path: "/api/notifications",
    operationId: "deleteNotifications",
    summary: "Delete notifications",
    tags,
    security: bearer,
    request: { query: searchAndApply, body: { ...jsonBody(notificationDeletion), required: false } },
    responses: {
      200: jsonAnswer("They are gone.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
  markAsRead: createRoute({
    method: "post",
    path: "/api/notifications/mark-as-read",
    operationId: "markNotificationsAsRead",
    summary: "Mark notifications as read or unread",
    tags,
    security: bearer,
    request: { query: searchAndApply, body: jsonBody(notificationMark) },
    responses: {
      200: jsonAnswer("They are marked.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
} as const;

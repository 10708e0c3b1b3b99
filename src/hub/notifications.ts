import * as z from "zod/mini";
import { discussionStatuses, repoTypes } from "../payload/names.ts";
import { type CallOptions, jsonBody, type Operations } from "./operation.ts";
import {
  flag,
  objectId,
  type RepoRef,
  repoRef,
  responseEnum,
  type SearchOf,
  timestamp,
  undocumentedBody,
  wholeNumber,
} from "./schemas.ts";
import type { Transport } from "./transport/transport.ts";
import { fieldInvalid } from "./validation/arguments.ts";

/** The status of a discussion in a notification. */
export const discussionStatus = responseEnum(discussionStatuses);

/** The type is open, because the Hub adds repository types. */
const returnedRepo: z.ZodMiniType<RepoRef, RepoRef> = repoRef;

const participating = z.array(z.strictObject({ _id: objectId, avatar: z.string(), user: z.string() }));

const common = {
  updatedAt: timestamp,
  read: z.boolean(),
  discussionEventId: z.optional(z.string()),
};

/** A notification. Its fields depend on `type`. */
export const notification = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("paper"),
    ...common,
    paper: z.strictObject({ _id: objectId, title: z.string() }),
    paperDiscussion: z.strictObject({ id: z.string(), participating, paperId: objectId }),
  }),
  z.strictObject({
    type: z.literal("repo"),
    ...common,
    repo: returnedRepo,
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
      authorName: z.optional(z.string()),
    }),
  }),
]);

/** A page of notifications. */
export const notificationPage = z.strictObject({
  notifications: z.array(notification),
  /** The number of notifications that match the search, of unread notifications, and of all notifications. */
  count: z.strictObject({ view: z.number(), unread: z.number(), all: z.number() }),
  /** The number of matching notifications before this page. */
  start: z.number(),
});

/** A search for notifications. Each field narrows the result. */
const search = z.object({
  p: wholeNumber({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }),
  readStatus: z._default(responseEnum(["all", "unread"]), "all"),
  repoType: z.optional(responseEnum(repoTypes)),
  repoName: z.optional(z.string()),
  postAuthor: z.optional(z.string()),
  paperId: z.optional(z.string()),
  articleId: z.optional(z.string()),
  mention: z._default(responseEnum(["all", "participating", "mentions"]), "all"),
  lastUpdate: z.optional(timestamp),
});

const searchAndApply = z.object({ ...search.shape, applyToAll: flag() });

/** Notifications to delete, by the IDs of their discussions. */
export const notificationDeletion = z.object({
  discussionIds: z.optional(z.readonly(z.array(objectId).check(z.minLength(1)))),
});

/** Notifications to mark as read or unread, by the IDs of their discussions. */
export const notificationMark = z.object({
  discussionIds: z._default(z.readonly(z.array(z.string())), []),
  read: z._default(z.boolean(), true),
});

/** A notification. Its fields depend on `type`. */
export type Notification = z.output<typeof notification>;
/** A page of notifications, with the number of matches before it (`start`) and in total (`count`). */
export type NotificationPage = z.output<typeof notificationPage>;
/** A search for notifications. `p` is the page number, starting at 0. The other fields narrow the result. */
export type NotificationSearch = SearchOf<typeof search>;

/** The operations on notifications (docs/reference/hub-api.md, Notifications). */
export const notificationOperations = {
  list: {
    requestLine: "GET /api/notifications",
    operationId: "listNotifications",
    summary: "List your notifications",
    request: { query: search },
    response: notificationPage,
  },
  delete: {
    requestLine: "DELETE /api/notifications",
    operationId: "deleteNotifications",
    summary: "Delete notifications",
    request: { query: searchAndApply, body: { ...jsonBody(notificationDeletion), required: false } },
    response: undocumentedBody,
  },
  markAsRead: {
    requestLine: "POST /api/notifications/mark-as-read",
    operationId: "markNotificationsAsRead",
    summary: "Mark notifications as read or unread",
    request: { query: searchAndApply, body: jsonBody(notificationMark) },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** The notifications to delete or to mark. */
export interface NotificationSelection extends NotificationSearch {
  /**
   * The IDs of the discussions: `discussion.id`, `paperDiscussion.id`, `post.id`, or `blog.id` of a notification. To delete
   * notifications, pass at least one ID of 24 lowercase hexadecimal digits.
   */
  discussionIds?: readonly string[] | undefined;
  /** Whether to select all notifications that match the other fields, on all pages, instead of `discussionIds`. Default `false`. */
  applyToAll?: boolean | undefined;
}

/**
 * The methods of `hub.notifications` for the notifications of the token's user.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields.
 */
export class HubNotifications {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Returns one page of notifications, newest first. `p` is the page number, starting at 0. The other fields are
   * filters.
   *
   * @example
   * ```ts
   * const { notifications, count } = await hub.notifications.list({ readStatus: "unread", repoType: "dataset" });
   * ```
   */
  list(search?: NotificationSearch, options?: CallOptions): Promise<NotificationPage> {
    return this.#transport.call(notificationOperations.list, { query: search }, options);
  }

  /**
   * Deletes the notifications of the given discussions, or all notifications that match a search. Pass `lastUpdate` to keep
   * notifications that arrived after you listed them. Without `lastUpdate`, the client does not retry a call that the Hub may have
   * processed.
   *
   * @example
   * ```ts
   * await hub.notifications.delete({ discussionIds: ["65b2f0a1c3d4e5f60718293a"] });
   * await hub.notifications.delete({ applyToAll: true, repoType: "dataset", repoName: "acme/old-data" });
   * ```
   */
  async delete(selection: NotificationSelection, options?: CallOptions): Promise<void> {
    const { discussionIds, ...query } = checkSelection(selection);
    const body = discussionIds === undefined ? undefined : { discussionIds };
    const idempotent = isBounded(selection);
    await this.#transport.call(notificationOperations.delete, { query, body }, { ...options, idempotent });
  }

  /**
   * Marks the notifications of the given discussions, or all notifications that match a search, as read. With `read: false`, marks
   * the notifications as unread.
   *
   * @example
   * ```ts
   * await hub.notifications.markAsRead({ applyToAll: true, lastUpdate: new Date().toISOString() });
   * ```
   */
  async markAsRead(
    selection: NotificationSelection & { read?: boolean | undefined },
    options?: CallOptions,
  ): Promise<void> {
    const { discussionIds, read, ...query } = checkSelection(selection);
    const idempotent = isBounded(selection);
    const input = { query, body: { discussionIds, read } };
    await this.#transport.call(notificationOperations.markAsRead, input, { ...options, idempotent });
  }
}

/** Whether a retry selects only notifications that arrived before the first attempt. */
function isBounded({ applyToAll, lastUpdate }: NotificationSelection): boolean {
  return applyToAll !== true || lastUpdate !== undefined;
}

/**
 * Rejects a selection without `discussionIds` and `applyToAll`. The Hub would accept such a selection, but the call would have no
 * effect.
 */
function checkSelection<Selection extends NotificationSelection>(selection: Selection): Selection {
  if (selection?.discussionIds !== undefined || selection?.applyToAll === true) return selection;
  throw fieldInvalid("discussionIds", 'pass IDs, or "applyToAll": true for all notifications that match the search');
}

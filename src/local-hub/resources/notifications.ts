import * as z from "zod";
import {
  discussionStatus,
  type Notification,
  type NotificationPage,
  type NotificationSearch,
  notification,
  notificationDeletion,
  notificationMark,
  notificationOperations,
  notificationPage,
} from "../../hub/notifications.ts";
import { objectId } from "../../hub/schemas.ts";
import type { NotificationWatchItem } from "../../hub/settings.ts";
import { coversScope } from "../../payload/schema.ts";
import { canReadPrivate, findUserById } from "../access.ts";
import { accountId, type Caller, getAccountKind, getAvatarUrl, getOwner, tokenUsers } from "../accounts.ts";
import { canRead } from "../routes/repository-access.ts";
import { describeRoutes, type ResourceApi, serveRoute } from "../routes/route.ts";
import type { KeyedRecord, StoredNotification } from "../store/records.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { getSettings } from "./account.ts";

const notificationRoutes = describeRoutes(notificationOperations, "notifications", {
  list: { success: "A page of notifications, the newest first." },
  delete: { success: "The notifications were deleted." },
  markAsRead: { success: "The notifications were marked." },
});

/** Users have access only to their own notifications. */
export const notificationApi = {
  routes: notificationRoutes,
  components: {
    Notification: notification,
    NotificationPage: notificationPage,
    NotificationDeletion: notificationDeletion,
    NotificationMark: notificationMark,
  },
  serve(app, { store, hubUrl }) {
    serveRoute(app, notificationRoutes.list, ({ query: { p = 0, ...search } }, context): NotificationPage => {
      const all = readableNotifications(store, context.var.caller);
      const matching = all
        .filter((notification) => matches(store, notification, search))
        .sort((one, other) => other.record.updatedAt - one.record.updatedAt);
      const start = p * notificationsPerPage;
      const page = matching.slice(start, start + notificationsPerPage);
      return {
        notifications: page.map((notification) => toNotification(notification, hubUrl)),
        count: { view: matching.length, unread: all.filter(({ record }) => !record.read).length, all: all.length },
        start,
      };
    });

    serveRoute(app, notificationRoutes.delete, ({ query, body: { discussionIds = [] } }, context) => {
      const selected = select(store, context.var.caller, query, discussionIds);
      store.transaction(() => {
        for (const notification of selected) store.notifications.delete(notification);
      });
    });

    serveRoute(app, notificationRoutes.markAsRead, ({ query, body: { read, discussionIds } }, context) => {
      const selected = select(store, context.var.caller, query, discussionIds);
      store.notifications.put(...selected.map((marked) => ({ ...marked, record: { ...marked.record, read } })));
    });
  },
} satisfies ResourceApi;

const notificationsPerPage = 20;

type KeyedNotification = KeyedRecord<StoredNotification>;

/** Selects the notifications about discussions, or with `applyToAll`, those on all pages that match the search. */
function select(
  store: Store,
  caller: Caller,
  { applyToAll, ...search }: NotificationSearch & { applyToAll: boolean },
  discussionIds: readonly string[],
): KeyedNotification[] {
  return readableNotifications(store, caller).filter((notification) =>
    applyToAll ? matches(store, notification, search) : discussionIds.includes(notification.id),
  );
}

/** Leaves out notifications about private repositories that the token can no longer read. */
function readableNotifications(store: Store, caller: Caller): KeyedNotification[] {
  return store.notifications.listByOwner(caller.user).filter(({ record: { about } }) => {
    const repository = about.type === "repo" && store.repositories.get(about.repo);
    return !repository || canRead(store, repository, caller);
  });
}

function matches(store: Store, notification: KeyedNotification, search: NotificationSearch): boolean {
  const { readStatus, repoType, repoName, postAuthor, paperId, articleId, mention, lastUpdate } = search;
  const { owner: user, record } = notification;
  const { about } = record;
  if (readStatus === "unread" && record.read) return false;
  if (repoType !== undefined && !(about.type === "repo" && about.repo.type === repoType)) return false;
  if (repoName !== undefined && !(about.type === "repo" && about.repo.name === repoName)) return false;
  if (postAuthor !== undefined && !(about.type === "post" && about.authorName === postAuthor)) return false;
  if (paperId !== undefined && !(about.type === "paper" && isPaper(store, about.paper._id, paperId))) return false;
  if (
    articleId !== undefined &&
    !(about.type === "community_blog" && [notification.id, about.slug].includes(articleId))
  ) {
    return false;
  }
  if (mention === "participating" && !record.participating.includes(user)) return false;
  if (mention === "mentions" && !record.mentions) return false;
  return lastUpdate === undefined || record.updatedAt <= Date.parse(lastUpdate);
}

/** Whether an object is the paper with this ID. A paper has two IDs: its object ID and the ID of its preprint. */
function isPaper(store: Store, objectId: string, paperId: string): boolean {
  return objectId === paperId || store.papers.get({ owner: "", id: paperId })?.objectId === objectId;
}

function toNotification({ id, record }: KeyedNotification, hubUrl: string): Notification {
  const { about, updatedAt, read, discussionEventId } = record;
  const common = {
    updatedAt: new Date(updatedAt).toISOString(),
    read,
    ...(discussionEventId !== undefined && { discussionEventId }),
  };
  const participating = record.participating.map((user) => {
    return { _id: accountId(user), avatar: getAvatarUrl(user, { hubUrl }), user };
  });
  switch (about.type) {
    case "paper": {
      const { type, paper } = about;
      return { type, ...common, paper, paperDiscussion: { id, participating, paperId: paper._id } };
    }
    case "repo": {
      const { type, repo, discussion } = about;
      return { type, ...common, repo, discussion: { ...discussion, id, participating } };
    }
    case "post": {
      const { type, ...post } = about;
      return { type, ...common, post: { ...post, id, participating } };
    }
    case "community_blog": {
      const { type, authorName, ...blog } = about;
      const author = authorName === undefined ? {} : { authorName };
      return { type, ...common, blog: { ...blog, ...author, id, participating } };
    }
  }
}

/** Updates the notifications about a repository after the repository was moved, or deletes them after it was deleted. */
export function syncNotifications(store: Store, before: StoredRepository, after: StoredRepository | undefined): void {
  if (after?.name === before.name) return;
  for (const notification of tokenUsers.flatMap((user) => store.notifications.listByOwner(user))) {
    const { about } = notification.record;
    if (about.type !== "repo" || about.repo.type !== before.type || about.repo.name !== before.name) continue;
    if (!after) store.notifications.delete(notification);
    else {
      const moved = { ...about, repo: { ...about.repo, name: after.name } };
      store.notifications.put({ ...notification, record: { ...notification.record, about: moved } });
    }
  }
}

const author = z.object({ id: z.string() });

const discussionPayload = z.object({
  discussion: z.object({
    id: objectId,
    num: z.number(),
    title: z.string(),
    status: discussionStatus,
    isPullRequest: z.boolean(),
    author,
  }),
  comment: z.object({ id: z.string(), author, content: z.string().optional() }).optional(),
});

/**
 * Notifies the users who watch a repository or its owner about an event on a discussion. Returns the names of the notified users.
 * Each user has one notification per discussion. Later events mark the notification as unread again. Deleting the discussion
 * deletes the notification.
 */
export function notifyWatchers(
  { store, now }: { store: Store; now: () => number },
  event: { scope: string; action: string; repository: StoredRepository; payload: Record<string, unknown> },
): string[] {
  const { scope, action, repository, payload } = event;
  if (!coversScope("discussion", scope)) return [];
  // A custom event can lack fields that a notification needs.
  const parsed = discussionPayload.safeParse(payload).data;
  if (!parsed) return [];
  const { author: opener, id, ...discussion } = parsed.discussion;
  const { comment } = parsed;
  const notified: string[] = [];
  for (const user of tokenUsers) {
    const key = { owner: user, id };
    if (scope === "discussion" && action === "delete") {
      store.notifications.delete(key);
      continue;
    }
    if (!shouldNotify(store, { user, repository })) continue;
    const before = store.notifications.get(key);
    const participants = [opener, ...(comment ? [comment.author] : [])]
      .map((participant) => findUserById(store, participant.id))
      .filter((name) => name !== undefined);
    const discussionEventId = comment?.id ?? before?.discussionEventId;
    store.notifications.put({
      ...key,
      record: {
        updatedAt: now(),
        read: false,
        participating: [...new Set([...(before?.participating ?? []), ...participants])],
        mentions: before?.mentions === true || isMentioned(user, comment?.content ?? ""),
        ...(discussionEventId !== undefined && { discussionEventId }),
        about: { type: "repo", repo: { type: repository.type, name: repository.name }, discussion },
      },
    });
    notified.push(user);
  }
  return notified;
}

function shouldNotify(store: Store, { user, repository }: { user: string; repository: StoredRepository }): boolean {
  const { notifications, watched } = getSettings(store, user);
  if (notifications.web_discussions_watched === false) return false;
  if (!watched.some((item) => isWatchItemOf(item, repository))) return false;
  return !repository.private || canReadPrivate(store, user, getOwner(repository));
}

function isWatchItemOf({ type, id }: NotificationWatchItem, repository: StoredRepository): boolean {
  if (type === "repo") return id === repository.id;
  const owner = getOwner(repository);
  // An unknown name can belong to a user or an organization.
  return id === accountId(owner) && type === (getAccountKind(owner) ?? type);
}

function isMentioned(user: string, text: string): boolean {
  return new RegExp(`@${user}(?![\\w-])`).test(text);
}

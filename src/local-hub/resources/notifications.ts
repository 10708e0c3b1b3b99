import * as z from "zod";
import {
  discussionStatus,
  type Notification,
  type NotificationPage,
  type NotificationSearch,
} from "../../hub/notifications.ts";
import { objectId } from "../../hub/schemas.ts";
import type { WatchItem } from "../../hub/settings.ts";
import { coversScope } from "../../payload/scope.ts";
import { canReadPrivate } from "../access.ts";
import { accountId, accountKind, ownerOf, tokenUsers, userOfId } from "../accounts.ts";
import type { KeyedRecord, StoredNotification } from "../store/records.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { avatarUrlOf } from "./avatars.ts";
import { settingsOf } from "./settings.ts";

/** How many notifications a page has. */
const notificationsPerPage = 20;

/** Whose notifications, and where they are kept. */
export interface NotificationsOf {
  store: Store;
  user: string;
}

/** Which notifications are to be changed. */
export interface NotificationChoice {
  /** The ids of their discussions. */
  discussionIds: readonly string[];
  /** Takes all that match the search in their place, on whatever page they are. */
  applyToAll: boolean;
  search: NotificationSearch;
}

type Kept = KeyedRecord<StoredNotification>;

/** Lets notifications follow a repository that moves, and go with one that is deleted. */
export function followInNotifications(
  store: Store,
  { before, after }: { before: StoredRepository; after: StoredRepository | undefined },
): void {
  if (after?.name === before.name) return;
  for (const kept of tokenUsers.flatMap((user) => store.notifications.of(user))) {
    const { about } = kept.record;
    if (about.type !== "repo" || about.repo.type !== before.type || about.repo.name !== before.name) continue;
    if (!after) store.notifications.delete(kept);
    else {
      const moved = { ...about, repo: { ...about.repo, name: after.name } };
      store.notifications.put({ ...kept, record: { ...kept.record, about: moved } });
    }
  }
}

/** A page of a user's notifications, the latest first, as it is answered. */
export function notificationPage(
  { store, user, baseUrl }: NotificationsOf & { baseUrl: string },
  { p = 0, ...search }: NotificationSearch,
): NotificationPage {
  const all = visible({ store, user });
  const view = all
    .filter((kept) => matches(kept, { search, store }))
    .sort((one, other) => other.record.updatedAt - one.record.updatedAt);
  const start = p * notificationsPerPage;
  return {
    notifications: view.slice(start, start + notificationsPerPage).map((kept) => toAnswer(kept, { baseUrl })),
    count: { view: view.length, unread: all.filter(({ record }) => !record.read).length, all: all.length },
    start,
  };
}

/** Marks notifications of a user as read, or as unread. */
export function markNotifications(
  of: NotificationsOf,
  { read, ...choice }: NotificationChoice & { read: boolean },
): void {
  const marked = chosen(of, choice).map((kept) => ({ ...kept, record: { ...kept.record, read } }));
  of.store.notifications.put(...marked);
}

/** Deletes notifications of a user. */
export function deleteNotifications(of: NotificationsOf, choice: NotificationChoice): void {
  const { notifications, atOnce } = of.store;
  const gone = chosen(of, choice);
  atOnce(() => {
    for (const kept of gone) notifications.delete(kept);
  });
}

function chosen({ store, user }: NotificationsOf, { discussionIds, applyToAll, search }: NotificationChoice): Kept[] {
  const listed = new Set(discussionIds);
  return visible({ store, user }).filter((kept) =>
    applyToAll ? matches(kept, { search, store }) : listed.has(kept.id),
  );
}

/** A user's notifications, but for those on repositories that have become private to others since. */
function visible({ store, user }: NotificationsOf): Kept[] {
  return store.notifications.of(user).filter(({ record: { about } }) => {
    if (about.type !== "repo" || !store.repositories.get(about.repo)?.private) return true;
    return canReadPrivate(store, { user, owner: ownerOf(about.repo) });
  });
}

/** Whether a notification is all that a search asks for. */
function matches(kept: Kept, { search, store }: { search: NotificationSearch; store: Store }): boolean {
  const { readStatus, repoType, repoName, postAuthor, paperId, articleId, mention, lastUpdate } = search;
  const { owner: user, record } = kept;
  const { about } = record;
  if (readStatus === "unread" && record.read) return false;
  if (repoType !== undefined && !(about.type === "repo" && about.repo.type === repoType)) return false;
  if (repoName !== undefined && !(about.type === "repo" && about.repo.name === repoName)) return false;
  if (postAuthor !== undefined && !(about.type === "post" && about.authorName === postAuthor)) return false;
  if (paperId !== undefined && !(about.type === "paper" && isPaper(about.paper._id, { paperId, store }))) return false;
  if (articleId !== undefined && !(about.type === "community_blog" && [kept.id, about.slug].includes(articleId))) {
    return false;
  }
  if (mention === "participating" && !record.participating.includes(user)) return false;
  if (mention === "mentions" && !record.mentions) return false;
  return lastUpdate === undefined || record.updatedAt <= Date.parse(lastUpdate);
}

/** Whether a paper is meant: by its own id, or by that of its preprint. */
function isPaper(objectId: string, { paperId, store }: { paperId: string; store: Store }): boolean {
  return objectId === paperId || store.papers.get({ owner: "", id: paperId })?.objectId === objectId;
}

function toAnswer({ id, record }: Kept, { baseUrl }: { baseUrl: string }): Notification {
  const { about, updatedAt, read, discussionEventId } = record;
  const common = {
    updatedAt: new Date(updatedAt).toISOString(),
    read,
    ...(discussionEventId !== undefined && { discussionEventId }),
  };
  const participating = record.participating.map((user) => ({
    _id: accountId(user),
    avatar: avatarUrlOf(user, { baseUrl }),
    user,
  }));
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

/** An event on a repository, of whatever scope. */
export interface NoticedEvent {
  scope: string;
  action: string;
  repository: StoredRepository;
  /** What is delivered of it. */
  payload: Record<string, unknown>;
}

const author = z.object({ id: z.string() });

/** What a notification needs of a payload. */
const noticed = z.object({
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
 * Notifies everybody who watches a repository, or whoever it belongs to, of what happens to a discussion there: by a
 * new notification, or by the one of that discussion, which is then unread again. It is gone with the discussion.
 * Returns the names of the users.
 */
export function noticeDiscussion({ store, now }: { store: Store; now: () => number }, event: NoticedEvent): string[] {
  const { scope, action, repository, payload } = event;
  if (!coversScope("discussion", scope)) return [];
  // An event may be told to say anything, also what no notification can.
  const said = noticed.safeParse(payload).data;
  if (!said) return [];
  const { author: opener, id, ...discussion } = said.discussion;
  const { comment } = said;
  const notified: string[] = [];
  for (const user of tokenUsers) {
    const key = { owner: user, id };
    if (scope === "discussion" && action === "delete") {
      store.notifications.delete(key);
      continue;
    }
    if (!isTold(store, { user, repository })) continue;
    const before = store.notifications.get(key);
    const speakers = [opener, ...(comment ? [comment.author] : [])].map((speaker) => userOfId(store, speaker.id));
    const discussionEventId = comment?.id ?? before?.discussionEventId;
    store.notifications.put({
      ...key,
      record: {
        updatedAt: now(),
        read: false,
        participating: [
          ...new Set([...(before?.participating ?? []), ...speakers.filter((name) => name !== undefined)]),
        ],
        mentions: before?.mentions === true || isMentioned(user, comment?.content ?? ""),
        ...(discussionEventId !== undefined && { discussionEventId }),
        about: { type: "repo", repo: { type: repository.type, name: repository.name }, discussion },
      },
    });
    notified.push(user);
  }
  return notified;
}

function isTold(store: Store, { user, repository }: { user: string; repository: StoredRepository }): boolean {
  const { notifications, watched } = settingsOf({ store, user });
  if (notifications.web_discussions_watched === false) return false;
  if (!watched.some((item) => isMeant(item, repository))) return false;
  return !repository.private || canReadPrivate(store, { user, owner: ownerOf(repository) });
}

/** Whether a watched item is the repository or its owner. */
function isMeant({ type, id }: WatchItem, repository: StoredRepository): boolean {
  if (type === "repo") return id === repository.id;
  const owner = ownerOf(repository);
  // A name that nobody has here may be either.
  return id === accountId(owner) && type === (accountKind(owner) ?? type);
}

function isMentioned(user: string, text: string): boolean {
  return new RegExp(`@${user}(?![\\w-])`).test(text);
}

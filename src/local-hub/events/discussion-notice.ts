import * as z from "zod";
import { discussionStatus } from "../../hub/contract/notifications.ts";
import type { WatchItem } from "../../hub/contract/settings.ts";
import { objectId } from "../../hub/contract/values.ts";
import { coversScope } from "../../payload/scope.ts";
import { accountId, accountKind, ownerOf } from "../accounts.ts";
import { canReadPrivate } from "../organizations/access.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { settingsOf } from "../users/settings.ts";
import { tokenUsers, userOfId } from "../users/users.ts";

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

import { argumentInvalid } from "./arguments.ts";
import type { CallOptions } from "./call-options.ts";
import { type NotificationPage, type NotificationSearch, notificationRoutes } from "./contract/notifications.ts";
import type { Transport } from "./transport.ts";

/** Which notifications something is done to. */
export interface NotificationSelection extends NotificationSearch {
  /**
   * The ids of their discussions: `discussion.id`, `paperDiscussion.id`, `post.id` or `blog.id` of a notification. To
   * delete, each is of 24 lower-case hexadecimal digits, and there is at least one.
   */
  discussionIds?: readonly string[] | undefined;
  /** All that the other fields find, on every page, whatever `discussionIds` says. Default `false`. */
  applyToAll?: boolean | undefined;
}

/**
 * The notifications of the user whose token it is: `hub.notifications` (hub-api.md, Notifications).
 *
 * Every method checks its arguments before anything is sent (`ARGUMENT_INVALID`, naming the fields) and throws a
 * `HubError` for whatever else goes wrong.
 */
export class HubNotifications {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * One page of them, the latest first. `p` is the page, from 0 on; every other field of the search narrows it.
   *
   * @example
   * ```ts
   * const { notifications, count } = await hub.notifications.list({ readStatus: "unread", repoType: "dataset" });
   * ```
   */
  list(search?: NotificationSearch, options?: CallOptions): Promise<NotificationPage> {
    return this.#transport.call(notificationRoutes.list, { query: search }, options);
  }

  /**
   * Deletes those of the discussions that are named, or all that a search finds. With `lastUpdate`, what has come in
   * since you looked is left alone; without it, a call that failed half-way is not repeated, for the same reason.
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
    await this.#transport.call(notificationRoutes.delete, { query, body }, { ...options, idempotent });
  }

  /**
   * Marks those of the discussions that are named, or all that a search finds, as read, or with `read: false` as unread.
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
    await this.#transport.call(notificationRoutes.markAsRead, input, { ...options, idempotent });
  }
}

/** Whether it finds the same the second time, and not what has come in between. */
function isBounded({ applyToAll, lastUpdate }: NotificationSelection): boolean {
  return applyToAll !== true || lastUpdate !== undefined;
}

/** The Hub takes a search without `applyToAll`, and does nothing: nobody means that. */
function checkSelection<Selection extends NotificationSelection>(selection: Selection): Selection {
  if (selection?.discussionIds !== undefined || selection?.applyToAll === true) return selection;
  throw argumentInvalid([
    {
      field: "discussionIds",
      problem: 'give the ids of discussions, or "applyToAll": true for all that a search finds',
    },
  ]);
}

import { Hono } from "hono";
import { notificationOperations } from "../../hub/notifications.ts";
import { deleteNotifications, listNotifications, markNotifications } from "../resources/notifications.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const notificationRoutes = {
  list: describeRoute(notificationOperations.list, {
    tag: "notifications",
    success: { description: "A page of notifications, the newest first." },
    errors: ["invalid"],
  }),
  delete: describeRoute(notificationOperations.delete, {
    tag: "notifications",
    success: { description: "The notifications were deleted." },
    errors: ["invalid", "forbidden"],
  }),
  markAsRead: describeRoute(notificationOperations.markAsRead, {
    tag: "notifications",
    success: { description: "The notifications were marked." },
    errors: ["invalid", "forbidden"],
  }),
} as const;

export interface NotificationRoutesOptions {
  store: Store;
  /** The base URL of the local Hub, without a trailing slash. */
  hubUrl: string;
}

/**
 * Serves the operations on notifications (docs/reference/hub-api.md, Notifications). Users have access to their own only.
 */
export function notificationApi({ store, hubUrl }: NotificationRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, notificationRoutes.list, ({ query }, context) => {
    const { user } = context.var.caller;
    return listNotifications({ store, user, hubUrl }, query);
  });

  serveRoute(app, notificationRoutes.delete, ({ query, body }, context) => {
    const { user } = context.var.caller;
    const { applyToAll, ...search } = query;
    const { discussionIds = [] } = body;
    deleteNotifications({ store, user }, { discussionIds, applyToAll, search });
    return {};
  });

  serveRoute(app, notificationRoutes.markAsRead, ({ query, body }, context) => {
    const { user } = context.var.caller;
    const { applyToAll, ...search } = query;
    markNotifications({ store, user }, { ...body, applyToAll, search });
    return {};
  });

  return app;
}

import type { Hono } from "hono";
import {
  notification,
  notificationDeletion,
  notificationMark,
  notificationOperations,
  notificationPage,
} from "../../hub/notifications.ts";
import type { HubContext } from "../hub-context.ts";
import { deleteNotifications, listNotifications, markNotifications } from "../resources/notifications.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const notificationRoutes = {
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

/**
 * Serves the operations on notifications (docs/reference/hub-api.md, Notifications). Users have access only to their own
 * notifications.
 */
export const notificationApi = {
  routes: notificationRoutes,
  components: {
    Notification: notification,
    NotificationPage: notificationPage,
    NotificationDeletion: notificationDeletion,
    NotificationMark: notificationMark,
  },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">) {
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
  },
} satisfies ResourceApi;

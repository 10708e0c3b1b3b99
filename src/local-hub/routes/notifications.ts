import type { OpenAPIHono } from "@hono/zod-openapi";
import { notificationRoutes } from "../../hub/contract/notifications.ts";
import { deleteNotifications, markNotifications, notificationPage } from "../resources/notifications.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";

/** What the routes of notifications need. */
export interface NotificationRoutesOptions {
  store: Store;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
}

/** The operations on notifications (hub-api.md, Notifications). Everybody sees and changes their own only. */
export function notificationApi({ store, baseUrl }: NotificationRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(notificationRoutes.list, (context) => {
    const { user } = context.var.caller;
    return context.json(notificationPage({ store, user, baseUrl }, context.req.valid("query")), 200);
  });

  app.openapi(notificationRoutes.delete, (context) => {
    const { user } = context.var.caller;
    const { applyToAll, ...search } = context.req.valid("query");
    const { discussionIds = [] } = context.req.valid("json");
    deleteNotifications({ store, user }, { discussionIds, applyToAll, search });
    return context.json({}, 200);
  });

  app.openapi(notificationRoutes.markAsRead, (context) => {
    const { user } = context.var.caller;
    const { applyToAll, ...search } = context.req.valid("query");
    markNotifications({ store, user }, { ...context.req.valid("json"), applyToAll, search });
    return context.json({}, 200);
  });

  return app;
}

import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { notificationOperations } from "../../hub/notifications.ts";
import { deleteNotifications, listNotifications, markNotifications } from "../resources/notifications.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { jsonAnswer, refusals, routeOf } from "./openapi.ts";

const tags = ["notifications"];

/** The routes of the operations, as the document describes them. */
export const notificationRoutes = {
  list: createRoute({
    ...routeOf(notificationOperations.list),
    tags,
    responses: {
      200: jsonAnswer("A page of them, the latest first.", notificationOperations.list.response),
      ...refusals.invalid,
      ...refusals.unauthorized,
    },
  }),
  delete: createRoute({
    ...routeOf(notificationOperations.delete),
    tags,
    responses: {
      200: jsonAnswer("They are gone.", notificationOperations.delete.response),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
  markAsRead: createRoute({
    ...routeOf(notificationOperations.markAsRead),
    tags,
    responses: {
      200: jsonAnswer("They are marked.", notificationOperations.markAsRead.response),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
} as const;

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
    return context.json(listNotifications({ store, user, baseUrl }, context.req.valid("query")), 200);
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

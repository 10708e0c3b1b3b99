import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { notificationOperations } from "../../hub/notifications.ts";
import { deleteNotifications, listNotifications, markNotifications } from "../resources/notifications.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";

const tags = ["notifications"];

/** The routes of the operations, as the document describes them. */
export const notificationRoutes = {
  list: createRoute({
    ...describeRoute(notificationOperations.list),
    tags,
    responses: {
      200: jsonResponse("A page of them, the latest first.", notificationOperations.list.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
    },
  }),
  delete: createRoute({
    ...describeRoute(notificationOperations.delete),
    tags,
    responses: {
      200: jsonResponse("They are gone.", notificationOperations.delete.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.body,
    },
  }),
  markAsRead: createRoute({
    ...describeRoute(notificationOperations.markAsRead),
    tags,
    responses: {
      200: jsonResponse("They are marked.", notificationOperations.markAsRead.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.body,
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

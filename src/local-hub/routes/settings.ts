import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { settingsOperations } from "../../hub/settings.ts";
import { mcpTools, updateNotificationSettings, updateWatchSettings } from "../resources/settings.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";

/** The routes of the operations, as the document describes them. */
export const settingsRoutes = {
  mcp: createRoute({
    ...describeRoute(settingsOperations.mcp),
    tags: ["mcp"],
    responses: { 200: jsonResponse("The tools.", settingsOperations.mcp.response), ...errorResponses.unauthorized },
  }),
  updateNotifications: createRoute({
    ...describeRoute(settingsOperations.updateNotifications),
    tags: ["notifications"],
    responses: {
      200: jsonResponse("It is changed.", settingsOperations.updateNotifications.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.body,
    },
  }),
  updateWatch: createRoute({
    ...describeRoute(settingsOperations.updateWatch),
    tags: ["notifications"],
    responses: {
      200: jsonResponse("It is changed.", settingsOperations.updateWatch.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.body,
    },
  }),
} as const;

/** The operations on a user's settings (hub-api.md, Settings). */
export function settingsApi({ store }: { store: Store }): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(settingsRoutes.mcp, (context) => context.json(mcpTools, 200));

  app.openapi(settingsRoutes.updateNotifications, (context) => {
    updateNotificationSettings({ store, user: context.var.caller.user }, context.req.valid("json"));
    return context.json({}, 200);
  });

  app.openapi(settingsRoutes.updateWatch, (context) => {
    updateWatchSettings({ store, user: context.var.caller.user }, context.req.valid("json"));
    return context.json({}, 200);
  });

  return app;
}

import type { OpenAPIHono } from "@hono/zod-openapi";
import { settingsRoutes } from "../../hub/contract/settings.ts";
import { mcpTools, updateNotificationSettings, updateWatchSettings } from "../resources/settings.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";

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

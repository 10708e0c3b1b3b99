import { Hono } from "hono";
import { settingsOperations } from "../../hub/settings.ts";
import { mcpTools, updateNotificationSettings, updateWatchSettings } from "../resources/settings.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const settingsRoutes = {
  mcp: describeRoute(settingsOperations.mcp, {
    tag: "mcp",
    success: { description: "The tools." },
    errors: [],
  }),
  updateNotifications: describeRoute(settingsOperations.updateNotifications, {
    tag: "notifications",
    success: { description: "The settings were changed." },
    errors: ["invalid", "forbidden"],
  }),
  updateWatch: describeRoute(settingsOperations.updateWatch, {
    tag: "notifications",
    success: { description: "The settings were changed." },
    errors: ["invalid", "forbidden"],
  }),
} as const;

/** Serves the operations on the settings of a user (docs/reference/hub-api.md, Settings). */
export function settingsApi({ store }: { store: Store }): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, settingsRoutes.mcp, () => mcpTools);

  serveRoute(app, settingsRoutes.updateNotifications, ({ body }, context) => {
    updateNotificationSettings({ store, user: context.var.caller.user }, body);
    return {};
  });

  serveRoute(app, settingsRoutes.updateWatch, ({ body }, context) => {
    updateWatchSettings({ store, user: context.var.caller.user }, body);
    return {};
  });

  return app;
}

import type { Hono } from "hono";
import {
  mcpSettings,
  notificationSettingsChange,
  notificationWatchChange,
  notificationWatchItem,
  settingsOperations,
} from "../../hub/settings.ts";
import type { HubContext } from "../hub-context.ts";
import { mcpTools, updateNotificationSettings, updateWatchSettings } from "../resources/settings.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const settingsRoutes = {
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

/** Serves the operations on a user's settings (docs/reference/hub-api.md, Settings). */
export const settingsApi = {
  routes: settingsRoutes,
  components: {
    NotificationSettingsChange: notificationSettingsChange,
    WatchItem: notificationWatchItem,
    WatchChange: notificationWatchChange,
    McpSettings: mcpSettings,
  },
  serve(app: Hono<ApiEnvironment>, { store }: Pick<HubContext, "store">) {
    serveRoute(app, settingsRoutes.mcp, () => mcpTools);

    serveRoute(app, settingsRoutes.updateNotifications, ({ body }, context) => {
      updateNotificationSettings({ store, user: context.var.caller.user }, body);
      return {};
    });

    serveRoute(app, settingsRoutes.updateWatch, ({ body }, context) => {
      updateWatchSettings({ store, user: context.var.caller.user }, body);
      return {};
    });
  },
} satisfies ResourceApi;

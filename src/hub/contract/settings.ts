import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "./json.ts";
import { requestEnum } from "./open.ts";
import { bearer, notShown, refusals, timestamp } from "./values.ts";

const isOn = z.boolean().optional();

/** What a user is notified of. What is left out stays as it is. */
export const notificationSettings = z.object({
  announcements: isOn,
  arxiv_paper_activity: isOn,
  daily_papers_digest: isOn,
  discussions_participating: isOn,
  discussions_watched: isOn,
  gated_user_access_request: isOn,
  inference_endpoint_status: isOn,
  launch_autonlp: isOn,
  launch_spaces: isOn,
  launch_prepaid_credits: isOn,
  launch_training_cluster: isOn,
  org_request: isOn,
  org_suggestions: isOn,
  org_verified_suggestions: isOn,
  org_suggestions_to_create: isOn,
  posts_participating: isOn,
  user_follows: isOn,
  secret_detected: isOn,
  web_discussions_participating: isOn,
  web_discussions_watched: isOn,
  web_posts_participating: isOn,
  api_inference_sunset: isOn,
  locked_out: isOn,
  job_status: isOn,
  repo_release: isOn,
  product_updates_after: timestamp.optional(),
});

/** What changes in a user's notification settings. */
export const notificationSettingsChange = z
  .object({
    notifications: notificationSettings,
    /** The Hub asks for it where `launch_prepaid_credits` is enabled. */
    prepaidAmount: z.string().max(24).optional(),
  })
  .refine((change) => change.notifications.launch_prepaid_credits !== true || change.prepaidAmount !== undefined, {
    path: ["prepaidAmount"],
    error: 'enabling "launch_prepaid_credits" needs an amount',
  })
  .openapi("NotificationSettingsChange", {
    anyOf: [
      { required: ["prepaidAmount"] },
      {
        properties: {
          notifications: { properties: { launch_prepaid_credits: { not: { const: true } } } },
        },
      },
    ],
  });

/** Something whose discussions a user wants to hear of. */
export const watchItem = z.object({ id: z.string(), type: requestEnum(["org", "user", "repo"]) }).openapi("WatchItem");

/** What a user begins to watch, and what no longer. */
export const watchChange = z
  .object({ add: z.array(watchItem).default([]), delete: z.array(watchItem).default([]) })
  .openapi("WatchChange");

/** What a user's own tools of the Hub's MCP server are. */
export const mcpSettings = z
  .strictObject({
    builtInTools: z.array(z.string()),
    spaceTools: z.array(
      z.strictObject({ _id: z.string(), name: z.string(), emoji: z.string(), subdomain: z.string() }),
    ),
  })
  .openapi("McpSettings");

/** What changes in your notification settings: 25 switches and a date, and an amount that one switch asks for. */
export type NotificationSettingsChange = z.input<typeof notificationSettingsChange>;
/** Something whose discussions you want to hear of, by its id. */
export type WatchItem = z.input<typeof watchItem>;
/** What you begin to watch, and what no longer. */
export type WatchChange = z.input<typeof watchChange>;
/** The tools that the Hub's MCP server offers you. */
export type McpSettings = z.output<typeof mcpSettings>;

/** The operations on a user's settings (hub-api.md, Settings). */
export const settingsRoutes = {
  mcp: createRoute({
    method: "get",
    path: "/api/settings/mcp",
    operationId: "getMcpSettings",
    summary: "Read your MCP tools",
    tags: ["mcp"],
    security: bearer,
    responses: { 200: jsonAnswer("The tools.", mcpSettings), ...refusals.unauthorized },
  }),
  updateNotifications: createRoute({
    method: "patch",
    path: "/api/settings/notifications",
    operationId: "updateNotificationSettings",
    summary: "Update your notification settings",
    tags: ["notifications"],
    security: bearer,
    request: { body: jsonBody(notificationSettingsChange) },
    responses: {
      200: jsonAnswer("It is changed.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
  updateWatch: createRoute({
    method: "patch",
    path: "/api/settings/watch",
    operationId: "updateWatchSettings",
    summary: "Update your watch settings",
    tags: ["notifications"],
    security: bearer,
    request: { body: jsonBody(watchChange) },
    responses: {
      200: jsonAnswer("It is changed.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
} as const;

import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { tokenUsers } from "../accounts.ts";
import { eventRequest } from "../events/event-request.ts";
import { previewEvent, triggerEvent } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import { getSettings } from "../resources/settings.ts";
import { summarizeWebhook } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { replay } from "./webhooks.ts";

/** What the control routes need. */
export interface ControlRoutesOptions extends HubContext {
  /** Forgets everything. */
  reset: () => void;
}

const json = (schema: z.ZodType) => ({ 200: { description: "Done.", content: { "application/json": { schema } } } });

const yesOrNo = z.enum(["true", "false"]).default("false");

const events = createRoute({
  method: "post",
  path: "/events",
  request: {
    query: z.object({ wait: yesOrNo, dryRun: yesOrNo }),
    body: { required: true, content: { "application/json": { schema: eventRequest } } },
  },
  responses: json(z.unknown()),
});

/**
 * What the real Hub has no API for: letting things happen, and looking into the logs. Without a token, for whoever is on
 * this machine: so a POST that is not JSON is refused with 403, because a page of another site could send one unasked.
 */
export function controlApi(options: ControlRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const { store, dispatcher, reset } = options;
  const app = createApiApp();

  const webhook = (id: string): StoredWebhook => {
    const found = store.webhooks.get(id);
    if (!found) throw new HTTPException(404, { message: `There is no webhook ${id}.` });
    return found;
  };

  app.use(async (context, next) => {
    const { method } = context.req;
    const isJson = /^application\/json\s*(;|$)/i.test(context.req.header("content-type") ?? "");
    if (method !== "GET" && method !== "HEAD" && !isJson) {
      throw new HTTPException(403, { message: "Send control requests as content-type: application/json." });
    }
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== new URL(context.req.url).origin) {
      throw new HTTPException(403, { message: "Control requests of other sites are refused." });
    }
    await next();
  });

  app.openapi(events, async (context) => {
    const event = context.req.valid("json");
    const { wait, dryRun } = context.req.valid("query");
    if (dryRun === "true") return context.json(previewEvent(options, event), 200);
    const { deliveries: fired, ...further } = triggerEvent(options, event);
    const deliveries =
      wait === "true" ? await Promise.all(fired.map((delivery) => dispatcher.waitUntilSettled(delivery))) : fired;
    return context.json({ deliveries, ...further }, 200);
  });

  app.get("/webhooks", (context) => context.json(store.webhooks.all().map(summarizeWebhook)));

  app.get("/webhooks/:id/deliveries", (context) =>
    context.json(store.deliveries.attempts(webhook(context.req.param("id")).id)),
  );

  app.post("/webhooks/:id/replay/:logId", async (context) => {
    const { id, logId } = context.req.param();
    return context.json({ status: await replay({ store, dispatcher }, { webhook: webhook(id), logId }) });
  });

  app.get("/jobs", (context) => context.json(store.jobs.all()));

  app.get("/repositories", (context) => context.json(store.repositories.all()));

  app.get("/papers", (context) =>
    context.json(store.papers.of("").map(({ id, record }) => ({ paperId: id, ...record }))),
  );

  app.get("/settings", (context) =>
    context.json(tokenUsers.map((user) => ({ user, ...getSettings({ store, user }) }))),
  );

  app.post("/reset", (context) => {
    reset();
    return context.json({});
  });

  return app;
}

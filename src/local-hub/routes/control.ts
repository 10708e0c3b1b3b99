import { Hono } from "hono";
import * as z from "zod/mini";
import { jsonBody, type Operation } from "../../hub/operation.ts";
import { flag } from "../../hub/schemas.ts";
import { tokenUsers } from "../accounts.ts";
import { deliveryUserAgent } from "../delivery/attempt.ts";
import { badRequest, forbidden, notFound } from "../error-response.ts";
import { eventRequest } from "../events/event-request.ts";
import { previewEvent, triggerEvent } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import { getSettings } from "../resources/account.ts";
import { toJob } from "../resources/jobs.ts";
import { replayDelivery, summarizeWebhook } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { ApiEnvironment, TokenRequirement } from "./route.ts";
import { serveRoute } from "./route.ts";

const triggerOperation = {
  requestLine: "POST /events",
  operationId: "triggerEvent",
  summary: "Trigger an event",
  request: { query: z.object({ wait: flag(), dryRun: flag() }), body: jsonBody(eventRequest) },
  response: z.unknown(),
  token: "optional",
} as const satisfies Operation & { token: TokenRequirement };

/**
 * Serves the API that controls the local Hub: it triggers events and returns logs, without a token. Other websites must
 * not have access, so requests with another origin are answered with 403. Requests other than GET and HEAD must be
 * JSON, because browsers send other content types to other origins without a preflight request.
 */
export function controlApi(hub: HubContext): Hono<ApiEnvironment> {
  const { store, dispatcher, spaces, bucketFaults, deliveryFaults, reset } = hub;
  const app = new Hono<ApiEnvironment>();

  const webhook = (id: string): StoredWebhook => {
    const found = store.webhooks.get(id);
    if (!found) throw notFound(`There is no webhook "${id}".`);
    return found;
  };

  app.use(async (context, next) => {
    const { method } = context.req;
    const isJson = /^application\/json\s*(;|$)/i.test(context.req.header("content-type") ?? "");
    if (method !== "GET" && method !== "HEAD" && !isJson) {
      throw forbidden(
        "The content type is not application/json. Send control requests with the header content-type: application/json.",
      );
    }
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== new URL(context.req.url).origin) {
      throw forbidden(
        "Control requests from other websites are not allowed. Send the request from the page of the local Hub or from a program.",
      );
    }
    await next();
  });

  serveRoute(app, triggerOperation, async ({ query: { wait, dryRun }, body: event }, context) => {
    if (context.req.header("user-agent") === deliveryUserAgent) {
      const message =
        "A delivery cannot trigger an event, which would be delivered again. Change the URL of the webhook.";
      throw badRequest(message);
    }
    if (dryRun) return previewEvent(hub, event);
    const { deliveries: fired, ...further } = triggerEvent(hub, event);
    const deliveries = wait ? await Promise.all(fired.map((delivery) => dispatcher.waitUntilSettled(delivery))) : fired;
    return { deliveries, ...further };
  });

  app.get("/webhooks", (context) => context.json(store.webhooks.all().map(summarizeWebhook)));

  app.get("/webhooks/:id/deliveries", (context) =>
    context.json(store.deliveries.attempts(webhook(context.req.param("id")).id)),
  );

  app.post("/webhooks/:id/replay/:logId", async (context) => {
    const { id, logId } = context.req.param();
    return context.json({ status: await replayDelivery(hub, webhook(id), logId) });
  });

  app.get("/jobs", (context) => context.json(store.jobs.all().map((job) => toJob(job, hub))));

  app.get("/repositories", (context) => context.json(store.repositories.all()));

  app.get("/papers", (context) =>
    context.json(store.papers.listByOwner("").map(({ id, record }) => ({ paperId: id, ...record }))),
  );

  app.get("/settings", (context) => context.json(tokenUsers.map((user) => ({ user, ...getSettings(store, user) }))));

  for (const [path, faults] of [
    ["/bucket-faults", bucketFaults],
    ["/delivery-faults", deliveryFaults],
  ] as const) {
    app.put(path, async (context) => {
      faults.set(await context.req.json().catch(() => undefined));
      return context.json({});
    });
  }

  app.post("/spaces/:namespace/:repo/sleep", (context) => {
    const { namespace, repo } = context.req.param();
    const space = store.repositories.get({ type: "space", name: `${namespace}/${repo}` });
    if (!space) throw notFound(`There is no Space "${namespace}/${repo}".`);
    spaces.find(space)?.sleep();
    return context.json(spaces.runtime(space));
  });

  app.post("/reset", (context) => {
    reset();
    return context.json({});
  });

  return app;
}

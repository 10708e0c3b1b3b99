import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import type { Webhook } from "../../hub/webhooks/schemas.ts";
import { webhookOperations } from "../../hub/webhooks/schemas.ts";
import type { Caller } from "../accounts.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import type { Store } from "../store/store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";
import { completeForPythonClient } from "./python-client.ts";

const tags = ["webhooks"];
const oneWebhook = jsonResponse("The webhook.", webhookOperations.get.response);

/** The routes of the operations, as the document describes them. */
export const webhookRoutes = {
  list: createRoute({
    ...describeRoute(webhookOperations.list),
    tags,
    responses: {
      200: jsonResponse("Your webhooks.", webhookOperations.list.response),
      ...errorResponses.unauthorized,
    },
  }),
  create: createRoute({
    ...describeRoute(webhookOperations.create),
    tags,
    responses: {
      200: oneWebhook,
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.body,
    },
  }),
  get: createRoute({
    ...describeRoute(webhookOperations.get),
    tags,
    responses: { 200: oneWebhook, ...errorResponses.unauthorized, ...errorResponses.notFound },
  }),
  update: createRoute({
    ...describeRoute(webhookOperations.update),
    tags,
    responses: {
      200: oneWebhook,
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
  delete: createRoute({
    ...describeRoute(webhookOperations.delete),
    tags,
    responses: {
      200: jsonResponse("It is gone.", webhookOperations.delete.response),
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
  setState: createRoute({
    ...describeRoute(webhookOperations.setState),
    tags,
    responses: {
      200: oneWebhook,
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
  replay: createRoute({
    ...describeRoute(webhookOperations.replay),
    tags,
    responses: {
      200: jsonResponse("The HTTP status of the replayed delivery.", webhookOperations.replay.response),
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
} as const;

/** What the routes of webhooks need. */
export interface WebhookRoutesOptions {
  store: Store;
  dispatcher: Dispatcher;
  createId: () => string;
}

/** The operations on webhooks (hub-api.md, Webhooks). Everybody sees their own only. */
export function webhookApi({ store, dispatcher, createId }: WebhookRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const { webhooks, deliveries } = store;
  const app = createApiApp();

  const own = ({ id, caller }: { id: string; caller: Caller }): StoredWebhook => {
    const webhook = webhooks.get(id);
    if (webhook?.owner !== caller.user) throw new HTTPException(404, { message: `There is no webhook ${id}.` });
    return webhook;
  };

  const whole = completeForPythonClient((id) => webhooks.get(id));
  app.use(webhookRoutes.create.path, whole);
  app.use(`${webhookRoutes.create.path}/:webhookId`, whole);

  app.openapi(webhookRoutes.list, (context) => {
    const { user } = context.var.caller;
    const mine = webhooks.all().filter(({ owner }) => owner === user);
    return context.json(mine.map(toAnswer), 200);
  });

  app.openapi(webhookRoutes.create, (context) => {
    const created: StoredWebhook = {
      id: createId(),
      owner: context.var.caller.user,
      definition: withoutEmptySecret(context.req.valid("json")),
      disabled: false,
      failures: 0,
      dayBeganAt: 0,
      triggersToday: 0,
    };
    webhooks.put(created);
    return context.json({ webhook: toAnswer(created) }, 200);
  });

  app.openapi(webhookRoutes.get, (context) => {
    const { webhookId } = context.req.valid("param");
    return context.json({ webhook: toAnswer(own({ id: webhookId, caller: context.var.caller })) }, 200);
  });

  app.openapi(webhookRoutes.update, (context) => {
    const { webhookId } = context.req.valid("param");
    const before = own({ id: webhookId, caller: context.var.caller });
    const definition = withTarget(context.req.valid("json"), before.definition);
    const updated = { ...before, definition: withoutEmptySecret(definition) };
    webhooks.put(updated);
    return context.json({ webhook: toAnswer(updated) }, 200);
  });

  app.openapi(webhookRoutes.delete, (context) => {
    const { webhookId } = context.req.valid("param");
    const { id } = own({ id: webhookId, caller: context.var.caller });
    dispatcher.cancel(id);
    store.transaction(() => {
      webhooks.delete(id);
      deliveries.deleteAttempts(id);
    });
    return context.json({}, 200);
  });

  app.openapi(webhookRoutes.setState, (context) => {
    const { webhookId, action } = context.req.valid("param");
    const before = own({ id: webhookId, caller: context.var.caller });
    const updated = { ...before, disabled: action === "disable", failures: 0 };
    webhooks.put(updated);
    if (updated.disabled) dispatcher.cancel(updated.id);
    return context.json({ webhook: toAnswer(updated) }, 200);
  });

  app.openapi(webhookRoutes.replay, async (context) => {
    const { webhookId, logId } = context.req.valid("param");
    const webhook = own({ id: webhookId, caller: context.var.caller });
    return context.json({ status: await replay({ store, dispatcher }, { webhook, logId }) }, 200);
  });

  return app;
}

/**
 * Sends a delivery of the log again and returns the HTTP status of that; 502, as a gateway would say, when there was no
 * answer.
 *
 * @throws HTTPException 404.
 */
export async function replay(
  { store, dispatcher }: Pick<WebhookRoutesOptions, "store" | "dispatcher">,
  { webhook, logId }: { webhook: StoredWebhook; logId: string },
): Promise<number> {
  const entry = store.deliveries.attempt(webhook.id, logId);
  if (!entry) throw new HTTPException(404, { message: `The log of webhook ${webhook.id} has no entry ${logId}.` });
  const { status } = await dispatcher.replay(webhook, entry);
  return status ?? 502;
}

/** An update without a target keeps the one that the webhook has. */
function withTarget(
  update: StoredWebhook["definition"],
  { url, job, jobSourceId }: StoredWebhook["definition"],
): StoredWebhook["definition"] {
  const isGiven = [update.url, update.job, update.jobSourceId].some((target) => target !== undefined);
  if (isGiven) return update;
  return {
    ...update,
    ...(url !== undefined && { url }),
    ...(job && { job }),
    ...(jobSourceId !== undefined && { jobSourceId }),
  };
}

/** An empty secret is no secret: HTTP could not tell it from none. */
function withoutEmptySecret({ secret, ...definition }: StoredWebhook["definition"]): StoredWebhook["definition"] {
  return secret ? { ...definition, secret } : definition;
}

function toAnswer({ id, definition, disabled, lastTriggerAt }: StoredWebhook): Webhook {
  const { job, ...same } = definition;
  return {
    id,
    ...same,
    ...(job && { job: toJobAnswer(job) }),
    disabled,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

/** A webhook answers with less of its job than it was given: secrets by name, and nothing of six fields. */
function toJobAnswer(job: NonNullable<StoredWebhook["definition"]["job"]>): NonNullable<Webhook["job"]> {
  const { arch: _1, attempts: _2, volumes: _3, expose: _4, ssh: _5, resourceGroupId: _6, secrets, ...same } = job;
  return { ...same, ...(secrets && { secrets: Object.keys(secrets) }) };
}

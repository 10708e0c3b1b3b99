import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { webhookOperations } from "../../hub/webhooks/schemas.ts";
import type { Caller } from "../accounts.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import { keepTarget, toReturnedWebhook, withoutEmptySecret } from "../resources/webhooks.ts";
import type { Store } from "../store/store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { completeForPythonClient } from "./python-client.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const webhookRoutes = {
  list: describeRoute(webhookOperations.list, {
    tag: "webhooks",
    success: { description: "Your webhooks." },
    errors: [],
  }),
  create: describeRoute(webhookOperations.create, {
    tag: "webhooks",
    success: { description: "The webhook." },
    errors: ["invalid", "forbidden"],
  }),
  get: describeRoute(webhookOperations.get, {
    tag: "webhooks",
    success: { description: "The webhook." },
    errors: ["notFound"],
  }),
  update: describeRoute(webhookOperations.update, {
    tag: "webhooks",
    success: { description: "The webhook." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  delete: describeRoute(webhookOperations.delete, {
    tag: "webhooks",
    success: { description: "The webhook was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  setState: describeRoute(webhookOperations.setState, {
    tag: "webhooks",
    success: { description: "The webhook." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  replay: describeRoute(webhookOperations.replay, {
    tag: "webhooks",
    success: { description: "The HTTP status of the replayed delivery." },
    errors: ["forbidden", "notFound"],
  }),
} as const;

export interface WebhookRoutesOptions {
  store: Store;
  dispatcher: Dispatcher;
  createId: () => string;
}

/**
 * Serves the operations on webhooks (docs/reference/hub-api.md, Webhooks). Users have access to their own webhooks only.
 */
export function webhookApi({ store, dispatcher, createId }: WebhookRoutesOptions): Hono<ApiEnvironment> {
  const { webhooks, deliveries } = store;
  const app = new Hono<ApiEnvironment>();

  const findOwn = (id: string, caller: Caller): StoredWebhook => {
    const webhook = webhooks.get(id);
    if (webhook?.owner !== caller.user) throw new HTTPException(404, { message: `There is no webhook ${id}.` });
    return webhook;
  };

  const completeRequest = completeForPythonClient((id) => webhooks.get(id));
  app.use(webhookRoutes.create.path, completeRequest);
  app.use(`${webhookRoutes.create.path}/:webhookId`, completeRequest);

  serveRoute(app, webhookRoutes.list, (_request, context) => {
    const { user } = context.var.caller;
    return webhooks
      .all()
      .filter(({ owner }) => owner === user)
      .map(toReturnedWebhook);
  });

  serveRoute(app, webhookRoutes.create, ({ body }, context) => {
    const created: StoredWebhook = {
      id: createId(),
      owner: context.var.caller.user,
      definition: withoutEmptySecret(body),
      disabled: false,
      failures: 0,
      dayBeganAt: 0,
      triggersToday: 0,
    };
    webhooks.put(created);
    return { webhook: toReturnedWebhook(created) };
  });

  serveRoute(app, webhookRoutes.get, ({ params: { webhookId } }, context) => {
    return { webhook: toReturnedWebhook(findOwn(webhookId, context.var.caller)) };
  });

  serveRoute(app, webhookRoutes.update, ({ params: { webhookId }, body }, context) => {
    const before = findOwn(webhookId, context.var.caller);
    const updated = { ...before, definition: withoutEmptySecret(keepTarget(body, before.definition)) };
    webhooks.put(updated);
    return { webhook: toReturnedWebhook(updated) };
  });

  serveRoute(app, webhookRoutes.delete, ({ params: { webhookId } }, context) => {
    const { id } = findOwn(webhookId, context.var.caller);
    dispatcher.cancel(id);
    store.transaction(() => {
      webhooks.delete(id);
      deliveries.deleteAttempts(id);
    });
    return {};
  });

  serveRoute(app, webhookRoutes.setState, ({ params: { webhookId, action } }, context) => {
    const before = findOwn(webhookId, context.var.caller);
    const updated = { ...before, disabled: action === "disable", failures: 0 };
    webhooks.put(updated);
    if (updated.disabled) dispatcher.cancel(updated.id);
    return { webhook: toReturnedWebhook(updated) };
  });

  serveRoute(app, webhookRoutes.replay, async ({ params: { webhookId, logId } }, context) => {
    const webhook = findOwn(webhookId, context.var.caller);
    return { status: await replay({ store, dispatcher }, { webhook, logId }) };
  });

  return app;
}

/**
 * Repeats a delivery from the log, and returns the HTTP status of the receiver, or 502 if there was no response.
 *
 * @throws `HTTPException` 404 if the log has no such delivery.
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

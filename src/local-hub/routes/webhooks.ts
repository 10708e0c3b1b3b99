import type { Hono, MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import * as z from "zod";
import { webhookJob, webhookJobRequest } from "../../hub/jobs/definition.ts";
import { webhook, webhookOperations, webhookRequest, webhookUpdate } from "../../hub/webhooks/schemas.ts";
import { parseDomain, webhookDomains } from "../../payload/watch.ts";
import type { Caller } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import {
  createWebhook,
  deleteWebhook,
  replayDelivery,
  setWebhookState,
  updateWebhook,
} from "../resources/webhook-changes.ts";
import { toReturnedWebhook } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const webhookRoutes = {
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

/**
 * Serves the operations on webhooks (docs/reference/hub-api.md, Webhooks). Users have access to their own webhooks only.
 */
export const webhookApi = {
  routes: webhookRoutes,
  components: {
    Webhook: webhook,
    WebhookRequest: webhookRequest,
    WebhookUpdate: webhookUpdate,
    WebhookJobRequest: webhookJobRequest,
    WebhookJob: webhookJob,
  },
  serve(app: Hono<ApiEnvironment>, hub: Pick<HubContext, "store" | "dispatcher" | "createId">) {
    const { webhooks } = hub.store;
    const findOwn = (id: string, caller: Caller): StoredWebhook => {
      const found = webhooks.get(id);
      if (found?.owner !== caller.user) throw new HTTPException(404, { message: `There is no webhook "${id}".` });
      return found;
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
      return { webhook: createWebhook(hub, { owner: context.var.caller.user, definition: body }) };
    });

    serveRoute(app, webhookRoutes.get, ({ params: { webhookId } }, context) => {
      return { webhook: toReturnedWebhook(findOwn(webhookId, context.var.caller)) };
    });

    serveRoute(app, webhookRoutes.update, ({ params: { webhookId }, body }, context) => {
      return { webhook: updateWebhook(hub, { webhook: findOwn(webhookId, context.var.caller), definition: body }) };
    });

    serveRoute(app, webhookRoutes.delete, ({ params: { webhookId } }, context) => {
      deleteWebhook(hub, findOwn(webhookId, context.var.caller));
      return {};
    });

    serveRoute(app, webhookRoutes.setState, ({ params: { webhookId, action } }, context) => {
      const webhook = findOwn(webhookId, context.var.caller);
      return { webhook: setWebhookState(hub, { webhook, disabled: action === "disable" }) };
    });

    serveRoute(app, webhookRoutes.replay, async ({ params: { webhookId, logId } }, context) => {
      const found = findOwn(webhookId, context.var.caller);
      return { status: await replayDelivery(hub, { webhook: found, logId }) };
    });
  },
} satisfies ResourceApi;

/** The webhook fields in which requests from the Python client differ from the Hub's specification. */
const requestedWebhook = z.looseObject({
  watched: z.array(z.unknown()).optional(),
  domains: z.array(z.unknown()).optional(),
});

/**
 * Corrects requests from the Python client (`hf webhooks`, `HfApi`). The Python client omits `domains`, sends the domain
 * `discussions`, and updates webhooks with an empty `watched`. The Hub's specification does not allow such requests, so other
 * clients get 400. The response contains a warning, which the Python client prints.
 */
function completeForPythonClient(
  find: (webhookId: string) => StoredWebhook | undefined,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const isPythonClient = /\bhf_hub\//.test(context.req.header("user-agent") ?? "");
    if (context.req.method !== "POST" || !isPythonClient) return next();
    const text = await context.req.raw.clone().text();
    const sent = requestedWebhook.safeParse(parseJson(text));
    if (!sent.success) return next();

    const before = find(context.req.param("webhookId") ?? "")?.definition;
    const { body, notes } = complete(sent.data, before);
    if (notes.length === 0) return next();
    context.req.raw = new Request(context.req.raw, { body: JSON.stringify(body) });
    await next();
    if (context.res.ok) {
      context.res.headers.set(
        "x-hf-warning",
        `webhooks; The Hub's published API does not allow this request: ${notes.join("; ")}.`,
      );
    }
  };
}

function complete(sent: z.output<typeof requestedWebhook>, before: StoredWebhook["definition"] | undefined) {
  const body = { ...sent };
  const notes: string[] = [];
  if (before && sent.watched?.length === 0) {
    body.watched = before.watched;
    notes.push('"watched" is empty, so the local Hub kept the current value (pass --watch)');
  }
  if (sent.domains === undefined) {
    body.domains = [...(before?.domains ?? webhookDomains)];
    notes.push(`"domains" is missing, so the local Hub used ${body.domains.join(" and ")} (pass --domain)`);
  } else if (sent.domains.includes("discussions")) {
    body.domains = sent.domains.map((domain) => parseDomain(String(domain)) ?? domain);
    notes.push('"discussions" is not a domain, so the local Hub used "discussion"');
  }
  return { body, notes };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

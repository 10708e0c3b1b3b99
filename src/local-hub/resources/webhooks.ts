import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import type { WebhookInfo } from "../../console/protocol/hub.ts";
import { readJson } from "../../core/text.ts";
import { maskUrl } from "../../core/urls.ts";
import { webhookJob, webhookJobRequest } from "../../hub/jobs/definition.ts";
import { type Webhook, webhook, webhookOperations, webhookRequest, webhookUpdate } from "../../hub/webhooks/schemas.ts";
import { parseDomain, webhookDomains } from "../../payload/watch.ts";
import type { Caller } from "../accounts.ts";
import { notFound } from "../error-response.ts";
import type { HubContext } from "../hub-context.ts";
import { type ApiEnvironment, describeRoutes, type ResourceApi, serveRoute } from "../routes/route.ts";
import { type StoredWebhook, webhookState } from "../store/webhook-store.ts";

const webhookRoutes = describeRoutes(webhookOperations, "webhooks", {
  list: { success: "Your webhooks." },
  create: { success: "The webhook." },
  get: { success: "The webhook." },
  update: { success: "The webhook." },
  delete: { success: "The webhook was deleted." },
  setState: { success: "The webhook.", errors: ["invalid"] },
  replay: { success: "The HTTP status of the replayed delivery." },
});

/** Users have access to their own webhooks only. */
export const webhookApi = {
  routes: webhookRoutes,
  components: {
    Webhook: webhook,
    WebhookRequest: webhookRequest,
    WebhookUpdate: webhookUpdate,
    WebhookJobRequest: webhookJobRequest,
    WebhookJob: webhookJob,
  },
  serve(app, hub) {
    const { webhooks } = hub.store;
    const findOwn = (id: string, caller: Caller): StoredWebhook => {
      const found = webhooks.get(id);
      if (found?.owner !== caller.user) throw notFound(`There is no webhook "${id}".`);
      return found;
    };

    const completeRequest = completeForPythonClient((id) => webhooks.get(id));
    app.use(webhookRoutes.create.path, completeRequest);
    app.use(`${webhookRoutes.create.path}/:webhookId`, completeRequest);

    serveRoute(app, webhookRoutes.list, (_request, context) => {
      const own = webhooks.all().filter(({ owner }) => owner === context.var.caller.user);
      return own.map(toReturnedWebhook);
    });

    serveRoute(app, webhookRoutes.create, ({ body }, context) => ({
      webhook: createWebhook(hub, { owner: context.var.caller.user, definition: body }),
    }));

    serveRoute(app, webhookRoutes.get, ({ params: { webhookId } }, context) => ({
      webhook: toReturnedWebhook(findOwn(webhookId, context.var.caller)),
    }));

    serveRoute(app, webhookRoutes.update, ({ params: { webhookId }, body }, context) => ({
      webhook: updateWebhook(hub, findOwn(webhookId, context.var.caller), body),
    }));

    serveRoute(app, webhookRoutes.delete, ({ params: { webhookId } }, context) => {
      deleteWebhook(hub, findOwn(webhookId, context.var.caller));
      return {};
    });

    serveRoute(app, webhookRoutes.setState, ({ params: { webhookId, action } }, context) => ({
      webhook: setWebhookState(hub, findOwn(webhookId, context.var.caller), action === "disable"),
    }));

    serveRoute(app, webhookRoutes.replay, async ({ params: { webhookId, logId } }, context) => ({
      status: await replayDelivery(hub, findOwn(webhookId, context.var.caller), logId),
    }));
  },
} satisfies ResourceApi;

type WebhookDefinition = StoredWebhook["definition"];

/** A webhook with masked secrets, for pages, logs, and the control API. */
export interface WebhookSummary extends Pick<WebhookInfo, "id" | "owner" | "target" | "state" | "watched" | "domains"> {
  secretIsSet: boolean;
  lastTriggerAt?: string;
}

export function summarizeWebhook(webhook: StoredWebhook): WebhookSummary {
  const { id, owner, definition, lastTriggerAt } = webhook;
  const { watched, domains, secret } = definition;
  return {
    ...{ id, owner, target: describeTarget(webhook), state: webhookState(webhook), watched, domains },
    secretIsSet: secret !== undefined,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

function describeTarget({ definition: { url, job, jobSourceId } }: StoredWebhook): WebhookSummary["target"] {
  if (url !== undefined) return { kind: "url", url: maskUrl(url) };
  if (job) return { kind: "job", description: [...(job.command ?? []), ...(job.arguments ?? [])].join(" ") };
  return { kind: "jobSource", id: jobSourceId ?? "" };
}

/** Converts a webhook to its API representation, with `secret` instead of `hasSecret` (see `webhook` in hub/webhooks/schemas.ts). */
function toReturnedWebhook({ id, definition, disabled, lastTriggerAt }: StoredWebhook): Webhook {
  const { job, ...fields } = definition;
  return {
    id,
    ...fields,
    ...(job && { job: toReturnedJob(job) }),
    disabled,
    ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
  };
}

/** Converts a job to its API representation, which contains the names of secrets without values and not all fields. */
function toReturnedJob(job: NonNullable<WebhookDefinition["job"]>): NonNullable<Webhook["job"]> {
  const { dockerImage, spaceId, environment, arguments: args, command, flavor, timeoutSeconds, labels, secrets } = job;
  return {
    ...{ environment, flavor, timeoutSeconds, dockerImage, spaceId, arguments: args, command, labels },
    secrets: secrets && Object.keys(secrets),
  };
}

export function createWebhook(
  { store, createId }: Pick<HubContext, "store" | "createId">,
  { owner, definition }: { owner: string; definition: WebhookDefinition },
): Webhook {
  const created: StoredWebhook = {
    ...{ id: createId(), owner, definition: withoutEmptySecret(definition) },
    ...{ disabled: false, failures: 0, dayBeganAt: 0, triggersToday: 0 },
  };
  store.webhooks.put(created);
  return toReturnedWebhook(created);
}

/** If the new definition has no target, the target stays the same. */
export function updateWebhook({ store }: HubContext, webhook: StoredWebhook, definition: WebhookDefinition): Webhook {
  const updated = { ...webhook, definition: withoutEmptySecret(keepTarget(definition, webhook.definition)) };
  store.webhooks.put(updated);
  return toReturnedWebhook(updated);
}

/** Deletes a webhook and its log, and cancels its deliveries. */
export function deleteWebhook({ store, dispatcher }: HubContext, { id }: StoredWebhook): void {
  dispatcher.cancel(id);
  store.transaction(() => {
    store.webhooks.delete(id);
    store.deliveries.deleteAttempts(id);
  });
}

/** Disabling or suspending a webhook cancels its deliveries. */
export function setWebhookState(
  { store, dispatcher }: HubContext,
  webhook: StoredWebhook,
  disabled: StoredWebhook["disabled"],
): Webhook {
  const updated = { ...webhook, disabled, failures: 0 };
  store.webhooks.put(updated);
  if (disabled) dispatcher.cancel(updated.id);
  return toReturnedWebhook(updated);
}

/** If the update has no target, the target of the current definition is added. */
function keepTarget(update: WebhookDefinition, current: WebhookDefinition): WebhookDefinition {
  const hasTarget = update.url !== undefined || update.job !== undefined || update.jobSourceId !== undefined;
  if (hasTarget) return update;
  const { url, job, jobSourceId } = current;
  return { ...update, url, job, jobSourceId };
}

/** A webhook with an empty secret has no secret. */
function withoutEmptySecret({ secret, ...definition }: WebhookDefinition): WebhookDefinition {
  return secret ? { ...definition, secret } : definition;
}

/** Returns the HTTP status of the receiver, or 502 without a response. @throws `HTTPException` 404 if the log lacks the entry. */
export async function replayDelivery({ store, dispatcher }: HubContext, webhook: StoredWebhook, logId: string) {
  const entry = store.deliveries.attempt(webhook.id, logId);
  if (!entry) throw notFound(`The log of webhook "${webhook.id}" has no entry "${logId}".`);
  const { status } = await dispatcher.replay(webhook, entry);
  return status ?? 502;
}

const requestedWebhook = z.looseObject({
  watched: z.array(z.unknown()).optional(),
  domains: z.array(z.unknown()).optional(),
});

/**
 * Corrects requests from the Python client (`hf webhooks`, `HfApi`). The Python client omits `domains`, sends the domain
 * `discussions`, and updates webhooks with an empty `watched`. The Hub's specification does not allow such requests, so other
 * clients get 400. The response contains a warning, which the Python client prints.
 */
function completeForPythonClient(find: (id: string) => StoredWebhook | undefined): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const isPythonClient = /\bhf_hub\//.test(context.req.header("user-agent") ?? "");
    if (context.req.method !== "POST" || !isPythonClient) return next();
    const text = await context.req.raw.clone().text();
    const sent = requestedWebhook.safeParse(readJson(text));
    if (!sent.success) return next();

    const before = find(context.req.param("webhookId") ?? "")?.definition;
    const { body, notes } = complete(sent.data, before);
    if (notes.length === 0) return next();
    context.req.raw = new Request(context.req.raw, { body: JSON.stringify(body) });
    await next();
    if (context.res.ok) {
      const warning = `webhooks; The Hub's published API does not allow this request: ${notes.join("; ")}.`;
      context.res.headers.set("x-hf-warning", warning);
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

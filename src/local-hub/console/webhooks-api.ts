import type * as z from "zod/mini";
import {
  attemptKey,
  type WebhookChange,
  type WebhookList,
  webhookChange,
  webhookCreation,
  webhookKey,
} from "../../console/protocol/hub.ts";
import type { ConsoleResource } from "../../console/server/api.ts";
import { FieldError, readBody, readQuery } from "../../console/server/api.ts";
import { describeIssue } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { suspendedAfterFailure, webhookRequest, webhookUpdate } from "../../hub/webhooks/schemas.ts";
import { localUser } from "../accounts.ts";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { createWebhook, deleteWebhook, setWebhookState, updateWebhook } from "../resources/webhook-changes.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import {
  createCommand,
  toAttemptDetails,
  toAttemptSummary,
  toWebhookDetails,
  toWebhookInfo,
} from "./describe-webhook.ts";

/** The maximum number of webhooks in the list. */
const maxListed = 200;

/** The states of a webhook, by the last part of the path that sets it. `suspend` sets the same state as too many failures. */
const states = { enable: false, disable: true, suspend: suspendedAfterFailure } as const;

/** The routes of the webhooks of all users. */
export function webhooksApi(hub: HubContext): ConsoleResource {
  const { store, dispatcher } = hub;
  return (app) => {
    app.get("/webhooks", (context) => {
      const all = store.webhooks.all();
      const listed = all.slice(-maxListed);
      return context.json<WebhookList>({
        webhooks: listed.map((webhook) => toWebhookInfo(hub, webhook)),
        unlisted: all.length - listed.length,
        createCommand: createCommand(hub),
      });
    });

    app.get("/webhooks/one", (context) => {
      const webhook = findWebhook(hub, readQuery(context, webhookKey).id);
      return context.json(toWebhookDetails(hub, webhook));
    });

    app.get("/webhooks/attempt", (context) => {
      const { attempt } = findAttempt(hub, readQuery(context, attemptKey));
      return context.json(toAttemptDetails(attempt));
    });

    app.post("/webhooks", async (context) => {
      const definition = parseDefinition(webhookRequest, await readBody(context, webhookCreation));
      const { id } = createWebhook(hub, { owner: localUser, definition });
      return context.json(toWebhookDetails(hub, findWebhook(hub, id)));
    });

    app.post("/webhooks/update", async (context) => {
      const { id, ...change } = await readBody(context, webhookChange);
      const webhook = findWebhook(hub, id);
      const definition = parseDefinition(webhookUpdate, withSecret(change, webhook));
      updateWebhook(hub, { webhook, definition });
      return context.json(toWebhookDetails(hub, findWebhook(hub, id)));
    });

    app.post("/webhooks/delete", async (context) => {
      deleteWebhook(hub, findWebhook(hub, (await readBody(context, webhookKey)).id));
      return context.json({});
    });

    for (const [action, disabled] of Object.entries(states)) {
      app.post(`/webhooks/${action}`, async (context) => {
        const { id } = await readBody(context, webhookKey);
        setWebhookState(hub, { webhook: findWebhook(hub, id), disabled });
        return context.json(toWebhookDetails(hub, findWebhook(hub, id)));
      });
    }

    app.post("/webhooks/replay", async (context) => {
      const { webhook, attempt } = findAttempt(hub, await readBody(context, attemptKey));
      return context.json(toAttemptSummary(await dispatcher.replay(webhook, attempt)));
    });
  };
}

type Definition = StoredWebhook["definition"];

/** @throws FieldError with the invalid fields. The problems never contain the values. */
function parseDefinition(schema: z.ZodMiniType<Definition>, given: unknown): Definition {
  const parsed = schema.safeParse(given, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => ({
    path: path.map((part) => (typeof part === "number" ? part : String(part))),
    problem: message,
  }));
  const error = new WebhookError("The webhook is invalid. Fix the fields.", { code: "ARGUMENT_INVALID" });
  throw new FieldError(error, fields);
}

/** Returns the change with the current secret, if the change keeps it. */
function withSecret({ secret, ...change }: Omit<WebhookChange, "id">, { definition }: StoredWebhook): unknown {
  const kept = secret === undefined ? definition.secret : secret;
  return { ...change, ...(kept !== undefined && kept !== null && { secret: kept }) };
}

/** @throws `NOT_FOUND`. */
function findWebhook({ store }: HubContext, id: string): StoredWebhook {
  const webhook = store.webhooks.get(id);
  if (!webhook) throw notFound("This webhook does not exist. It may have been deleted. Reload the list.");
  return webhook;
}

/** @throws `NOT_FOUND`. */
function findAttempt(
  hub: HubContext,
  { id, logId }: z.infer<typeof attemptKey>,
): { webhook: StoredWebhook; attempt: HubDeliveryAttempt } {
  const webhook = findWebhook(hub, id);
  const attempt = hub.store.deliveries.attempt(id, logId);
  if (!attempt) throw notFound("This attempt is no longer stored. The local Hub keeps the latest 100 of each webhook.");
  return { webhook, attempt };
}

/** Creates the error for an item that does not exist. */
export function notFound(message: string): WebhookError {
  return new WebhookError(message, { code: "NOT_FOUND", status: 404 });
}

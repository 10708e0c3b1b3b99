import type * as z from "zod/mini";
import {
  type AttemptDetails,
  type AttemptSummary,
  attemptKey,
  type WebhookChange,
  type WebhookDetails,
  type WebhookInfo,
  type WebhookList,
  webhookChange,
  webhookCreation,
  webhookKey,
} from "../../console/protocol/hub.ts";
import { type ConsoleResource, FieldError, readBody, readQuery } from "../../console/server/api.ts";
import { describeIssue } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { cutAt, shorten, toShellWord } from "../../core/text.ts";
import { defaultPort } from "../../core/urls.ts";
import { suspendedAfterFailure, webhookRequest, webhookUpdate } from "../../hub/webhooks/schemas.ts";
import { summarizeEvent } from "../../payload/names.ts";
import type { Watched } from "../../payload/watch.ts";
import { developmentTokens, localUser } from "../accounts.ts";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";
import type { UnfiredWebhook } from "../events/publish-change.ts";
import { triggerArguments } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import {
  createWebhook,
  deleteWebhook,
  setWebhookState,
  summarizeWebhook,
  updateWebhook,
} from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

const maxListed = 200;

/** The states of a webhook, by the last part of the path that sets it. `suspend` sets the same state as too many failures. */
const states = { enable: false, disable: true, suspend: suspendedAfterFailure } as const;

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
      updateWebhook(hub, webhook, definition);
      return context.json(toWebhookDetails(hub, findWebhook(hub, id)));
    });

    app.post("/webhooks/delete", async (context) => {
      deleteWebhook(hub, findWebhook(hub, (await readBody(context, webhookKey)).id));
      return context.json({});
    });

    for (const [action, disabled] of Object.entries(states)) {
      app.post(`/webhooks/${action}`, async (context) => {
        const { id } = await readBody(context, webhookKey);
        setWebhookState(hub, findWebhook(hub, id), disabled);
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
function findAttempt(hub: HubContext, { id, logId }: z.infer<typeof attemptKey>) {
  const webhook = findWebhook(hub, id);
  const attempt = hub.store.deliveries.attempt(id, logId);
  if (!attempt) throw notFound("This attempt is no longer stored. The local Hub keeps the latest 100 of each webhook.");
  return { webhook, attempt };
}

export function notFound(message: string): WebhookError {
  return new WebhookError(message, { code: "NOT_FOUND", status: 404 });
}

const maxBodyCharacters = 1_048_576;
const maxNameCharacters = 100;

function toWebhookInfo({ store, dispatcher }: HubContext, webhook: StoredWebhook): WebhookInfo {
  const { secretIsSet, lastTriggerAt: _text, ...summary } = summarizeWebhook(webhook);
  const { triggersPerDay, suspendAfter } = dispatcher.limits;
  const [last] = store.deliveries.attempts(webhook.id, { limit: 1 });
  return {
    ...summary,
    isSecretSet: secretIsSet,
    ...(webhook.lastTriggerAt !== undefined && { lastTriggerAt: webhook.lastTriggerAt }),
    today: { deliveries: dispatcher.triggersToday(webhook), ...finiteLimit(triggersPerDay) },
    failures: { count: webhook.failures, ...finiteLimit(suspendAfter) },
    ...(last && { last: toAttemptSummary(last) }),
  };
}

export function nameOfWebhook(webhook: StoredWebhook): string {
  const { target } = summarizeWebhook(webhook);
  switch (target.kind) {
    case "url":
      return target.url;
    case "job":
      return `Job ${shorten(target.description, maxNameCharacters)}`;
    case "jobSource":
      return `Job like ${shorten(target.id, maxNameCharacters)}`;
  }
}

function toWebhookDetails(context: HubContext, webhook: StoredWebhook): WebhookDetails {
  const { deliveries } = context.store;
  return {
    ...toWebhookInfo(context, webhook),
    attempts: deliveries.attempts(webhook.id).map(toAttemptSummary),
    pending: deliveries.pendingOf(webhook.id).length,
    triggerCommand: triggerCommand(context, webhook.definition),
  };
}

function toAttemptSummary(stored: HubDeliveryAttempt): AttemptSummary {
  const { logId, deliveryId, attempt, at, durationMs, status, error, request } = stored;
  const { scope, action, repoType, repoName } = summarizeEvent(request.body);
  return {
    ...{ logId, deliveryId, attempt, at: Date.parse(at), durationMs },
    ...{ status: status ?? undefined, error: error ?? undefined },
    ...(scope !== undefined && action !== undefined && { event: { scope, action } }),
    ...(repoType !== undefined && repoName !== undefined && { repository: { type: repoType, name: repoName } }),
  };
}

/** Secrets were masked when the attempt was stored. */
function toAttemptDetails(stored: HubDeliveryAttempt): AttemptDetails {
  const { url, request, response } = stored;
  const { body } = request;
  return {
    ...toAttemptSummary(stored),
    url,
    request: {
      headers: Object.entries(request.headers),
      body: cutAt(body, maxBodyCharacters),
      ...(body.length > maxBodyCharacters && { bodyLength: body.length }),
    },
    ...(response && {
      response: { headers: Object.entries(response.headers), body: response.body, isTruncated: response.truncated },
    }),
  };
}

function finiteLimit(limit: number): { limit?: number } {
  return Number.isFinite(limit) ? { limit } : {};
}

const [{ token: defaultToken } = { token: "" }] = developmentTokens;

function createCommand({ hubUrl }: { hubUrl: string }): string {
  return `HF_ENDPOINT=${toShellWord(hubUrl)} HF_TOKEN=${defaultToken} npx hub-webhooks create --url http://127.0.0.1:${defaultPort}/webhooks/hello --watch dataset:me/data`;
}

/** The command that triggers an event for a webhook. By default, for a repository that need not exist. */
export function triggerCommand(
  { hubUrl }: { hubUrl: string },
  { watched = [], domains = [] }: { watched?: readonly Watched<string>[]; domains?: readonly string[] } = {},
): string {
  const words = triggerArguments({ watched, scopes: domains });
  return `npx hub-webhooks trigger ${words.map(toShellWord).join(" ")} --hub-url ${toShellWord(hubUrl)}`;
}

export const runJobsCommand = "npx hub-webhooks hub --run-jobs";

const texts: Readonly<Record<string, string>> = {
  "not-watched": "Does not watch this repository or its owner.",
  domain: "Its domains exclude this event.",
  private: "The repository is private, and the owner of the webhook cannot read it.",
  disabled: "Disabled.",
  suspended: "Suspended after failed deliveries.",
  "daily-limit": "Has reached its daily limit.",
} satisfies Record<UnfiredWebhook["reason"] | "not-watched", string>;

/** `reason`: also one that another version of the package has stored. */
export function skipReasonText(reason: string): string {
  return texts[reason] ?? reason;
}

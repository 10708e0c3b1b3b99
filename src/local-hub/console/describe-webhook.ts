import type { AttemptDetails, AttemptSummary, WebhookDetails, WebhookInfo } from "../../console/protocol/hub.ts";
import { cutAt, shorten, toShellWord } from "../../core/text.ts";
import { defaultPort } from "../../core/urls.ts";
import { summarizeEvent } from "../../payload/event-summary.ts";
import { developmentTokens } from "../accounts.ts";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";
import { triggerArguments } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import { summarizeWebhook } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

type WebhookContext = Pick<HubContext, "store" | "dispatcher" | "hubUrl">;

/** The maximum length of a payload or response that the console receives. */
const maxBodyCharacters = 1_048_576;
/** The maximum length of a job's command in the name of a webhook. */
const maxNameCharacters = 100;

/** Describes a webhook for the console, with masked secrets. */
export function toWebhookInfo({ store, dispatcher }: WebhookContext, webhook: StoredWebhook): WebhookInfo {
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

/** Names a webhook by its target, without secrets. */
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

/** Describes a webhook with its attempts. */
export function toWebhookDetails(context: WebhookContext, webhook: StoredWebhook): WebhookDetails {
  const { deliveries } = context.store;
  return {
    ...toWebhookInfo(context, webhook),
    attempts: deliveries.attempts(webhook.id).map(toAttemptSummary),
    pending: deliveries.pendingOf(webhook.id).length,
    triggerCommand: triggerCommand(context, webhook.definition),
  };
}

/** Describes an attempt without its payload and response. */
export function toAttemptSummary(stored: HubDeliveryAttempt): AttemptSummary {
  const { logId, deliveryId, attempt, at, durationMs, status, error, request } = stored;
  const { scope, action, repoType, repoName } = summarizeEvent(request.body);
  return {
    ...{ logId, deliveryId, attempt, at: Date.parse(at), durationMs },
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(scope !== undefined && action !== undefined && { event: { scope, action } }),
    ...(repoType !== undefined && repoName !== undefined && { repository: { type: repoType, name: repoName } }),
  };
}

/** Describes an attempt with its payload and response. Secrets were masked when the attempt was stored. */
export function toAttemptDetails(stored: HubDeliveryAttempt): AttemptDetails {
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

/** The command that creates a webhook. */
export function createCommand({ hubUrl }: { hubUrl: string }): string {
  return `HF_ENDPOINT=${toShellWord(hubUrl)} HF_TOKEN=${defaultToken} npx hub-webhooks create --url http://127.0.0.1:${defaultPort}/webhooks/hello --watch dataset:me/data`;
}

/** The command that triggers an event for a webhook. By default, for a repository that need not exist. */
export function triggerCommand(
  { hubUrl }: { hubUrl: string },
  {
    watched = [],
    domains = [],
  }: Partial<Pick<Parameters<typeof triggerArguments>[0], "watched">> & {
    domains?: readonly string[];
  } = {},
): string {
  const words = triggerArguments({ watched, scopes: domains });
  return `npx hub-webhooks trigger ${words.map(toShellWord).join(" ")} --hub-url ${toShellWord(hubUrl)}`;
}

/** The command that starts a local Hub that runs jobs. */
export const runJobsCommand = "npx hub-webhooks hub --run-jobs";

const texts: Readonly<Record<string, string>> = {
  "not-watched": "Does not watch this repository or its owner.",
  domain: "Its domains exclude this event.",
  private: "The repository is private, and the owner of the webhook cannot read it.",
  disabled: "Disabled.",
  suspended: "Suspended after failed deliveries.",
  "daily-limit": "Has reached its daily limit.",
};

/** Describes why a webhook does not fire. */
export function skipReasonText(reason: string): string {
  return texts[reason] ?? reason;
}

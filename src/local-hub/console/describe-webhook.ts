import type { AttemptDetails, AttemptSummary, WebhookDetails, WebhookInfo } from "../../console/protocol/hub.ts";
import { cutAt, shorten } from "../../core/text.ts";
import { summarizeEvent } from "../../payload/event-summary.ts";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";
import type { HubContext } from "../hub-context.ts";
import { summarizeWebhook } from "../resources/webhooks.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { triggerCommand } from "./commands.ts";

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

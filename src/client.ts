export {
  HubError,
  type HubErrorOptions,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorOptions,
} from "./errors.ts";
export { HubClient, type HubClientOptions } from "./hub/client.ts";
export type { WebhookJob, WebhookJobRequest } from "./hub/contract/jobs.ts";
export type {
  Watched,
  WatchedType,
  Webhook,
  WebhookDomain,
  WebhookRequest,
} from "./hub/contract/webhooks.ts";
export type { CallOptions } from "./hub/transport.ts";
export type { WebhookChanges } from "./hub/webhook-changes.ts";
export type { HubWebhooks } from "./hub/webhooks.ts";

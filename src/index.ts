export type { Delivery, Outcome } from "./delivery.ts";
export type { Duration } from "./duration.ts";
export { WebhookError, type WebhookErrorCode, type WebhookErrorOptions } from "./errors.ts";
export { PermanentError, RetryAfterError } from "./handler-errors.ts";
export type {
  Arrival,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  Inbox,
  ListOptions,
  QueueOptions,
  Task,
} from "./inbox/inbox.ts";
export type { Backoff, RetryPolicy } from "./inbox/retry-policy.ts";
export type { DeliveryAttempt, DeliveryStatus, StoredDelivery } from "./inbox/stored-delivery.ts";
export type { Logger, LogMethod } from "./logger.ts";
export type { FilterOptions, RepoPattern } from "./payload/filter.ts";
export { parsePayload } from "./payload/parse.ts";
export type {
  Action,
  BucketContentPayload,
  CommonPayload,
  DiscussionCommentPayload,
  DiscussionPayload,
  GitContentPayload,
  KnownScope,
  RepoConfigPayload,
  RepoContentPayload,
  RepoPayload,
  RepoType,
  Scope,
  WebhookPayload,
} from "./payload/schema.ts";
export { isScope, type PayloadOf } from "./payload/scope.ts";
export type { Watch, WatchedType, WebhookDomain } from "./payload/watch.ts";
export type { ActivityOutcome, HandlerTime } from "./server/activity.ts";
export type { EndpointOptions, Handler, HandlerContext, PayloadFor } from "./server/endpoint.ts";
export type { LandingActivity, LandingEndpoint, LandingHour, LandingInfo } from "./server/landing/info.ts";
export type { LandingPage } from "./server/landing/source.ts";
export type { LaunchedServer, LaunchOptions } from "./server/launch-options.ts";
export type { HonoApp } from "./server/server-app.ts";
export type { DeliveryLookup, ServerInbox } from "./server/server-inbox.ts";
export { webhookEndpoint } from "./server/webhook-endpoint.ts";
export type { WebhookDecorator, WebhookFunction } from "./server/webhook-function.ts";
export { WebhooksServer } from "./server/webhooks-server.ts";
export type { WebhooksServerOptions } from "./server/webhooks-server-options.ts";

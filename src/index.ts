export type { Duration } from "./core/duration.ts";
export {
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorCodes,
  type WebhookErrorOptions,
} from "./core/errors.ts";
export type { Logger, LogMethod } from "./core/logger.ts";
export type {
  AttemptDetails,
  AttemptLog,
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  DeliveryStatus,
  EndpointQueue,
  Inbox,
  IncomingDelivery,
  ListOptions,
  StoredDelivery,
} from "./inbox/inbox.ts";
export type { OwnActions } from "./inbox/own-actions.ts";
export type { Backoff, RetryPolicy } from "./inbox/retry-policy.ts";
export type { Delivery, Outcome } from "./payload/delivery.ts";
export type { FilterOptions, RepoPattern } from "./payload/filter.ts";
export { parsePayload } from "./payload/parse.ts";
export type {
  Action,
  BucketContentPayload,
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
export type { Watch, WebhookDomain } from "./payload/watch.ts";
export type { ServerInbox } from "./receiver/background/server-inbox.ts";
export type { EndpointOptions, Handler, HandlerContext, PayloadFor } from "./receiver/endpoint/endpoint.ts";
export type { WebhookDecorator, WebhookFunction } from "./receiver/endpoint/webhook-function.ts";
export type { LandingInfo } from "./receiver/landing/info.ts";
export type { LandingPage } from "./receiver/landing/source.ts";
export type { LaunchedServer, LaunchOptions } from "./receiver/lifecycle/launch-options.ts";
export { NonRetriableError, RetryAfterError } from "./receiver/pipeline/handler-errors.ts";
export { webhookEndpoint } from "./receiver/webhook-endpoint.ts";
export { WebhooksServer } from "./receiver/webhooks-server.ts";
export type { WebhooksServerOptions } from "./receiver/webhooks-server-options.ts";

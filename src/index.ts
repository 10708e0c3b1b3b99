export {
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorCodes,
  type WebhookErrorOptions,
} from "./core/errors.ts";
export type { Logger, LogMethod } from "./core/log.ts";
export type { Duration } from "./core/options.ts";
export type {
  AttemptDetails,
  AttemptLog,
  ClaimedDelivery,
  CursorClaim,
  Cursors,
  DeliveryAttempt,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  DeliveryStatus,
  EndpointQueue,
  FinishedRun,
  Inbox,
  IncomingDelivery,
  ListOptions,
  NextStep,
  OwnActions,
  StoredDelivery,
} from "./inbox/inbox.ts";
export type { Backoff, RetryPolicy } from "./inbox/retry.ts";
export type { FilterOptions, RepoPattern } from "./payload/filter.ts";
export type { Action, KnownScope, RepoType, Scope } from "./payload/names.ts";
export type { Delivery, Outcome } from "./payload/parse.ts";
export { parsePayload } from "./payload/parse.ts";
export {
  type BucketContentPayload,
  type DiscussionCommentPayload,
  type DiscussionPayload,
  type GitContentPayload,
  isScope,
  type PayloadOf,
  type RepoConfigPayload,
  type RepoContentPayload,
  type RepoPayload,
  type WebhookPayload,
} from "./payload/schema.ts";
export type { Watch, WebhookDomain } from "./payload/watch.ts";
export type { CatchUpSettings, EndpointOptions, Handler, HandlerContext, PayloadFor } from "./receiver/endpoint.ts";
export { NonRetriableError, RetryAfterError } from "./receiver/handler.ts";
export type { ServerInbox } from "./receiver/inbox.ts";
export type {
  LandingInfo,
  LandingPage,
  LaunchedServer,
  LaunchOptions,
  WebhooksServerOptions,
} from "./receiver/options.ts";
export { WebhooksServer, webhookEndpoint } from "./receiver/server.ts";
export type { WebhookDecorator, WebhookFunction } from "./receiver/webhook.ts";

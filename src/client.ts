export {
  HubError,
  type HubErrorOptions,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorCodes,
  type WebhookErrorOptions,
} from "./core/errors.ts";
export type { Whoami } from "./hub/account.ts";
export { HubClient, type HubClientOptions } from "./hub/client.ts";
export type { WebhookJob, WebhookJobRequest } from "./hub/jobs/definition.ts";
export type { HubJobs, JobCallOptions, JobLogLine, JobLogOptions, JobRequest, JobSearch } from "./hub/jobs/jobs.ts";
export type { Job, JobHardware, JobStage } from "./hub/jobs/schemas.ts";
export type {
  HubNotifications,
  Notification,
  NotificationPage,
  NotificationSearch,
  NotificationSelection,
} from "./hub/notifications.ts";
export type { CallOptions } from "./hub/operation.ts";
export type { AuditLogEvent, AuditLogSearch } from "./hub/organizations/audit-log.ts";
export type { AuditLogType } from "./hub/organizations/audit-log-types.ts";
export type {
  HubNetworkSecurity,
  NetworkSecurity,
  NetworkSecurityChange,
} from "./hub/organizations/network-security.ts";
export type {
  HubOrganizations,
  MemberRoleChange,
  MemberSearch,
  OrganizationMember,
  RevokedToken,
  ScimConfig,
} from "./hub/organizations/organizations.ts";
export type {
  HubResourceGroups,
  Resource,
  ResourceGroup,
  ResourceGroupRequest,
} from "./hub/organizations/resource-groups.ts";
export type { Pages } from "./hub/pages.ts";
export type { ChangedFile } from "./hub/repositories/changed-files.ts";
export type { RepositoryCommit, RepositoryFile, RepositoryRefs } from "./hub/repositories/contents.ts";
export type {
  CommitFiles,
  CommitRequest,
  CommitResult,
  OpenedPullRequest,
  PullRequestRequest,
} from "./hub/repositories/create-commit.ts";
export type { DiscussionDetails, DiscussionEvent, DiscussionSummary } from "./hub/repositories/discussions.ts";
export type { ChangeComment, HubRepository } from "./hub/repositories/hub-repository.ts";
export type { DiscussionSearch } from "./hub/repositories/read-discussions.ts";
export type {
  ChangedFilesOptions,
  ListFilesOptions,
  ReadFileOptions,
  RevisionOptions,
} from "./hub/repositories/read-repository.ts";
export type { RepositoryInfo } from "./hub/repositories/repositories.ts";
export type {
  CommentUpsert,
  DiscussionRequest,
  MergeResult,
  OpenedDiscussion,
  UpsertedComment,
} from "./hub/repositories/write-discussions.ts";
export type { OrganizationRole, RepoRef as RepoId } from "./hub/schemas.ts";
export type {
  HubPapers,
  HubSettings,
  McpSettings,
  NotificationSettingsChange,
  NotificationWatchChange as WatchChange,
  NotificationWatchItem as WatchItem,
  PaperClaim,
  PaperClaimResult,
} from "./hub/settings.ts";
export type { HubFetchInit } from "./hub/transport/request.ts";
export type { Webhook, WebhookRequest } from "./hub/webhooks/schemas.ts";
export type { HubWebhooks, WebhookChanges } from "./hub/webhooks/webhooks.ts";
export type { Watched, WatchedType, WebhookDomain } from "./payload/watch.ts";
export { register } from "./registration/register.ts";
export type {
  CreateStep,
  DeleteStep,
  EnableStep,
  FailedStep,
  FieldChange,
  RegistrationReport,
  RegistrationStep,
  SkippedWebhook,
  UpdateStep,
} from "./registration/report.ts";
export type { HubConnection, RegisterOptions } from "./registration/webhook.ts";

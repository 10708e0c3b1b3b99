export {
  HubError,
  type HubErrorOptions,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorCodes,
  type WebhookErrorOptions,
} from "./core/errors.ts";
export type { CallOptions } from "./hub/call-options.ts";
export { HubClient, type HubClientOptions } from "./hub/client.ts";
export type { Whoami } from "./hub/contract/account.ts";
export type { JobHardware, WebhookJob, WebhookJobRequest } from "./hub/contract/jobs.ts";
export type { Notification, NotificationPage, NotificationSearch } from "./hub/contract/notifications.ts";
export type { AuditLogEvent, AuditLogSearch, AuditLogType } from "./hub/contract/organizations/audit-log.ts";
export type { MemberRoleChange, MemberSearch, OrganizationMember } from "./hub/contract/organizations/members.ts";
export type { NetworkSecurity, NetworkSecurityChange } from "./hub/contract/organizations/network-security.ts";
export type { Resource, ResourceGroup, ResourceGroupRequest } from "./hub/contract/organizations/resource-groups.ts";
export type { OrganizationRole } from "./hub/contract/organizations/role.ts";
export { type ScimConfig, type ScimUser, scimMatching, scimUser } from "./hub/contract/organizations/scim.ts";
export type { RevokedToken } from "./hub/contract/organizations/tokens.ts";
export type { PaperClaim, PaperClaimResult } from "./hub/contract/papers.ts";
export type { RepoId } from "./hub/contract/repositories.ts";
export type { McpSettings, NotificationSettingsChange, WatchChange, WatchItem } from "./hub/contract/settings.ts";
export type {
  Watched,
  WatchedType,
  Webhook,
  WebhookDomain,
  WebhookRequest,
} from "./hub/contract/webhooks.ts";
export type { HubFetchInit } from "./hub/fetch.ts";
export type { HubJobs } from "./hub/jobs.ts";
export type { HubNotifications, NotificationSelection } from "./hub/notifications.ts";
export type { HubNetworkSecurity, HubOrganizations, HubResourceGroups } from "./hub/organizations.ts";
export type { Pages } from "./hub/pages.ts";
export type { HubPapers } from "./hub/papers.ts";
export type { HubSettings } from "./hub/settings.ts";
export type { WebhookChanges } from "./hub/webhook-changes.ts";
export type { HubWebhooks } from "./hub/webhooks.ts";

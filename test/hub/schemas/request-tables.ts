import {
  notification,
  notificationDeletion,
  notificationMark,
  notificationPage,
} from "../../../src/hub/notifications.ts";
import { auditLogEvent } from "../../../src/hub/organizations/audit-log.ts";
import { organizationAvatar } from "../../../src/hub/organizations/avatar.ts";
import { memberRoleChange, organizationMember } from "../../../src/hub/organizations/members.ts";
import { networkSecurity, networkSecurityChange } from "../../../src/hub/organizations/network-security.ts";
import { resourceGroup, resourceGroupRequest } from "../../../src/hub/organizations/resource-groups.ts";
import { scimConfig } from "../../../src/hub/organizations/scim.ts";
import { tokenRevocation } from "../../../src/hub/organizations/tokens.ts";
import { paperClaim, paperClaimResult } from "../../../src/hub/papers.ts";
import { mcpSettings, notificationSettingsChange, notificationWatchChange } from "../../../src/hub/settings.ts";
import type { BoundTable, RequestTable } from "./bounds.ts";
import {
  notificationBodies,
  notificationBounds,
  notificationDeletionBounds,
  notificationMarkBounds,
  notificationPageBody,
  notificationPageBounds,
} from "./notification-bounds.ts";
import { auditLogEventBody, auditLogEventBounds } from "./organizations/audit-log-bounds.ts";
import {
  avatarBounds,
  memberBody,
  memberBounds,
  memberRoleBody,
  memberRoleBounds,
  scimConfigBody,
  scimConfigBounds,
  tokenRevocationBounds,
} from "./organizations/member-bounds.ts";
import {
  networkSecurityBody,
  networkSecurityBounds,
  networkSecurityChangeBounds,
} from "./organizations/network-security-bounds.ts";
import {
  resourceGroupBody,
  resourceGroupBounds,
  resourceGroupRequestBody,
  resourceGroupRequestBounds,
} from "./organizations/resource-group-bounds.ts";
import {
  mcpSettingsBody,
  mcpSettingsBounds,
  noAmountBounds,
  notificationSettingsBounds,
  paperClaimBounds,
  paperClaimResultBounds,
  prepaidCreditsBounds,
  watchBounds,
} from "./settings-bounds.ts";

const id = "0123456789abcdef01234567";

/** The bodies of all requests except those of webhooks, at the limits of the specification and beyond. */
export const requestTables: RequestTable[] = [
  {
    subject: "deleting notifications",
    line: "DELETE /api/notifications",
    body: { discussionIds: [id] },
    bounds: notificationDeletionBounds,
    schema: notificationDeletion,
    component: "NotificationDeletion",
  },
  {
    subject: "marking notifications",
    line: "POST /api/notifications/mark-as-read",
    body: { discussionIds: [id], read: false },
    bounds: notificationMarkBounds,
    schema: notificationMark,
    component: "NotificationMark",
    defaults: { discussionIds: [], read: true },
  },
  {
    subject: "a change of the notification settings",
    line: "PATCH /api/settings/notifications",
    body: { notifications: { announcements: true }, prepaidAmount: "25" },
    bounds: notificationSettingsBounds,
    schema: notificationSettingsChange,
    component: "NotificationSettingsChange",
  },
  {
    subject: "the launch of prepaid credits",
    line: "PATCH /api/settings/notifications",
    body: { notifications: { launch_prepaid_credits: true }, prepaidAmount: "25" },
    bounds: prepaidCreditsBounds,
    schema: notificationSettingsChange,
    component: "NotificationSettingsChange",
  },
  {
    subject: "a change without an amount",
    line: "PATCH /api/settings/notifications",
    body: { notifications: { announcements: true } },
    bounds: noAmountBounds,
    schema: notificationSettingsChange,
    component: "NotificationSettingsChange",
  },
  {
    subject: "a change of the watched items",
    line: "PATCH /api/settings/watch",
    body: { add: [{ id, type: "org" }], delete: [{ id, type: "repo" }] },
    bounds: watchBounds,
    schema: notificationWatchChange,
    component: "WatchChange",
    defaults: { add: [], delete: [] },
  },
  {
    subject: "the claim of a paper",
    line: "POST /api/settings/papers/claim",
    body: { paperId: "2401.12345", claimAuthorId: id, targetUserId: id },
    bounds: paperClaimBounds,
    schema: paperClaim,
    component: "PaperClaim",
  },
  {
    subject: "the revocation of a token",
    line: "POST /api/organizations/acme/settings/tokens/revoke",
    body: { token: "hf_x" },
    bounds: tokenRevocationBounds,
    schema: tokenRevocation,
    component: "TokenRevocation",
  },
  {
    subject: "a new resource group",
    line: "POST /api/organizations/acme/resource-groups",
    body: resourceGroupRequestBody,
    bounds: resourceGroupRequestBounds,
    schema: resourceGroupRequest,
    component: "ResourceGroupRequest",
    defaults: { users: [], repos: [] },
  },
  {
    subject: "a change of the network security",
    line: "PATCH /api/organizations/acme/settings/network-security",
    body: { ...networkSecurityBody, highRateLimits: true },
    bounds: networkSecurityChangeBounds,
    schema: networkSecurityChange,
    component: "NetworkSecurityChange",
  },
  {
    subject: "a change of a member's role",
    line: "PUT /api/organizations/acme/members/other-user/role",
    body: memberRoleBody,
    bounds: memberRoleBounds,
    schema: memberRoleChange,
    component: "MemberRoleChange",
  },
];

const notificationTypes = ["paper", "repo", "post", "community_blog"] as const;

/** The bodies of all responses except those of webhooks, at the limits of the specification and beyond. */
export const answerTables: BoundTable[] = [
  ...notificationTypes.map((type) => ({
    subject: `a notification of type ${type}`,
    body: notificationBodies[type],
    bounds: notificationBounds[type],
    schema: notification,
    component: "Notification",
  })),
  {
    subject: "a page of notifications",
    body: notificationPageBody,
    bounds: notificationPageBounds,
    schema: notificationPage,
    component: "NotificationPage",
  },
  {
    subject: "the MCP settings",
    body: mcpSettingsBody,
    bounds: mcpSettingsBounds,
    schema: mcpSettings,
    component: "McpSettings",
  },
  {
    subject: "the result of a claim",
    body: { ok: true, claimedPaperId: "2401.12345" },
    bounds: paperClaimResultBounds,
    schema: paperClaimResult,
    component: "PaperClaimResult",
  },
  {
    subject: "an event of the audit log",
    body: auditLogEventBody,
    bounds: auditLogEventBounds,
    schema: auditLogEvent,
    component: "AuditLogEvent",
  },
  {
    subject: "a resource group",
    body: resourceGroupBody,
    bounds: resourceGroupBounds,
    schema: resourceGroup,
    component: "ResourceGroup",
  },
  {
    subject: "a member",
    body: memberBody,
    bounds: memberBounds,
    schema: organizationMember,
    component: "OrganizationMember",
  },
  {
    subject: "the network security",
    body: networkSecurityBody,
    bounds: networkSecurityBounds,
    schema: networkSecurity,
    component: "NetworkSecurity",
  },
  {
    subject: "the picture of an organization",
    body: { avatarUrl: "https://example.com/a.png" },
    bounds: avatarBounds,
    schema: organizationAvatar,
    component: "OrganizationAvatar",
  },
  {
    subject: "the SCIM configuration",
    body: scimConfigBody,
    bounds: scimConfigBounds,
    schema: scimConfig,
    component: "ScimServiceProviderConfig",
  },
];

import { notification, notificationPage } from "../../../src/hub/notifications.ts";
import { auditLogEvent } from "../../../src/hub/organizations/audit-log.ts";
import { organizationMember } from "../../../src/hub/organizations/members.ts";
import { networkSecurity } from "../../../src/hub/organizations/network-security.ts";
import { organizationAvatar, scimConfig } from "../../../src/hub/organizations/organizations.ts";
import { resourceGroup } from "../../../src/hub/organizations/resource-groups.ts";
import { paperClaimResult } from "../../../src/hub/papers.ts";
import { mcpSettings } from "../../../src/hub/settings.ts";
import type { BoundTable } from "./bound-table.ts";
import {
  notificationBodies,
  notificationBounds,
  notificationPageBody,
  notificationPageBounds,
} from "./notification-bounds.ts";
import { auditLogEventBody, auditLogEventBounds } from "./organizations/audit-log-bounds.ts";
import { memberBody, memberBounds } from "./organizations/member-bounds.ts";
import { networkSecurityBody, networkSecurityBounds } from "./organizations/network-security-bounds.ts";
import { avatarBounds } from "./organizations/organization-bounds.ts";
import { resourceGroupBody, resourceGroupBounds } from "./organizations/resource-group-bounds.ts";
import { scimConfigBody, scimConfigBounds } from "./organizations/scim-bounds.ts";
import { paperClaimResultBounds } from "./paper-bounds.ts";
import { mcpSettingsBody, mcpSettingsBounds } from "./settings-bounds.ts";

const notificationTypes = ["paper", "repo", "post", "community_blog"] as const;

/** What operations answer with, but those of webhooks, at the bounds of hub-api.md and beyond. */
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

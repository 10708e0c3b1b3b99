import { notificationDeletion, notificationMark } from "../../../src/hub/notifications.ts";
import { memberRoleChange } from "../../../src/hub/organizations/members.ts";
import { networkSecurityChange } from "../../../src/hub/organizations/network-security.ts";
import { tokenRevocation } from "../../../src/hub/organizations/organizations.ts";
import { resourceGroupRequest } from "../../../src/hub/organizations/resource-groups.ts";
import { paperClaim } from "../../../src/hub/papers.ts";
import { notificationSettingsChange, watchChange } from "../../../src/hub/settings.ts";
import type { RequestTable } from "./bound-table.ts";
import { notificationDeletionBounds, notificationMarkBounds } from "./notification-bounds.ts";
import { memberRoleBody, memberRoleBounds } from "./organizations/member-bounds.ts";
import { networkSecurityBody, networkSecurityChangeBounds } from "./organizations/network-security-bounds.ts";
import { tokenRevocationBounds } from "./organizations/organization-bounds.ts";
import { resourceGroupRequestBody, resourceGroupRequestBounds } from "./organizations/resource-group-bounds.ts";
import { paperClaimBounds } from "./paper-bounds.ts";
import { noAmountBounds, notificationSettingsBounds, prepaidCreditsBounds, watchBounds } from "./settings-bounds.ts";

const id = "0123456789abcdef01234567";

/** The bodies of all requests but those of webhooks, at the bounds of hub-api.md and beyond. */
export const requestTables: RequestTable[] = [
  {
    subject: "the deletion of notifications",
    line: "DELETE /api/notifications",
    body: { discussionIds: [id] },
    bounds: notificationDeletionBounds,
    schema: notificationDeletion,
    component: "NotificationDeletion",
  },
  {
    subject: "the marking of notifications",
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
    subject: "a change of what is watched",
    line: "PATCH /api/settings/watch",
    body: { add: [{ id, type: "org" }], delete: [{ id, type: "repo" }] },
    bounds: watchBounds,
    schema: watchChange,
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

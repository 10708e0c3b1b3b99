import { deriveTokenId } from "../../../src/local-hub/accounts.ts";

/** A valid request: an authorized user gets 200. */
export interface SampleRequest {
  operationId: string;
  /** Such as `GET /api/organizations/acme/members`. */
  line: (name: string) => string;
  body?: object;
  /** Whether it changes data. */
  writes: boolean;
}

const jobs = "/api/jobs/local-user";

/** One request for each of a user's own operations; `name` is the id of one of the user's webhooks. */
export const ownRequests: SampleRequest[] = [
  { operationId: "listWebhooks", line: () => "GET /api/settings/webhooks", writes: false },
  { operationId: "createWebhook", line: () => "POST /api/settings/webhooks", body: webhook(), writes: true },
  { operationId: "getWebhook", line: (id) => `GET /api/settings/webhooks/${id}`, writes: false },
  { operationId: "updateWebhook", line: (id) => `POST /api/settings/webhooks/${id}`, body: webhook(), writes: true },
  { operationId: "deleteWebhook", line: (id) => `DELETE /api/settings/webhooks/${id}`, writes: true },
  { operationId: "setWebhookState", line: (id) => `POST /api/settings/webhooks/${id}/enable`, writes: true },
  { operationId: "replayWebhookDelivery", line: (id) => `POST /api/settings/webhooks/${id}/replay/x`, writes: true },
  { operationId: "listNotifications", line: () => "GET /api/notifications", writes: false },
  { operationId: "deleteNotifications", line: () => "DELETE /api/notifications", body: {}, writes: true },
  {
    operationId: "markNotificationsAsRead",
    line: () => "POST /api/notifications/mark-as-read",
    body: { read: true },
    writes: true,
  },
  { operationId: "getMcpSettings", line: () => "GET /api/settings/mcp", writes: false },
  {
    operationId: "updateNotificationSettings",
    line: () => "PATCH /api/settings/notifications",
    body: { notifications: { announcements: false } },
    writes: true,
  },
  { operationId: "updateWatchSettings", line: () => "PATCH /api/settings/watch", body: {}, writes: true },
  {
    operationId: "claimPaper",
    line: () => "POST /api/settings/papers/claim",
    body: { paperId: "2601.04211" },
    writes: true,
  },
  { operationId: "whoami", line: () => "GET /api/whoami-v2", writes: false },
  { operationId: "listJobHardware", line: () => "GET /api/jobs/hardware", writes: false },
  { operationId: "startJob", line: () => `POST ${jobs}`, body: { flavor: "cpu-basic" }, writes: true },
  { operationId: "listJobs", line: () => `GET ${jobs}`, writes: false },
  { operationId: "countJobs", line: () => `GET ${jobs}/count`, writes: false },
];

/** One request for each operation on a job; `name` is the id of one of the user's jobs. */
export const jobRequests: SampleRequest[] = [
  { operationId: "getJob", line: (id) => `GET ${jobs}/${id}`, writes: false },
  { operationId: "streamJobLogs", line: (id) => `GET ${jobs}/${id}/logs`, writes: false },
  { operationId: "streamJobEvents", line: (id) => `GET ${jobs}/${id}/events`, writes: false },
  { operationId: "cancelJob", line: (id) => `POST ${jobs}/${id}/cancel`, writes: true },
  { operationId: "setJobLabels", line: (id) => `PUT ${jobs}/${id}/labels`, body: { labels: { a: "b" } }, writes: true },
];

/** One request for each operation on the organization `name`. An admin who sends them all remains an admin. */
export const organizationRequests: SampleRequest[] = [
  {
    operationId: "revokeOrganizationToken",
    line: (name) => `POST /api/organizations/${name}/settings/tokens/revoke`,
    body: { token: "hf_read" },
    writes: true,
  },
  {
    operationId: "revokeOrganizationTokenById",
    line: (name) => `POST /api/organizations/${name}/settings/tokens/${deriveTokenId("hf_read")}/revoke`,
    writes: true,
  },
  { operationId: "exportAuditLog", line: (name) => `GET /api/organizations/${name}/audit-log/export`, writes: false },
  {
    operationId: "listResourceGroups",
    line: (name) => `GET /api/organizations/${name}/resource-groups`,
    writes: false,
  },
  {
    operationId: "createResourceGroup",
    line: (name) => `POST /api/organizations/${name}/resource-groups`,
    body: { name: "Speech" },
    writes: true,
  },
  {
    operationId: "getNetworkSecurity",
    line: (name) => `GET /api/organizations/${name}/settings/network-security`,
    writes: false,
  },
  {
    operationId: "updateNetworkSecurity",
    line: (name) => `PATCH /api/organizations/${name}/settings/network-security`,
    body: { enforceAuth: true },
    writes: true,
  },
  { operationId: "getOrganizationAvatar", line: (name) => `GET /api/organizations/${name}/avatar`, writes: false },
  { operationId: "listOrganizationMembers", line: (name) => `GET /api/organizations/${name}/members`, writes: false },
  {
    operationId: "setMemberRole",
    line: (name) => `PUT /api/organizations/${name}/members/local-user/role`,
    body: { role: "admin" },
    writes: true,
  },
  {
    operationId: "getScimConfig",
    line: (name) => `GET /api/organizations/${name}/scim/v2/ServiceProviderConfig`,
    writes: false,
  },
];

function webhook(): object {
  return { watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"], url: "http://127.0.0.1:1/" };
}

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

const settings = "/api/settings";
const webhooks = "/api/settings/webhooks";
const jobs = "/api/jobs/local-user";
const flavor = { flavor: "cpu-basic" };
const webhook = { watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"], url: "http://127.0.0.1:1/" };

/** One request for each of a user's own operations; `name` is the id of one of the user's webhooks. */
export const ownRequests: SampleRequest[] = [
  sample("listWebhooks", () => `GET ${webhooks}`),
  sample("createWebhook", () => `POST ${webhooks}`, webhook),
  sample("getWebhook", (id) => `GET ${webhooks}/${id}`),
  sample("updateWebhook", (id) => `POST ${webhooks}/${id}`, webhook),
  sample("deleteWebhook", (id) => `DELETE ${webhooks}/${id}`),
  sample("setWebhookState", (id) => `POST ${webhooks}/${id}/enable`),
  sample("replayWebhookDelivery", (id) => `POST ${webhooks}/${id}/replay/x`),
  sample("listNotifications", () => "GET /api/notifications"),
  sample("deleteNotifications", () => "DELETE /api/notifications", {}),
  sample("markNotificationsAsRead", () => "POST /api/notifications/mark-as-read", { read: true }),
  sample("getMcpSettings", () => `GET ${settings}/mcp`),
  sample("updateNotificationSettings", () => `PATCH ${settings}/notifications`, {
    notifications: { announcements: false },
  }),
  sample("updateWatchSettings", () => `PATCH ${settings}/watch`, {}),
  sample("claimPaper", () => `POST ${settings}/papers/claim`, { paperId: "2601.04211" }),
  sample("whoami", () => "GET /api/whoami-v2"),
  sample("listJobHardware", () => "GET /api/jobs/hardware"),
  sample("startJob", () => `POST ${jobs}`, flavor),
  sample("listJobs", () => `GET ${jobs}`),
  sample("countJobs", () => `GET ${jobs}/count`),
];

/** One request for each operation on a job; `name` is the id of one of the user's jobs. */
export const jobRequests: SampleRequest[] = [
  sample("getJob", (id) => `GET ${jobs}/${id}`),
  sample("streamJobLogs", (id) => `GET ${jobs}/${id}/logs`),
  sample("streamJobEvents", (id) => `GET ${jobs}/${id}/events`),
  sample("cancelJob", (id) => `POST ${jobs}/${id}/cancel`),
  sample("setJobLabels", (id) => `PUT ${jobs}/${id}/labels`, { labels: { a: "b" } }),
];

const tokenId = deriveTokenId("hf_read");

/** One request for each operation on the organization `name`. An admin who sends them all remains an admin. */
export const organizationRequests: SampleRequest[] = [
  ofOrganization("revokeOrganizationToken", "POST settings/tokens/revoke", { token: "hf_read" }),
  ofOrganization("revokeOrganizationTokenById", `POST settings/tokens/${tokenId}/revoke`),
  ofOrganization("exportAuditLog", "GET audit-log/export"),
  ofOrganization("listResourceGroups", "GET resource-groups"),
  ofOrganization("createResourceGroup", "POST resource-groups", { name: "Speech" }),
  ofOrganization("getNetworkSecurity", "GET settings/network-security"),
  ofOrganization("updateNetworkSecurity", "PATCH settings/network-security", { enforceAuth: true }),
  ofOrganization("getOrganizationAvatar", "GET avatar"),
  ofOrganization("listOrganizationMembers", "GET members"),
  ofOrganization("setMemberRole", "PUT members/local-user/role", { role: "admin" }),
  ofOrganization("getScimConfig", "GET scim/v2/ServiceProviderConfig"),
];

function sample(operationId: string, line: (name: string) => string, body?: object): SampleRequest {
  return { operationId, line, ...(body && { body }), writes: !line("").startsWith("GET ") };
}

function ofOrganization(operationId: string, line: string, body?: object): SampleRequest {
  const [method = "", path = ""] = line.split(" ");
  return sample(operationId, (name) => `${method} /api/organizations/${name}/${path}`, body);
}

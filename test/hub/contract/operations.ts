import type { Fields } from "./fact.ts";
import { repoTypes, stages } from "./values.ts";

/** The facts of an operation. Every operation requires a bearer token, and succeeds with 200. */
export interface OperationFacts {
  operationId: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  tag: string;
  /** The possible errors, in addition to 401, and to 413 and 415 of a body. */
  errors: readonly number[];
  /** Whether the Hub added the operation after April 2026, or removed it since. */
  change?: "added" | "removed";
  /** Enums in the path. */
  params?: Fields;
  /** The query parameters. All are optional. */
  query?: Fields;
  /** The header that the operation reads. */
  reads?: string;
  /** The body of the request. A name with `?` is an optional body. */
  request?: string;
  /** The body of the response: a name, a list of a name, or fields. Missing if it is undocumented. */
  response?: string | Readonly<Record<string, string>>;
  /** The header of the response. */
  header?: string;
  /** Whether the operation can redirect with 302. */
  redirects?: boolean;
  /** The media type of the response. Default `application/json`. */
  mediaType?: string;
}

type Details = Omit<OperationFacts, "operationId" | "method" | "path" | "tag" | "errors" | "change">;
type Row = [id: string, line: string, errors: string, details?: Details];

const search: Fields = {
  p: "integer 0.. = 0",
  readStatus: 'enum all unread = "all"',
  repoType: `enum ${repoTypes}`,
  repoName: "string",
  postAuthor: "string",
  paperId: "string",
  articleId: "string",
  mention: 'enum all participating mentions = "all"',
  lastUpdate: "timestamp",
};
const searchAndApply = { ...search, applyToAll: "boolean = false" };
const stage = `some enum ${stages}`;

const webhooks = "/api/settings/webhooks";
const org = "/api/organizations/{name}";
const jobs = "/api/jobs/{namespace}";
const oneWebhook = { webhook: "Webhook" };

/** The operations by tag, as rows of the ID, the method and the path, the errors, and the other facts. `+` and `-` as in {@link Fields}. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  webhooks: [
    ["listWebhooks", `GET ${webhooks}`, "", { response: "Webhook[]" }],
    ["createWebhook", `POST ${webhooks}`, "400 403", { request: "WebhookRequest", response: oneWebhook }],
    ["getWebhook", `GET ${webhooks}/{webhookId}`, "404", { response: oneWebhook }],
    [
      "updateWebhook",
      `POST ${webhooks}/{webhookId}`,
      "400 403 404",
      { request: "WebhookUpdate", response: oneWebhook },
    ],
    ["deleteWebhook", `DELETE ${webhooks}/{webhookId}`, "403 404", { response: {} }],
    [
      "setWebhookState",
      `POST ${webhooks}/{webhookId}/{action}`,
      "400 403 404",
      { params: { action: "enum enable disable" }, response: oneWebhook },
    ],
    [
      "replayWebhookDelivery",
      `POST ${webhooks}/{webhookId}/replay/{logId}`,
      "403 404",
      { response: { status: "number" } },
    ],
  ],
  notifications: [
    ["listNotifications", "GET /api/notifications", "400", { query: search, response: "NotificationPage" }],
    [
      "deleteNotifications",
      "DELETE /api/notifications",
      "400 403",
      { query: searchAndApply, request: "NotificationDeletion?" },
    ],
    [
      "markNotificationsAsRead",
      "POST /api/notifications/mark-as-read",
      "400 403",
      { query: searchAndApply, request: "NotificationMark" },
    ],
    [
      "updateNotificationSettings",
      "PATCH /api/settings/notifications",
      "400 403",
      { request: "NotificationSettingsChange" },
    ],
    ["updateWatchSettings", "PATCH /api/settings/watch", "400 403", { request: "WatchChange" }],
  ],
  mcp: [["getMcpSettings", "GET /api/settings/mcp", "", { response: "McpSettings" }]],
  papers: [
    [
      "claimPaper",
      "POST /api/settings/papers/claim",
      "400 403 404",
      { request: "PaperClaim", response: "PaperClaimResult" },
    ],
  ],
  orgs: [
    ["-revokeOrganizationToken", `POST ${org}/settings/tokens/revoke`, "400 403 404", { request: "TokenRevocation" }],
    ["+revokeOrganizationTokenById", `POST ${org}/settings/tokens/{tokenId}/revoke`, "403 404"],
    [
      "exportAuditLog",
      `GET ${org}/audit-log/export`,
      "400 403 404",
      { query: { q: "terms" }, response: "AuditLogEvent[]", header: "Content-Disposition" },
    ],
    ["getNetworkSecurity", `GET ${org}/settings/network-security`, "403 404", { response: "NetworkSecurity" }],
    [
      "updateNetworkSecurity",
      `PATCH ${org}/settings/network-security`,
      "400 403 404",
      { request: "NetworkSecurityChange", response: "NetworkSecurity" },
    ],
    [
      "getOrganizationAvatar",
      `GET ${org}/avatar`,
      "400 403 404",
      { query: { redirect: "string" }, reads: "sec-fetch-dest", redirects: true, response: "OrganizationAvatar" },
    ],
    [
      "listOrganizationMembers",
      `GET ${org}/members`,
      "400 403 404",
      {
        query: { search: "string", email: "email", cursor: "string", limit: "integer 10..10000 = 500" },
        ...{ response: "OrganizationMember[]", header: "Link" },
      },
    ],
    ["setMemberRole", `PUT ${org}/members/{username}/role`, "400 403 404", { request: "MemberRoleChange" }],
  ],
  "resource-groups": [
    ["listResourceGroups", `GET ${org}/resource-groups`, "403 404", { response: "ResourceGroup[]" }],
    [
      "createResourceGroup",
      `POST ${org}/resource-groups`,
      "400 403 404",
      { request: "ResourceGroupRequest", response: "ResourceGroup" },
    ],
  ],
  scim: [
    ["getScimConfig", `GET ${org}/scim/v2/ServiceProviderConfig`, "403 404", { response: "ScimServiceProviderConfig" }],
  ],
  auth: [["+whoami", "GET /api/whoami-v2", "", { response: "Whoami" }]],
  jobs: [
    ["+listJobHardware", "GET /api/jobs/hardware", "", { response: "JobHardware[]" }],
    ["+startJob", `POST ${jobs}`, "400 403 404", { request: "WebhookJobRequest", response: "Job" }],
    [
      "+listJobs",
      `GET ${jobs}`,
      "400 403 404",
      { query: { stage, label: "some label", cursor: "string ..2048" }, response: "Job[]", header: "Link" },
    ],
    ["+countJobs", `GET ${jobs}/count`, "400 403 404", { query: { stage }, response: { count: "number" } }],
    ["+getJob", `GET ${jobs}/{jobId}`, "403 404", { response: "Job" }],
    [
      "+streamJobLogs",
      `GET ${jobs}/{jobId}/logs`,
      "400 403 404",
      { query: { tail: "integer 0.." }, mediaType: "text/event-stream" },
    ],
    ["+streamJobEvents", `GET ${jobs}/{jobId}/events`, "403 404", { mediaType: "text/event-stream" }],
    ["+cancelJob", `POST ${jobs}/{jobId}/cancel`, "403 404", { response: "Job" }],
    ["+setJobLabels", `PUT ${jobs}/{jobId}/labels`, "400 403 404", { request: "JobLabels", response: "Job" }],
  ],
};

/** The operations that the client and the local Hub have in common with the Hub. */
export const operations: readonly OperationFacts[] = Object.entries(rows).flatMap(([tag, ofTag]) =>
  ofTag.map(([id, line, errors, details]) => {
    const [method, path = ""] = line.split(" ");
    return {
      operationId: id.replace(/^[+-]/, ""),
      method: method as OperationFacts["method"],
      path,
      tag,
      errors: errors === "" ? [] : errors.split(" ").map(Number),
      ...(id.startsWith("+") && { change: "added" as const }),
      ...(id.startsWith("-") && { change: "removed" as const }),
      ...details,
    };
  }),
);

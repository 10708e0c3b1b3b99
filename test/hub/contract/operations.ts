import { repoTypes, stages } from "./bodies.ts";
import type { Fields } from "./facts.ts";

/** The facts of an operation. Every operation requires a bearer token, and succeeds with 200. */
export interface OperationFacts {
  operationId: string;
  /** Such as `GET`. */
  method: string;
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

type Body = OperationFacts["response"];
type Details = Pick<OperationFacts, "params" | "query" | "reads" | "header" | "redirects" | "mediaType">;
/** The ID, the method and the path, the errors, the bodies of the request and the response, and the other facts. */
type Row = readonly [id: string, line: string, errors: string, request?: string, response?: Body, details?: Details];

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
const apply = { query: { ...search, applyToAll: "boolean = false" } };
const stage = `some enum ${stages}`;

const webhooks = "/api/settings/webhooks";
const org = "/api/organizations/{name}";
const security = `${org}/settings/network-security`;
const jobs = "/api/jobs/{namespace}";
const notifications = "/api/notifications";
const oneWebhook = { webhook: "Webhook" };

const stream = { mediaType: "text/event-stream" };
const memberQuery = { search: "string", email: "email", cursor: "string", limit: "integer 10..10000 = 500" };
const memberDetails = { query: memberQuery, header: "Link" };
const jobDetails = { query: { stage, label: "some label", cursor: "string ..2048" }, header: "Link" };
const auditDetails = { query: { q: "terms" }, header: "Content-Disposition" };
const avatarDetails = { query: { redirect: "string" }, reads: "sec-fetch-dest", redirects: true };
const state = { params: { action: "enum enable disable" } };

/** The operations by tag. `+` and `-` as in {@link Fields}. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  webhooks: [
    ["listWebhooks", `GET ${webhooks}`, "", "", "Webhook[]"],
    ["createWebhook", `POST ${webhooks}`, "400 403", "WebhookRequest", oneWebhook],
    ["getWebhook", `GET ${webhooks}/{webhookId}`, "404", "", oneWebhook],
    ["updateWebhook", `POST ${webhooks}/{webhookId}`, "400 403 404", "WebhookUpdate", oneWebhook],
    ["deleteWebhook", `DELETE ${webhooks}/{webhookId}`, "403 404", "", {}],
    ["setWebhookState", `POST ${webhooks}/{webhookId}/{action}`, "400 403 404", "", oneWebhook, state],
    ["replayWebhookDelivery", `POST ${webhooks}/{webhookId}/replay/{logId}`, "403 404", "", { status: "number" }],
  ],
  notifications: [
    ["listNotifications", `GET ${notifications}`, "400", "", "NotificationPage", { query: search }],
    ["deleteNotifications", `DELETE ${notifications}`, "400 403", "NotificationDeletion?", undefined, apply],
    ["markNotificationsAsRead", `POST ${notifications}/mark-as-read`, "400 403", "NotificationMark", undefined, apply],
    ["updateNotificationSettings", "PATCH /api/settings/notifications", "400 403", "NotificationSettingsChange"],
    ["updateWatchSettings", "PATCH /api/settings/watch", "400 403", "WatchChange"],
  ],
  mcp: [["getMcpSettings", "GET /api/settings/mcp", "", "", "McpSettings"]],
  papers: [["claimPaper", "POST /api/settings/papers/claim", "400 403 404", "PaperClaim", "PaperClaimResult"]],
  orgs: [
    ["-revokeOrganizationToken", `POST ${org}/settings/tokens/revoke`, "400 403 404", "TokenRevocation"],
    ["+revokeOrganizationTokenById", `POST ${org}/settings/tokens/{tokenId}/revoke`, "403 404"],
    ["exportAuditLog", `GET ${org}/audit-log/export`, "400 403 404", "", "AuditLogEvent[]", auditDetails],
    ["getNetworkSecurity", `GET ${security}`, "403 404", "", "NetworkSecurity"],
    ["updateNetworkSecurity", `PATCH ${security}`, "400 403 404", "NetworkSecurityChange", "NetworkSecurity"],
    ["getOrganizationAvatar", `GET ${org}/avatar`, "400 403 404", "", "OrganizationAvatar", avatarDetails],
    ["listOrganizationMembers", `GET ${org}/members`, "400 403 404", "", "OrganizationMember[]", memberDetails],
    ["setMemberRole", `PUT ${org}/members/{username}/role`, "400 403 404", "MemberRoleChange"],
  ],
  "resource-groups": [
    ["listResourceGroups", `GET ${org}/resource-groups`, "403 404", "", "ResourceGroup[]"],
    ["createResourceGroup", `POST ${org}/resource-groups`, "400 403 404", "ResourceGroupRequest", "ResourceGroup"],
  ],
  scim: [["getScimConfig", `GET ${org}/scim/v2/ServiceProviderConfig`, "403 404", "", "ScimServiceProviderConfig"]],
  auth: [["+whoami", "GET /api/whoami-v2", "", "", "Whoami"]],
  jobs: [
    ["+listJobHardware", "GET /api/jobs/hardware", "", "", "JobHardware[]"],
    ["+startJob", `POST ${jobs}`, "400 403 404", "JobRequest", "Job"],
    ["+listJobs", `GET ${jobs}`, "400 403 404", "", "Job[]", jobDetails],
    ["+countJobs", `GET ${jobs}/count`, "400 403 404", "", { count: "number" }, { query: { stage } }],
    ["+getJob", `GET ${jobs}/{jobId}`, "403 404", "", "Job"],
    [
      "+streamJobLogs",
      `GET ${jobs}/{jobId}/logs`,
      "400 403 404",
      "",
      undefined,
      { query: { tail: "integer 0.." }, ...stream },
    ],
    ["+streamJobEvents", `GET ${jobs}/{jobId}/events`, "403 404", "", undefined, stream],
    ["+cancelJob", `POST ${jobs}/{jobId}/cancel`, "403 404", "", "Job"],
    ["+setJobLabels", `PUT ${jobs}/{jobId}/labels`, "400 403 404", "JobLabels", "Job"],
  ],
};

/** The operations that the client and the local Hub have in common with the Hub. */
export const operations: readonly OperationFacts[] = Object.entries(rows).flatMap(([tag, ofTag]) =>
  ofTag.map(([id, line, errors, request = "", response, details]) => {
    const [method = "", path = ""] = line.split(" ");
    return {
      operationId: id.replace(/^[+-]/, ""),
      method,
      path,
      tag,
      errors: errors === "" ? [] : errors.split(" ").map(Number),
      ...(id.startsWith("+") && { change: "added" as const }),
      ...(id.startsWith("-") && { change: "removed" as const }),
      ...(request !== "" && { request }),
      ...(response !== undefined && { response }),
      ...details,
    };
  }),
);

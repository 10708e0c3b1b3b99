/** The expected description of an operation in the document, written from hub-api.md. */
export interface DocumentedOperation {
  method: "get" | "post" | "put" | "patch" | "delete";
  path: string;
  tag: string;
  /** Each with its place and name. Path parameters are required, others are not. */
  parameters: { in: "path" | "query" | "header"; name: string; schema: object }[];
  body?: { component: string; required: boolean };
  /** The schema of the response 200; empty if hub-api.md does not show it. */
  answer: object;
  /** The headers of the response 200. */
  headers?: string[];
  /** Whether the response can be a 302 with a `Location`. */
  redirects?: boolean;
  refusals: number[];
}

const text = { type: "string" };
const inPath = (name: string, schema: object = text) => ({ in: "path" as const, name, schema });
const inQuery = (name: string, schema: object = text) => ({ in: "query" as const, name, schema });
const component = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const list = (name: string) => ({ type: "array", items: component(name) });
const undocumentedBody = {};

function exactly(properties: Record<string, object>): object {
  const required = Object.keys(properties);
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

const webhooks = "/api/settings/webhooks";
const oneWebhook = exactly({ webhook: component("Webhook") });

const webhookOperations: Omit<DocumentedOperation, "tag">[] = [
  { method: "get", path: webhooks, parameters: [], answer: list("Webhook"), refusals: [401] },
  {
    method: "post",
    path: webhooks,
    parameters: [],
    body: { component: "WebhookRequest", required: true },
    answer: oneWebhook,
    refusals: [400, 401, 403, 413, 415],
  },
  {
    method: "get",
    path: `${webhooks}/{webhookId}`,
    parameters: [inPath("webhookId")],
    answer: oneWebhook,
    refusals: [401, 404],
  },
  {
    method: "post",
    path: `${webhooks}/{webhookId}`,
    parameters: [inPath("webhookId")],
    body: { component: "WebhookUpdate", required: true },
    answer: oneWebhook,
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "delete",
    path: `${webhooks}/{webhookId}`,
    parameters: [inPath("webhookId")],
    answer: exactly({}),
    refusals: [401, 403, 404],
  },
  {
    method: "post",
    path: `${webhooks}/{webhookId}/{action}`,
    parameters: [inPath("webhookId"), inPath("action", { type: "string", enum: ["enable", "disable"] })],
    answer: oneWebhook,
    refusals: [400, 401, 403, 404],
  },
  {
    method: "post",
    path: `${webhooks}/{webhookId}/replay/{logId}`,
    parameters: [inPath("webhookId"), inPath("logId")],
    answer: exactly({ status: { type: "number" } }),
    refusals: [401, 403, 404],
  },
];

const search = [
  inQuery("p", { type: "integer", minimum: 0, maximum: 9007199254740991, default: 0 }),
  inQuery("readStatus", { type: "string", enum: ["all", "unread"], default: "all" }),
  inQuery("repoType", { type: "string", enum: ["model", "dataset", "space", "bucket", "kernel"] }),
  inQuery("repoName"),
  inQuery("postAuthor"),
  inQuery("paperId"),
  inQuery("articleId"),
  inQuery("mention", { type: "string", enum: ["all", "participating", "mentions"], default: "all" }),
  inQuery("lastUpdate", { type: "string", format: "date-time", pattern: "^\\S+Z$" }),
];
const applyToAll = inQuery("applyToAll", { type: "boolean", default: false });

const userOperations: DocumentedOperation[] = [
  {
    method: "get",
    path: "/api/notifications",
    tag: "notifications",
    parameters: search,
    answer: component("NotificationPage"),
    refusals: [400, 401],
  },
  {
    method: "delete",
    path: "/api/notifications",
    tag: "notifications",
    parameters: [...search, applyToAll],
    body: { component: "NotificationDeletion", required: false },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 413, 415],
  },
  {
    method: "post",
    path: "/api/notifications/mark-as-read",
    tag: "notifications",
    parameters: [...search, applyToAll],
    body: { component: "NotificationMark", required: true },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 413, 415],
  },
  {
    method: "get",
    path: "/api/settings/mcp",
    tag: "mcp",
    parameters: [],
    answer: component("McpSettings"),
    refusals: [401],
  },
  {
    method: "patch",
    path: "/api/settings/notifications",
    tag: "notifications",
    parameters: [],
    body: { component: "NotificationSettingsChange", required: true },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 413, 415],
  },
  {
    method: "patch",
    path: "/api/settings/watch",
    tag: "notifications",
    parameters: [],
    body: { component: "WatchChange", required: true },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 413, 415],
  },
  {
    method: "post",
    path: "/api/settings/papers/claim",
    tag: "papers",
    parameters: [],
    body: { component: "PaperClaim", required: true },
    answer: component("PaperClaimResult"),
    refusals: [400, 401, 403, 404, 413, 415],
  },
];

const organization = "/api/organizations/{name}";

const organizationOperations: DocumentedOperation[] = [
  {
    method: "post",
    path: `${organization}/settings/tokens/revoke`,
    tag: "orgs",
    parameters: [inPath("name")],
    body: { component: "TokenRevocation", required: true },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "get",
    path: `${organization}/audit-log/export`,
    tag: "orgs",
    parameters: [inPath("name"), inQuery("q")],
    answer: list("AuditLogEvent"),
    headers: ["Content-Disposition"],
    refusals: [400, 401, 403, 404],
  },
  {
    method: "get",
    path: `${organization}/resource-groups`,
    tag: "resource-groups",
    parameters: [inPath("name")],
    answer: list("ResourceGroup"),
    refusals: [401, 403, 404],
  },
  {
    method: "post",
    path: `${organization}/resource-groups`,
    tag: "resource-groups",
    parameters: [inPath("name")],
    body: { component: "ResourceGroupRequest", required: true },
    answer: component("ResourceGroup"),
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "get",
    path: `${organization}/settings/network-security`,
    tag: "orgs",
    parameters: [inPath("name")],
    answer: component("NetworkSecurity"),
    refusals: [401, 403, 404],
  },
  {
    method: "patch",
    path: `${organization}/settings/network-security`,
    tag: "orgs",
    parameters: [inPath("name")],
    body: { component: "NetworkSecurityChange", required: true },
    answer: component("NetworkSecurity"),
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "get",
    path: `${organization}/avatar`,
    tag: "orgs",
    parameters: [
      inPath("name"),
      inQuery("redirect", { type: "string" }),
      {
        in: "header",
        name: "sec-fetch-dest",
        schema: { type: "string" },
      },
    ],
    answer: component("OrganizationAvatar"),
    redirects: true,
    refusals: [400, 401, 403, 404],
  },
  {
    method: "get",
    path: `${organization}/members`,
    tag: "orgs",
    parameters: [
      inPath("name"),
      inQuery("search"),
      inQuery("email", { type: "string", format: "email" }),
      inQuery("cursor"),
      inQuery("limit", { type: "integer", minimum: 10, maximum: 10_000, default: 500 }),
    ],
    answer: list("OrganizationMember"),
    headers: ["Link"],
    refusals: [400, 401, 403, 404],
  },
  {
    method: "put",
    path: `${organization}/members/{username}/role`,
    tag: "orgs",
    parameters: [inPath("name"), inPath("username")],
    body: { component: "MemberRoleChange", required: true },
    answer: undocumentedBody,
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "get",
    path: `${organization}/scim/v2/ServiceProviderConfig`,
    tag: "scim",
    parameters: [inPath("name")],
    answer: component("ScimServiceProviderConfig"),
    refusals: [401, 403, 404],
  },
];

/** Operations that the Hub has published since hub-api.md was written. */
const jobs = "/api/jobs/{namespace}";
const inJob = [inPath("namespace"), inPath("jobId")];
const stage = { type: "string", enum: ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"] };
const oneOrMore = (schema: object) => ({ anyOf: [schema, { type: "array", items: schema }] });

const laterOperations: DocumentedOperation[] = [
  {
    method: "post",
    path: `${organization}/settings/tokens/{tokenId}/revoke`,
    tag: "orgs",
    parameters: [inPath("name"), inPath("tokenId")],
    answer: undocumentedBody,
    refusals: [401, 403, 404],
  },
  { method: "get", path: "/api/whoami-v2", tag: "auth", parameters: [], answer: component("Whoami"), refusals: [401] },
  {
    method: "get",
    path: "/api/jobs/hardware",
    tag: "jobs",
    parameters: [],
    answer: list("JobHardware"),
    refusals: [401],
  },
  {
    method: "post",
    path: jobs,
    tag: "jobs",
    parameters: [inPath("namespace")],
    body: { component: "WebhookJobRequest", required: true },
    answer: component("Job"),
    refusals: [400, 401, 403, 404, 413, 415],
  },
  {
    method: "get",
    path: jobs,
    tag: "jobs",
    parameters: [
      inPath("namespace"),
      inQuery("stage", oneOrMore(stage)),
      inQuery("label", oneOrMore({ type: "string", pattern: "^[a-zA-Z0-9._-]+=[a-zA-Z0-9._-]*$" })),
      inQuery("cursor", { type: "string", maxLength: 2048 }),
    ],
    answer: list("Job"),
    headers: ["Link"],
    refusals: [400, 401, 403, 404],
  },
  {
    method: "get",
    path: `${jobs}/count`,
    tag: "jobs",
    parameters: [inPath("namespace"), inQuery("stage", oneOrMore(stage))],
    answer: exactly({ count: { type: "number" } }),
    refusals: [400, 401, 403, 404],
  },
  {
    method: "get",
    path: `${jobs}/{jobId}`,
    tag: "jobs",
    parameters: inJob,
    answer: component("Job"),
    refusals: [401, 403, 404],
  },
  {
    method: "get",
    path: `${jobs}/{jobId}/logs`,
    tag: "jobs",
    parameters: [...inJob, inQuery("tail", { type: "integer", minimum: 0, maximum: 9007199254740991 })],
    answer: undocumentedBody,
    refusals: [400, 401, 403, 404],
  },
  {
    method: "get",
    path: `${jobs}/{jobId}/events`,
    tag: "jobs",
    parameters: inJob,
    answer: undocumentedBody,
    refusals: [401, 403, 404],
  },
  {
    method: "post",
    path: `${jobs}/{jobId}/cancel`,
    tag: "jobs",
    parameters: inJob,
    answer: component("Job"),
    refusals: [401, 403, 404],
  },
  {
    method: "put",
    path: `${jobs}/{jobId}/labels`,
    tag: "jobs",
    parameters: inJob,
    body: { component: "JobLabels", required: true },
    answer: component("Job"),
    refusals: [400, 401, 403, 404, 413, 415],
  },
];

/** The 24 operations of the specification, and the later ones. */
export const documentedOperations: DocumentedOperation[] = [
  ...webhookOperations.map((operation) => ({ ...operation, tag: "webhooks" })),
  ...userOperations,
  ...organizationOperations,
  ...laterOperations,
];

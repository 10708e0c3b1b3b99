import { zodToOpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { OpenAPIHono } from "@hono/zod-openapi";
import { whoami } from "../../hub/account.ts";
import { job, jobHardware, webhookJob, webhookJobRequest } from "../../hub/jobs.ts";
import { notification, notificationDeletion, notificationMark, notificationPage } from "../../hub/notifications.ts";
import { auditLogEvent } from "../../hub/organizations/audit-log.ts";
import { memberRoleChange, organizationMember } from "../../hub/organizations/members.ts";
import { networkSecurity, networkSecurityChange } from "../../hub/organizations/network-security.ts";
import { organizationAvatar, scimConfig, tokenRevocation } from "../../hub/organizations/organizations.ts";
import { resourceGroup, resourceGroupRequest } from "../../hub/organizations/resource-groups.ts";
import { paperClaim, paperClaimResult } from "../../hub/papers.ts";
import { repoId } from "../../hub/schemas.ts";
import { mcpSettings, notificationSettingsChange, watchChange, watchItem } from "../../hub/settings.ts";
import { webhook, webhookRequest, webhookUpdate } from "../../hub/webhooks/schemas.ts";
import { accountRoutes } from "./account.ts";
import { jobRoutes } from "./jobs.ts";
import { notificationRoutes } from "./notifications.ts";
import { auditLogRoutes } from "./organizations/audit-log.ts";
import { avatarRoutes } from "./organizations/avatar.ts";
import { memberRoutes } from "./organizations/members.ts";
import { networkSecurityRoutes } from "./organizations/network-security.ts";
import { resourceGroupRoutes } from "./organizations/resource-groups.ts";
import { scimRoutes } from "./organizations/scim.ts";
import { tokenRoutes } from "./organizations/tokens.ts";
import { paperRoutes } from "./papers.ts";
import { settingsRoutes } from "./settings.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every operation of the Hub's API that is known here. */
export const operations = [
  webhookRoutes,
  notificationRoutes,
  settingsRoutes,
  paperRoutes,
  tokenRoutes,
  auditLogRoutes,
  resourceGroupRoutes,
  networkSecurityRoutes,
  avatarRoutes,
  memberRoutes,
  scimRoutes,
  accountRoutes,
  jobRoutes,
].flatMap((routes) => Object.values(routes));

/** The schemas that the document lists under `components`, by name. */
const components = {
  Webhook: webhook,
  WebhookRequest: webhookRequest,
  WebhookUpdate: webhookUpdate,
  WebhookJobRequest: webhookJobRequest,
  WebhookJob: webhookJob,
  Job: job,
  JobHardware: jobHardware,
  Notification: notification,
  NotificationPage: notificationPage,
  NotificationDeletion: notificationDeletion,
  NotificationMark: notificationMark,
  PaperClaim: paperClaim,
  PaperClaimResult: paperClaimResult,
  NotificationSettingsChange: notificationSettingsChange,
  WatchItem: watchItem,
  WatchChange: watchChange,
  McpSettings: mcpSettings,
  Whoami: whoami,
  NetworkSecurity: networkSecurity,
  NetworkSecurityChange: networkSecurityChange,
  OrganizationAvatar: organizationAvatar,
  ScimServiceProviderConfig: scimConfig,
  TokenRevocation: tokenRevocation,
  OrganizationMember: organizationMember,
  MemberRoleChange: memberRoleChange,
  ResourceGroup: resourceGroup,
  ResourceGroupRequest: resourceGroupRequest,
  AuditLogEvent: auditLogEvent,
  RepoId: repoId,
};

for (const [refId, schema] of Object.entries(components)) zodToOpenAPIRegistry.add(schema, { _internal: { refId } });

/** The areas of the API, by the names of hub-api.md; each operation says to which of them it belongs. */
const tags = [
  { name: "webhooks", description: "What calls a URL or runs a job when a repository changes." },
  { name: "notifications", description: "What a user is told of, and wants to be told of." },
  { name: "mcp", description: "The tools of the Hub's MCP server." },
  { name: "papers", description: "Preprints, and who wrote them." },
  { name: "orgs", description: "Organizations: members, tokens, network security and audit log." },
  { name: "resource-groups", description: "Some repositories of an organization, and who may do what with them." },
  { name: "auth", description: "Which user a token belongs to." },
  { name: "jobs", description: "Jobs on the Hub's infrastructure." },
  { name: "scim", description: "Users that an identity provider provisions." },
];

/** What {@link hubDocument} is made from. */
export interface HubDocumentOptions {
  /** The address that the paths are appended to, as in `http://localhost:5050`. */
  serverUrl: string;
}

/** An OpenAPI 3.1 document. */
export type HubDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/**
 * The OpenAPI 3.1 document of the contract: every operation, its parameters, bodies, answers and errorResponses. It is
 * made from the schemas that requests are checked with, anew at each call.
 *
 * @example
 * ```ts
 * app.get("/openapi.json", (context) => context.json(hubDocument({ serverUrl: "http://localhost:5050" })));
 * ```
 */
export function hubDocument({ serverUrl }: HubDocumentOptions): HubDocument {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono();
  openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "An access token; it begins with `hf_`.",
  });
  for (const operation of operations) openAPIRegistry.registerPath(operation);

  const document = getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Hub API",
      version: "0.0.1",
      description: "The part of the Hub's REST API that the local Hub answers.",
    },
    servers: [{ url: serverUrl }],
    tags,
  });
  // The generator leaves both behind, empty.
  delete document.webhooks;
  delete document.components?.parameters;
  return document;
}

import { given, list, type Schema, string } from "./json-schema.ts";
import * as organization from "./organization-schemas.ts";
import * as user from "./user-schemas.ts";
import * as webhooks from "./webhook-schemas.ts";

/** An operation that the Hub published on 2026-08-17. */
export interface PublishedOperation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, Schema>;
  request?: Schema;
  /** `undefined` where the document shows none. */
  answer?: Schema;
}

const ours = "/api/settings/webhooks";
const org = "/api/organizations/{name}";
const applied = { ...user.notificationSearch, applyToAll: user.applyToAll };

/** The 24 operations that the client has methods for, in the shape of that day, and the two that came with it. */
export const publishedOperations: readonly PublishedOperation[] = [
  { method: "GET", path: ours, answer: list(webhooks.webhook) },
  { method: "POST", path: ours, request: webhooks.webhookRequest, answer: webhooks.oneWebhook },
  { method: "GET", path: `${ours}/{webhookId}`, answer: webhooks.oneWebhook },
  { method: "POST", path: `${ours}/{webhookId}`, request: webhooks.webhookRequest, answer: webhooks.oneWebhook },
  { method: "DELETE", path: `${ours}/{webhookId}`, answer: given({}) },
  { method: "POST", path: `${ours}/{webhookId}/{action}`, answer: webhooks.oneWebhook },
  { method: "POST", path: `${ours}/{webhookId}/replay/{logId}`, answer: webhooks.replayed },
  { method: "GET", path: "/api/notifications", query: user.notificationSearch, answer: user.notificationPage },
  { method: "DELETE", path: "/api/notifications", query: applied, request: user.notificationDeletion },
  { method: "POST", path: "/api/notifications/mark-as-read", query: applied, request: user.notificationMark },
  { method: "GET", path: "/api/settings/mcp", answer: user.mcpSettings },
  { method: "PATCH", path: "/api/settings/notifications", request: user.notificationSettings },
  { method: "PATCH", path: "/api/settings/watch", request: user.watchSettings },
  { method: "POST", path: "/api/settings/papers/claim", request: user.paperClaim, answer: user.paperClaimResult },
  { method: "POST", path: `${org}/settings/tokens/{tokenId}/revoke` },
  { method: "GET", path: `${org}/audit-log/export`, query: { q: string }, answer: organization.auditLog },
  { method: "GET", path: `${org}/resource-groups`, answer: list(organization.resourceGroup) },
  {
    method: "POST",
    path: `${org}/resource-groups`,
    request: organization.resourceGroupRequest,
    answer: organization.resourceGroup,
  },
  { method: "GET", path: `${org}/settings/network-security`, answer: organization.networkSecurity },
  {
    method: "PATCH",
    path: `${org}/settings/network-security`,
    request: organization.networkSecurityChange,
    answer: organization.networkSecurity,
  },
  { method: "GET", path: `${org}/avatar`, query: { redirect: {} }, answer: organization.avatar },
  { method: "GET", path: `${org}/members`, query: organization.memberSearch, answer: organization.members },
  { method: "PUT", path: `${org}/members/{username}/role`, request: organization.memberRole },
  { method: "GET", path: `${org}/scim/v2/ServiceProviderConfig`, answer: organization.scimConfig },
  { method: "GET", path: "/api/whoami-v2", answer: user.whoami },
  { method: "GET", path: "/api/jobs/hardware", answer: user.jobHardware },
];

/** The same as a document, to be compared with the contract. */
export function publishedDocument(): { paths: Record<string, Record<string, unknown>> } {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path, query = {}, request, answer } of publishedOperations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
      name,
      in: "path",
      required: true,
      schema: name === "action" ? { type: "string", enum: ["enable", "disable"] } : string,
    }));
    const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
    const item = paths[path] ?? {};
    item[method.toLowerCase()] = {
      parameters: [...inPath, ...inQuery],
      ...(request && { requestBody: { content: { "application/json": { schema: request } } } }),
      responses: answer ? { 200: { content: { "application/json": { schema: answer } } } } : {},
    };
    paths[path] = item;
  }
  return { paths };
}

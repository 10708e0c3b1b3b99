import {
  anyOf,
  boolean,
  constant,
  given,
  list,
  map,
  number,
  objectId,
  objectIdInEitherCase,
  oneOf,
  type Schema,
  string,
  taken,
  timestamp,
  uri,
} from "./json-schema.ts";
import * as organization from "./organization-schemas.ts";
import * as user from "./user-schemas.ts";

/* Webhooks, written by hand from the document that the Hub published on 2026-08-17, independent of `src`. */

const flavor = oneOf(
  ..."cpu-basic cpu-upgrade cpu-performance cpu-xl sprx8 zero-a10g t4-small t4-medium l4x1 l4x4 l40sx1 l40sx4 l40sx8".split(
    " ",
  ),
  ..."a10g-small a10g-large a10g-largex2 a10g-largex4 a100-large a100x4 a100x8 h200 h200x2 h200x4 h200x8".split(" "),
  ..."rtx-pro-6000 rtx-pro-6000x2 rtx-pro-6000x4 rtx-pro-6000x8 inf2x6".split(" "),
);
const watchedType = oneOf("dataset", "model", "space", "bucket", "kernel", "user", "org");
const domain = oneOf("repo", "discussion");
const environment: Schema = { ...map("^[a-zA-Z][_a-zA-Z0-9]+$"), default: {} };
const timeoutSeconds: Schema = {
  default: null,
  anyOf: [{ type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 }, { type: "null" }],
};
const label: Schema = { type: "string", maxLength: 100, pattern: "^[a-zA-Z0-9._-]*$" };
const labels = map("^[a-zA-Z0-9._-]+$", { value: label, maxLength: 100 });
const command = list({ type: "string", minLength: 1 }, { minItems: 1 });
const ports = list({ type: "integer", minimum: 1, maximum: 65535 }, { maxItems: 20 });

const job = taken({
  "spaceId?": string,
  "dockerImage?": string,
  "arguments?": list(string),
  "command?": command,
  "environment?": environment,
  "secrets?": map("^[a-zA-Z][_a-zA-Z0-9]*$"),
  flavor,
  "arch?": oneOf("amd64", "arm64"),
  "timeoutSeconds?": timeoutSeconds,
  "attempts?": { default: 1, type: "integer", minimum: 1, maximum: 9007199254740991 },
  "labels?": labels,
  "volumes?": list(
    taken({
      type: oneOf("bucket", "model", "dataset", "space"),
      source: string,
      mountPath: { type: "string", pattern: "^\\/.*" },
      "revision?": string,
      "readOnly?": boolean,
      "path?": string,
    }),
    { minItems: 1 },
  ),
  "expose?": taken({ ports, "portsPublic?": ports }),
  "ssh?": taken({ "enabled?": { default: false, type: "boolean" } }),
  "resourceGroupId?": objectIdInEitherCase,
});

/** The body of create and update. */
const webhookRequest = taken({
  watched: list(taken({ type: watchedType, name: string }), { minItems: 1 }),
  "url?": uri,
  "job?": job,
  "jobSourceId?": string,
  domains: list(domain, { minItems: 1 }),
  "secret?": { type: "string", pattern: "^[\\x20-\\x7F]*$" },
});

/** A webhook in a response. */
const webhook = given({
  id: objectId,
  "url?": uri,
  "job?": given({
    "dockerImage?": string,
    "spaceId?": string,
    environment,
    "arguments?": list(string),
    "command?": command,
    flavor,
    timeoutSeconds,
    "labels?": labels,
    "secrets?": list(string),
  }),
  "jobSourceId?": string,
  disabled: anyOf(boolean, constant("suspended-after-failure")),
  watched: list(given({ name: string, type: watchedType, "avatarUrl?": string })),
  hasSecret: boolean,
  domains: list(domain),
  "lastTriggerAt?": timestamp,
});

/** The response with one webhook. */
const oneWebhook = given({ webhook });

/** The response to a replay. */
const replayed = given({ status: number });

const stage = oneOf("COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING");
const jobLabel: Schema = { type: "string", pattern: "^[a-zA-Z0-9._-]+=[a-zA-Z0-9._-]*$" };
const stages = anyOf(stage, list(stage));
const account = { id: objectId, name: string, type: oneOf("user", "org"), avatarUrl: string };

/** A started job in a response. */
const startedJob = given({
  type: constant("job"),
  id: string,
  createdAt: timestamp,
  "startedAt?": timestamp,
  "finishedAt?": timestamp,
  "durations?": given({ "schedulingSecs?": number, "runningSecs?": number, "totalSecs?": number }),
  owner: given(account),
  createdBy: given({ id: string, name: string }),
  "initiator?": anyOf(
    given(account),
    ...["scheduled-job", "duplicated-job", "webhook"].map((type) => given({ type: constant(type), id: string })),
  ),
  "spaceId?": string,
  "dockerImage?": string,
  "command?": list(string),
  "arguments?": list(string),
  environment: { type: "object", propertyNames: string, additionalProperties: string },
  "secrets?": list(string),
  flavor,
  "arch?": oneOf("amd64", "arm64"),
  "timeout?": number,
  "retry?": number,
  "labels?": { type: "object", propertyNames: string, additionalProperties: string },
  "volumes?": list(
    given({
      type: string,
      source: string,
      mountPath: string,
      "revision?": string,
      "readOnly?": boolean,
      "path?": string,
    }),
  ),
  "expose?": given({ ports, "portsPublic?": ports }),
  "resourceGroupId?": string,
  "resourceGroup?": given({ id: objectId, name: string, "numUsers?": number }),
  status: given({
    stage,
    message: anyOf(string, { type: "null" }),
    "cancelReason?": anyOf(oneOf("NO_CREDITS", "NO_SUBSCRIPTION", "RESOURCE_GROUP_LIMIT"), string),
    "failureCount?": number,
    "exposeUrls?": list(string),
    "sshUrl?": string,
  }),
  "hfToken?": given({
    ownerName: string,
    "orgName?": string,
    "tokenRole?": oneOf("read", "write", "fineGrained"),
    "tokenId?": objectId,
    "settingsUrl?": string,
  }),
});

const inJobs = "/api/jobs/{namespace}";
const tail: Schema = { type: "integer", minimum: 0, maximum: 9007199254740991 };

/** An operation that the Hub published on 2026-08-17. */
export interface PublishedOperation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, Schema>;
  request?: Schema;
  /** `undefined` if the document has no schema. */
  answer?: Schema;
}

const ours = "/api/settings/webhooks";
const org = "/api/organizations/{name}";
const applied = { ...user.notificationSearch, applyToAll: user.applyToAll };

/** The 24 operations that the client has methods for, as published that day, and the ten added with them. */
export const publishedOperations: readonly PublishedOperation[] = [
  { method: "GET", path: ours, answer: list(webhook) },
  { method: "POST", path: ours, request: webhookRequest, answer: oneWebhook },
  { method: "GET", path: `${ours}/{webhookId}`, answer: oneWebhook },
  { method: "POST", path: `${ours}/{webhookId}`, request: webhookRequest, answer: oneWebhook },
  { method: "DELETE", path: `${ours}/{webhookId}`, answer: given({}) },
  { method: "POST", path: `${ours}/{webhookId}/{action}`, answer: oneWebhook },
  { method: "POST", path: `${ours}/{webhookId}/replay/{logId}`, answer: replayed },
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
  { method: "POST", path: inJobs, request: job, answer: startedJob },
  {
    method: "GET",
    path: inJobs,
    query: {
      stage: stages,
      label: anyOf(jobLabel, list(jobLabel)),
      cursor: { type: "string", maxLength: 2048 },
    },
    answer: list(startedJob),
  },
  { method: "GET", path: `${inJobs}/count`, query: { stage: stages }, answer: given({ count: number }) },
  { method: "GET", path: `${inJobs}/{jobId}`, answer: startedJob },
  { method: "GET", path: `${inJobs}/{jobId}/logs`, query: { tail } },
  { method: "GET", path: `${inJobs}/{jobId}/events` },
  { method: "POST", path: `${inJobs}/{jobId}/cancel`, answer: startedJob },
  { method: "PUT", path: `${inJobs}/{jobId}/labels`, request: taken({ labels }), answer: startedJob },
];

/** Returns the operations as an OpenAPI document, to compare it with the contract. */
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

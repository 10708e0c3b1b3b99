import type { PublishedOperation } from "./operations.ts";

/* Responses of a Hub of 2026-08-17 that use every field. The published hub checks each by its schema. */

/** The id of every sample. */
export const sampleId = "65b2f0a1c3d4e5f60718293a";
const at = "2026-08-17T09:15:27.123Z";
const participating = [{ _id: sampleId, avatar: "/avatars/ada.svg", user: "ada" }];

const webhook = {
  id: sampleId,
  url: "https://acme-bot.hf.space/webhooks/retrain",
  disabled: false,
  watched: [{ name: "acme/data", type: "dataset", avatarUrl: "https://cdn.example/acme.png" }],
  hasSecret: true,
  domains: ["repo", "discussion"],
  lastTriggerAt: at,
};

const group = {
  id: sampleId,
  name: "vision",
  description: null,
  autoJoin: { enabled: true, role: "read", scope: "read_plus" },
  spendLimits: { total: 5000, jobs: 100 },
  users: [{ type: "user", _id: sampleId, fullname: "Ada", name: "ada", avatarUrl: "/a.svg", role: "admin" }],
  resources: [
    { type: "dataset", name: "acme/data", private: true, addedBy: "ken" },
    { type: "collection", id: sampleId, slug: "acme/first-1", title: "First", private: false },
    { type: "blog", id: sampleId, slug: "acme/news", title: "News", private: true },
    { type: "job", id: "job-1", name: "sweep" },
    { type: "scheduled-job", id: "job-2" },
  ],
};

const networkSecurity = {
  enforceAuth: "pending",
  enforceIpRestriction: true,
  highRateLimits: false,
  ipRanges: ["192.0.2.0/24"],
  blockedContents: [{ resource: "model", scope: "acme/*" }],
  allowedContents: [{ resource: "*", scope: "acme/data" }],
  keepReposMetadataVisible: true,
};

const startedJob = {
  type: "job",
  id: sampleId,
  createdAt: at,
  startedAt: at,
  durations: { schedulingSecs: 2, runningSecs: 3, totalSecs: 5 },
  owner: { type: "user", id: sampleId, name: "ada", avatarUrl: "/a.svg" },
  createdBy: { id: sampleId, name: "ada" },
  initiator: { type: "user", id: sampleId, name: "ada", avatarUrl: "/a.svg" },
  dockerImage: "python:3.13",
  command: ["true"],
  arguments: [],
  environment: {},
  secrets: ["HF_TOKEN"],
  flavor: "cpu-basic",
  labels: { team: "data" },
  status: { stage: "RUNNING", message: null, exposeUrls: ["https://job--8000.hf.jobs"] },
  hfToken: { ownerName: "ada", tokenRole: "write", tokenId: sampleId },
};

const samples: Record<string, unknown> = {
  "GET /api/notifications": {
    notifications: [
      {
        type: "paper",
        updatedAt: at,
        read: false,
        paper: { _id: sampleId, title: "On Hooks" },
        paperDiscussion: { id: "p-1", participating, paperId: sampleId },
      },
      {
        type: "repo",
        updatedAt: at,
        read: true,
        discussionEventId: "e-1",
        repo: { name: "acme/data", type: "dataset" },
        discussion: { num: 3, title: "Typo", status: "merged", id: sampleId, isPullRequest: true, participating },
      },
      {
        type: "post",
        updatedAt: at,
        read: true,
        post: { id: "1", slug: "hello", authorName: "ada", title: "Hello", participating: [] },
      },
      {
        type: "community_blog",
        updatedAt: at,
        read: true,
        blog: { id: "b-1", slug: "a-blog", title: "A blog", canonical: true, participating: [] },
      },
    ],
    count: { view: 4, unread: 1, all: 9 },
    start: 0,
  },
  "GET /api/settings/mcp": {
    builtInTools: ["model_search"],
    spaceTools: [{ _id: "s-1", name: "acme/demo", emoji: "🔥", subdomain: "acme-demo" }],
  },
  "POST /api/settings/papers/claim": { ok: true, claimedPaperId: "2401.12345" },
  "GET /api/organizations/{name}/audit-log/export": [
    {
      _id: sampleId,
      createdAt: at,
      type: "org.service_account.token.rotate",
      message: "Rotated a token",
      author: { _id: sampleId, user: "ada", avatarUrl: "/a.svg", type: "user" },
      token: { type: "access_token", id: sampleId, role: "write", deleted: false },
    },
  ],
  "GET /api/organizations/{name}/resource-groups": [group],
  "POST /api/organizations/{name}/resource-groups": group,
  "GET /api/organizations/{name}/settings/network-security": networkSecurity,
  "PATCH /api/organizations/{name}/settings/network-security": networkSecurity,
  "GET /api/organizations/{name}/avatar": { avatarUrl: "https://cdn.example/acme.png" },
  "GET /api/organizations/{name}/members": [
    { _id: sampleId, avatarUrl: "/a.svg", fullname: "Ada", isPro: true, user: "ada", type: "user", role: "admin" },
  ],
  "GET /api/organizations/{name}/scim/v2/ServiceProviderConfig": {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    documentationUri: "https://docs.example/scim",
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: 100 },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Token",
        description: "A token.",
        specUri: "https://a.example",
        documentationUri: "https://b.example",
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: "https://c.example" },
  },
  "GET /api/whoami-v2": {
    type: "user",
    id: sampleId,
    name: "ada",
    fullname: "Ada",
    email: null,
    avatarUrl: "/a.svg",
    isPro: false,
    orgs: [
      {
        type: "org",
        id: sampleId,
        name: "acme",
        fullname: "Acme",
        avatarUrl: "/b.svg",
        plan: "plus",
        roleInOrg: "read",
      },
    ],
    auth: { type: "access_token", accessToken: { displayName: "laptop", role: "write", createdAt: at } },
  },
  "POST /api/jobs/{namespace}": startedJob,
  "GET /api/jobs/{namespace}": [startedJob],
  "GET /api/jobs/{namespace}/count": { count: 1 },
  "GET /api/jobs/{namespace}/{jobId}": startedJob,
  "POST /api/jobs/{namespace}/{jobId}/cancel": startedJob,
  "PUT /api/jobs/{namespace}/{jobId}/labels": startedJob,
  "GET /api/jobs/hardware": [
    {
      name: "rtx-pro-6000",
      prettyName: "RTX PRO 6000",
      cpu: "24 vCPU",
      ram: "128 GB",
      ephemeralStorage: "50 GB",
      accelerator: { type: "gpu", model: "RTX", quantity: "1", vram: "96 GB", manufacturer: "Nvidia" },
      unitCostMicroUSD: 50000,
      unitCostUSD: 0.05,
      unitLabel: "minute",
    },
  ],
};

/** Returns the response to a valid request; `undefined` for an unknown operation. */
export function answerTo(
  { method, path }: PublishedOperation,
  { params, body }: { params: Record<string, string | undefined>; body: unknown },
): unknown {
  if (params.webhookId !== undefined && params.webhookId !== sampleId) return undefined;
  if (params.tokenId !== undefined && params.tokenId !== sampleId) return undefined;
  const key = `${method} ${path}`;
  if (Object.hasOwn(samples, key)) return samples[key];
  if (!path.startsWith("/api/settings/webhooks") || method === "DELETE") return {};
  if (path.endsWith("/{logId}")) return { status: 204 };
  if (path === "/api/settings/webhooks" && method === "GET") return [webhook];
  if (params.action !== undefined) return { webhook: { ...webhook, disabled: params.action === "disable" } };
  return { webhook: body === undefined ? webhook : changed(body) };
}

/**
 * Returns a request's webhook as in a response: without its secret, and without the fields of a job that the Hub does
 * not return.
 */
function changed(body: unknown): object {
  const { secret, job, url, ...rest } = Object(body);
  const target = job === undefined ? { url: url ?? webhook.url } : { job: answeredJob(job) };
  return { ...webhook, ...rest, ...target, hasSecret: secret !== "" };
}

function answeredJob(job: unknown): object {
  const {
    arch: _1,
    attempts: _2,
    volumes: _3,
    expose: _4,
    ssh: _5,
    resourceGroupId: _6,
    secrets,
    ...rest
  } = Object(job);
  return { ...rest, ...(secrets && { secrets: Object.keys(secrets) }) };
}

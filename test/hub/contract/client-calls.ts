import type { HubClient } from "../../../src/client.ts";

/** The IDs of a Hub's data. */
export interface World {
  webhookId: string;
  logId: string;
  discussionId: string;
  paperId: string;
  authorId: string;
  tokenId: string;
  groupId: string;
  jobId: string;
}

/** A call of the client, with its operation. */
export interface ClientCall {
  operation: string;
  run: (hub: HubClient, world: World) => Promise<unknown>;
}

const organization = "/api/organizations/{name}";
const webhooks = "/api/settings/webhooks";
const jobs = "/api/jobs/{namespace}";
const watched = [{ type: "dataset" as const, name: "acme/data" }];

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** One call for each operation, with every field that the current Hub accepts. Deletions come last. */
export const clientCalls: readonly ClientCall[] = [
  { operation: `GET ${webhooks}`, run: (hub) => hub.webhooks.list() },
  {
    operation: `POST ${webhooks}`,
    run: (hub, { groupId }) =>
      hub.webhooks.create({
        watched,
        domains: ["repo", "discussion"],
        secret: "s3cret",
        job: {
          flavor: "rtx-pro-6000x2",
          dockerImage: "python:3.13",
          command: ["python", "train.py"],
          arguments: ["--fast"],
          environment: { EPOCHS: "3" },
          secrets: { KEY: "x" },
          arch: "arm64",
          timeoutSeconds: 600,
          attempts: 2,
          labels: { team: "vision" },
          volumes: [{ type: "bucket", source: "acme/uploads", mountPath: "/data", readOnly: true }],
          expose: { ports: [8000, 8001], portsPublic: [8001] },
          ssh: { enabled: true },
          resourceGroupId: groupId,
        },
      }),
  },
  { operation: `GET ${webhooks}/{webhookId}`, run: (hub, { webhookId }) => hub.webhooks.get(webhookId) },
  {
    operation: `POST ${webhooks}/{webhookId}`,
    run: (hub, { webhookId }) =>
      hub.webhooks.update(webhookId, { url: "https://acme-bot.hf.space/webhooks/other", watched, secret: null }),
  },
  {
    operation: `POST ${webhooks}/{webhookId}/{action}`,
    run: async (hub, { webhookId }) => [await hub.webhooks.disable(webhookId), await hub.webhooks.enable(webhookId)],
  },
  {
    operation: `POST ${webhooks}/{webhookId}/replay/{logId}`,
    run: (hub, { webhookId, logId }) => hub.webhooks.replay(webhookId, logId),
  },
  {
    operation: "GET /api/notifications",
    run: (hub) =>
      hub.notifications.list({
        p: 0,
        readStatus: "all",
        repoType: "dataset",
        repoName: "acme/data",
        postAuthor: "ada",
        paperId: "2401.12345",
        articleId: "b",
        mention: "participating",
        lastUpdate: "2026-08-17T09:15:27Z",
      }),
  },
  {
    operation: "POST /api/notifications/mark-as-read",
    run: (hub, { discussionId }) => hub.notifications.markAsRead({ discussionIds: [discussionId], read: false }),
  },
  {
    operation: "DELETE /api/notifications",
    run: async (hub, { discussionId }) => {
      await hub.notifications.delete({ discussionIds: [discussionId] });
      await hub.notifications.delete({ applyToAll: true, repoType: "kernel" });
    },
  },
  { operation: "GET /api/settings/mcp", run: (hub) => hub.settings.mcp() },
  {
    operation: "PATCH /api/settings/notifications",
    run: (hub) =>
      hub.settings.updateNotifications({
        notifications: { job_status: true, repo_release: false, launch_prepaid_credits: true },
        prepaidAmount: "25",
      }),
  },
  {
    operation: "PATCH /api/settings/watch",
    run: (hub) => hub.settings.updateWatch({ add: [{ type: "org", id: "65b2f0a1c3d4e5f60718293a" }] }),
  },
  {
    operation: "POST /api/settings/papers/claim",
    run: (hub, { paperId, authorId }) => hub.papers.claim({ paperId, claimAuthorId: authorId }),
  },
  {
    operation: `POST ${organization}/settings/tokens/{tokenId}/revoke`,
    run: (hub, { tokenId }) => hub.organizations.revokeToken("acme", { tokenId }),
  },
  {
    operation: `GET ${organization}/audit-log/export`,
    run: (hub) => all(hub.organizations.auditLog("acme", { q: "type:org.create" })),
  },
  { operation: `GET ${organization}/resource-groups`, run: (hub) => hub.organizations.resourceGroups.list("acme") },
  {
    operation: `POST ${organization}/resource-groups`,
    run: (hub) =>
      hub.organizations.resourceGroups.create("acme", {
        name: "vision",
        description: "Those who see.",
        users: [{ user: "other-user", role: "write" }],
        repos: [{ type: "dataset", name: "acme/translations" }],
        autoJoin: { enabled: true, role: "read", scope: "read_plus" },
      }),
  },
  {
    operation: `GET ${organization}/settings/network-security`,
    run: (hub) => hub.organizations.networkSecurity.get("acme"),
  },
  {
    operation: `PATCH ${organization}/settings/network-security`,
    run: (hub) =>
      hub.organizations.networkSecurity.update("acme", {
        enforceAuth: true,
        enforceIpRestriction: false,
        highRateLimits: true,
        ipRanges: ["192.0.2.0/24", "2001:db8::/32"],
        blockedContents: [{ resource: "kernel", scope: "acme/*" }],
        allowedContents: [{ resource: "*", scope: "acme/data" }],
        keepReposMetadataVisible: true,
      }),
  },
  { operation: `GET ${organization}/avatar`, run: (hub) => hub.organizations.avatar("acme") },
  {
    operation: `GET ${organization}/members`,
    run: (hub) => all(hub.organizations.members("acme", { search: "ada", email: "ada-adams@acme.example", limit: 10 })),
  },
  {
    operation: `PUT ${organization}/members/{username}/role`,
    run: (hub, { groupId }) =>
      hub.organizations.setMemberRole("acme", "other-user", {
        role: "write",
        resourceGroups: [{ id: groupId.toUpperCase(), role: "read" }],
      }),
  },
  {
    operation: `GET ${organization}/scim/v2/ServiceProviderConfig`,
    run: (hub) => hub.organizations.scimConfig("acme"),
  },
  { operation: "GET /api/whoami-v2", run: (hub) => hub.whoami() },
  { operation: "GET /api/jobs/hardware", run: (hub) => hub.jobs.hardware() },
  {
    operation: `POST ${jobs}`,
    run: (hub) =>
      hub.jobs.run({
        image: "python:3.13",
        command: ["true"],
        environment: { LOG_LEVEL: "debug" },
        secrets: { HF_TOKEN: "hf_job" },
        timeout: "90s",
        attempts: 2,
        labels: { team: "data" },
        expose: { ports: [8000], portsPublic: [8000] },
        volumes: [{ type: "dataset", source: "acme/data", mountPath: "/data" }],
      }),
  },
  {
    operation: `GET ${jobs}`,
    run: (hub) => all(hub.jobs.list({ stage: "RUNNING", labels: { team: "data" } })),
  },
  { operation: `GET ${jobs}/count`, run: (hub) => hub.jobs.count({ stage: "RUNNING" }) },
  { operation: `GET ${jobs}/{jobId}`, run: (hub, { jobId }) => hub.jobs.get(jobId) },
  { operation: `GET ${jobs}/{jobId}/logs`, run: (hub, { jobId }) => all(hub.jobs.logs(jobId, { tail: 10 })) },
  {
    // The client has no method, because the format of the events is not published.
    operation: `GET ${jobs}/{jobId}/events`,
    run: async (hub, { jobId }) => {
      const { name: namespace } = await hub.whoami();
      await (await hub.fetch("/api/jobs/{namespace}/{jobId}/events", { params: { namespace, jobId } })).text();
    },
  },
  { operation: `POST ${jobs}/{jobId}/cancel`, run: (hub, { jobId }) => hub.jobs.cancel(jobId) },
  { operation: `PUT ${jobs}/{jobId}/labels`, run: (hub, { jobId }) => hub.jobs.setLabels(jobId, { a: "b" }) },
  { operation: `DELETE ${webhooks}/{webhookId}`, run: (hub, { webhookId }) => hub.webhooks.delete(webhookId) },
];

import type { HubClient } from "../../../src/client.ts";
import { kindOf } from "./kinds.ts";

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

type Call = (hub: HubClient, world: World) => Promise<unknown>;

const watched = [{ type: "dataset" as const, name: "acme/data" }];
const search = { repoName: "acme/data", postAuthor: "ada", paperId: "2401.12345", articleId: "b", p: 0 };
const started = {
  command: ["python", "train.py"],
  environment: { EPOCHS: "3" },
  secrets: { KEY: "x" },
  attempts: 2,
  labels: { team: "vision" },
  volumes: [{ type: "bucket" as const, source: "acme/uploads", mountPath: "/data", readOnly: true }],
  expose: { ports: [8000, 8001], portsPublic: [8001] },
};
const job = {
  ...started,
  flavor: "rtx-pro-6000x2",
  dockerImage: "python:3.13",
  arguments: ["--fast"],
  arch: "arm64" as const,
  timeoutSeconds: 600,
  ssh: { enabled: true },
};
const member = { search: "ada", email: "ada-adams@acme.example", limit: 10 };
const networkSecurity = {
  ...{ enforceAuth: true, enforceIpRestriction: false, highRateLimits: true, keepReposMetadataVisible: true },
  ipRanges: ["192.0.2.0/24", "2001:db8::/32"],
  blockedContents: [{ resource: "kernel" as const, scope: "acme/*" }],
  allowedContents: [{ resource: "*" as const, scope: "acme/data" }],
};
const group = {
  name: "vision",
  description: "Those who see.",
  users: [{ user: "other-user", role: "write" }],
  repos: [{ type: "dataset" as const, name: "acme/translations" }],
  autoJoin: { enabled: true as const, role: "read", scope: "read_plus" as const },
};
const switches = { job_status: true, repo_release: false, launch_prepaid_credits: true };
const watchedItem = { type: "org" as const, id: String(kindOf("objectId").accepted[0]) };

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** One call for each operation, by ID, with every field that the current Hub accepts. Deletions come last. */
export const clientCalls: Readonly<Record<string, Call>> = {
  listWebhooks: ({ webhooks }) => webhooks.list(),
  createWebhook: ({ webhooks }, { groupId }) =>
    webhooks.create({
      ...{ watched, domains: ["repo", "discussion"], secret: "s3cret" },
      job: { ...job, resourceGroupId: groupId },
    }),
  getWebhook: ({ webhooks }, { webhookId }) => webhooks.get(webhookId),
  updateWebhook: ({ webhooks }, { webhookId }) =>
    webhooks.update(webhookId, { url: "https://acme-bot.hf.space/webhooks/other", watched, secret: null }),
  setWebhookState: async ({ webhooks }, { webhookId }) => {
    await webhooks.disable(webhookId);
    await webhooks.enable(webhookId);
  },
  replayWebhookDelivery: ({ webhooks }, { webhookId, logId }) => webhooks.replay(webhookId, logId),
  listNotifications: ({ notifications }) =>
    notifications.list({
      ...search,
      ...{ readStatus: "all", repoType: "dataset", mention: "participating", lastUpdate: "2026-08-17T09:15:27Z" },
    }),
  markNotificationsAsRead: ({ notifications }, { discussionId }) =>
    notifications.markAsRead({ discussionIds: [discussionId], read: false }),
  deleteNotifications: async ({ notifications }, { discussionId }) => {
    await notifications.delete({ discussionIds: [discussionId] });
    await notifications.delete({ applyToAll: true, repoType: "kernel" });
  },
  getMcpSettings: ({ settings }) => settings.mcp(),
  updateNotificationSettings: ({ settings }) =>
    settings.updateNotifications({ notifications: switches, prepaidAmount: "25" }),
  updateWatchSettings: ({ settings }) => settings.updateWatch({ add: [watchedItem] }),
  claimPaper: ({ papers }, { paperId, authorId }) => papers.claim({ paperId, claimAuthorId: authorId }),
  revokeOrganizationTokenById: ({ organizations }, { tokenId }) => organizations.revokeToken("acme", { tokenId }),
  exportAuditLog: ({ organizations }) => all(organizations.auditLog("acme", { q: "type:org.create" })),
  listResourceGroups: ({ organizations }) => organizations.resourceGroups.list("acme"),
  createResourceGroup: ({ organizations }) => organizations.resourceGroups.create("acme", group),
  getNetworkSecurity: ({ organizations }) => organizations.networkSecurity.get("acme"),
  updateNetworkSecurity: ({ organizations }) => organizations.networkSecurity.update("acme", networkSecurity),
  getOrganizationAvatar: ({ organizations }) => organizations.avatar("acme"),
  listOrganizationMembers: ({ organizations }) => all(organizations.members("acme", member)),
  setMemberRole: ({ organizations }, { groupId }) => {
    const resourceGroups = [{ id: groupId.toUpperCase(), role: "read" }];
    return organizations.setMemberRole("acme", "other-user", { role: "write", resourceGroups });
  },
  getScimConfig: ({ organizations }) => organizations.scimConfig("acme"),
  whoami: (hub) => hub.whoami(),
  listJobHardware: ({ jobs }) => jobs.hardware(),
  startJob: ({ jobs }) => jobs.run({ ...started, image: "python:3.13", timeout: "90s" }),
  listJobs: ({ jobs }) => all(jobs.list({ stage: "RUNNING", labels: { team: "data" } })),
  countJobs: ({ jobs }) => jobs.count({ stage: "RUNNING" }),
  getJob: ({ jobs }, { jobId }) => jobs.get(jobId),
  streamJobLogs: ({ jobs }, { jobId }) => all(jobs.logs(jobId, { tail: 10 })),
  // The client has no method, because the format of the events is not published.
  streamJobEvents: async (hub, { jobId }) => {
    const { name: namespace } = await hub.whoami();
    const response = await hub.fetch("/api/jobs/{namespace}/{jobId}/events", { params: { namespace, jobId } });
    await response.text();
  },
  cancelJob: ({ jobs }, { jobId }) => jobs.cancel(jobId),
  setJobLabels: ({ jobs }, { jobId }) => jobs.setLabels(jobId, { a: "b" }),
  deleteWebhook: ({ webhooks }, { webhookId }) => webhooks.delete(webhookId),
};

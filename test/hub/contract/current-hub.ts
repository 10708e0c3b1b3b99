import { asObject } from "../../../scripts/contract-diff/schema-facts.ts";
import type { HubClient } from "../../../src/client.ts";
import { sampleOf, variantsOf } from "./cases.ts";
import { documentSchema } from "./document.ts";
import { kindOf } from "./facts.ts";
import { type OperationFacts, operations } from "./operations.ts";

/** The ID of everything that the current Hub returns. */
export const sampleId = String(kindOf("objectId").accepted[0]);

/** The Hub of today in memory, made from the facts: without the operations and fields that the Hub has removed. */
export interface CurrentHub {
  fetch: typeof fetch;
  /** The operation IDs of the requests. */
  readonly called: readonly string[];
  /** Fields of requests that this Hub does not have, and therefore ignored. */
  readonly ignored: readonly string[];
}

export function openCurrentHub(): CurrentHub {
  const called: string[] = [];
  const ignored: string[] = [];
  return { called, ignored, fetch: async (input, init) => answer(new Request(input, init), { called, ignored }) };
}

async function answer(
  request: Request,
  { called, ignored }: { called: string[]; ignored: string[] },
): Promise<Response> {
  const url = new URL(request.url);
  const text = await request.text();
  const found = find(request.method, url.pathname);
  if (!found || Object.values(found.params).some((id) => /^0{24}$/.test(id)))
    return refuse(404, "There is no such thing.");
  const { facts } = found;
  called.push(facts.operationId);
  const isJson = text === "" || request.headers.get("content-type") === "application/json";
  if (!isJson || request.headers.get("authorization") !== "Bearer hf_ada") return refuse(401, "The headers are wrong.");
  ignored.push(...[...url.searchParams.keys()].filter((name) => !Object.hasOwn(facts.query ?? {}, name)));
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  if (facts.request !== undefined && body !== undefined) {
    const name = facts.request.replace("?", "");
    const isValid = documentSchema(`/components/schemas/${name}`);
    if (!isValid(body)) return refuse(400, JSON.stringify(isValid.errors));
    const known = currentFacts(name).map(({ path }) => path);
    const isKnown = (path: string) => known.includes(path) || known.includes(path.replace(/\.[^.]*$/, "{}"));
    ignored.push(...fieldsOf(body).filter((path) => !isKnown(path)));
  }
  if (facts.mediaType !== undefined) return new Response("", { headers: { "content-type": facts.mediaType } });
  return Response.json(responseTo(facts, body));
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status, headers: { "x-error-message": error } });
}

function find(method: string, path: string): { facts: OperationFacts; params: Record<string, string> } | undefined {
  for (const facts of operations) {
    if (facts.method !== method || facts.change === "removed") continue;
    const pattern = facts.path.replace("{action}", "(enable|disable)").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match) return { facts, params: { ...match.groups } };
  }
  return undefined;
}

/** Returns the facts of all variants of a body that the current Hub has. */
function currentFacts(name: string) {
  return variantsOf(name).flatMap(withoutRemoved);
}

function withoutRemoved(facts: ReturnType<typeof variantsOf>[number]) {
  const removed = facts.filter(({ change }) => change === "removed").map(({ path }) => path);
  return facts.filter(({ path }) => !removed.some((field) => path === field || path.startsWith(`${field}[`)));
}

/** Returns the paths of all fields in a body, such as `watched[].type`. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return [at, ...fieldsOf(field, at)];
  });
}

function samples(name: string) {
  return variantsOf(name).map((facts) => sampleOf(withoutRemoved(facts)));
}

function responseTo({ response = {} }: OperationFacts, body: unknown): unknown {
  if (typeof response !== "string") {
    const fields = Object.entries(response).map(([name, kind]) => [
      name,
      kind === "number" ? 1 : webhookAfter(asObject(body)),
    ]);
    return Object.fromEntries(fields);
  }
  if (response === "Webhook[]") return [webhookAfter({})];
  return response.endsWith("[]") ? samples(response.replace("[]", "")) : samples(response)[0];
}

/** Returns the webhook after a change, with only one target, and without the fields of a job that the Hub does not return. */
function webhookAfter({ secret, job, ...changes }: Readonly<Record<string, unknown>>): object {
  const { job: _, jobSourceId: _source, ...webhook } = samples("Webhook")[0] ?? {};
  const given = { ...webhook, ...changes, hasSecret: secret !== "" };
  return job === undefined ? given : { ...given, url: undefined, job: samples("WebhookJob")[0] };
}

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
  startJob: ({ jobs }) =>
    jobs.run({ ...started, image: "python:3.13", timeout: "90s", network: { group: "train", aliases: ["master"] } }),
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

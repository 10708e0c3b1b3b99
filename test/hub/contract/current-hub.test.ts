import { beforeAll, describe, expect, test } from "vitest";
import { asObject } from "../../../scripts/contract-diff/schema-facts.ts";
import { HubClient } from "../../../src/client.ts";
import { deriveTokenId } from "../../../src/local-hub/accounts.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { rejectionOf } from "../scripted-hub.ts";
import { sampleOf, variantsOf } from "./cases.ts";
import { documentSchema } from "./document.ts";
import { kindOf } from "./facts.ts";
import { type OperationFacts, operations } from "./operations.ts";

/** The ID of everything that the current Hub returns. */
const sampleId = String(kindOf("objectId").accepted[0]);

/** The Hub of today in memory, made from the facts: without the operations and fields that the Hub has removed. */
interface CurrentHub {
  fetch: typeof fetch;
  /** The operation IDs of the requests. */
  readonly called: readonly string[];
  /** The bodies of the answers. */
  readonly answers: readonly unknown[];
  /** Fields of requests that this Hub does not have, and therefore ignored. */
  readonly ignored: readonly string[];
}

function openCurrentHub(): CurrentHub {
  const seen = { called: [] as string[], answers: [] as unknown[], ignored: [] as string[] };
  return { ...seen, fetch: async (input, init) => answer(new Request(input, init), seen) };
}

async function answer(
  request: Request,
  { called, answers, ignored }: { called: string[]; answers: unknown[]; ignored: string[] },
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
  answers.push(responseTo(facts, body));
  return Response.json(answers.at(-1));
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
interface World {
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
const clientCalls: Readonly<Record<string, Call>> = {
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
    return webhooks.enable(webhookId);
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

const current: World = {
  webhookId: sampleId,
  logId: "log-1",
  discussionId: sampleId,
  paperId: "2401.12345",
  authorId: sampleId,
  tokenId: sampleId,
  groupId: sampleId,
  jobId: sampleId,
};

function openClient(): { hub: CurrentHub; client: HubClient; warnings: readonly unknown[] } {
  const hub = openCurrentHub();
  const logger = createMemoryLogger();
  const client = new HubClient({ hubUrl: "https://hub.example", token: "hf_ada", fetch: hub.fetch, logger });
  return { hub, client, warnings: logger.lines };
}

/** A local Hub for all calls, which are in an order that each can succeed. */
let local: LocalHub;
let world: World;
beforeAll(async () => {
  local = await LocalHub.launch({ attempts: 1 });
  world = await localWorld(local);
  return () => local.close();
});

/** Returns the IDs of a local Hub's data, including a webhook that has delivered once. */
async function localWorld(hub: LocalHub): Promise<World> {
  const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const repo = { type: "dataset", name: "me/data" } as const;
  const { id } = await client.webhooks.create({ url: `${hub.url}/hook`, watched: [repo], domains: ["repo"] });
  await hub.push(repo);
  const [group] = await client.organizations.resourceGroups.list("acme");
  const { notifications } = await client.notifications.list({ repoType: "dataset" });
  const discussionId = notifications.flatMap((note) => (note.type === "repo" ? [note.discussion.id] : []))[0];
  const papers = await (await fetch(`${hub.url}/_local/papers`)).json();
  return {
    webhookId: id,
    logId: hub.deliveries(id)[0]?.logId ?? "",
    discussionId: discussionId ?? "",
    paperId: papers[0].paperId,
    authorId: papers[0].authors[0].id,
    tokenId: deriveTokenId("hf_read"),
    groupId: group?.id ?? "",
    jobId: (await client.jobs.run({ image: "python:3.13", command: ["true"] })).id,
  };
}

/** Returns what the client returns for an answer. */
function resultOf(answer: unknown, response: OperationFacts["response"] = {}): unknown {
  if (typeof response === "string" || "status" in response) return answer;
  const [onlyField = ""] = Object.keys(response);
  return asObject(answer)[onlyField];
}

test("There is one call for each operation of the current Hub", () => {
  const ids = operations.filter(({ change }) => change !== "removed").map(({ operationId }) => operationId);
  expect(Object.keys(clientCalls).sort()).toEqual(ids.sort());
});

describe("The client, against the current Hub and against the local Hub,", () => {
  test.each(Object.entries(clientCalls))("succeeds: %s", async (operationId, run) => {
    const { hub, client, warnings } = openClient();
    const result = await run(client, current);
    expect(hub.called).toContain(operationId);
    const facts = operations.find((candidate) => candidate.operationId === operationId);
    if (facts?.mediaType === undefined) expect(result).toEqual(resultOf(hub.answers.at(-1), facts?.response));
    expect(hub.ignored).toEqual([]);
    expect(warnings).toEqual([]);

    const logger = createMemoryLogger();
    await run(new HubClient({ hubUrl: local.url, token: "hf_local", logger }), world);
    expect(logger.lines).toEqual([]);
  });
});

describe("Against the current Hub, the client", () => {
  test("returns the resources of groups, of every type", async () => {
    const groups = await openClient().client.organizations.resourceGroups.list("acme");
    const types = groups.flatMap(({ resources }) => resources.map(({ type }) => type));
    expect(types).toEqual(["model", "collection", "blog", "job", "scheduled-job"]);
    expect(groups.map(({ repos }) => repos)).toEqual(Array(5).fill(undefined));
  });

  test("does not send changes to lists in fields that this Hub would ignore", async () => {
    const { hub, client } = openClient();
    const change = { blockedUrls: ["/acme/data"], allowedUrls: [], enforceAuth: true };
    expect(await rejectionOf(client.organizations.networkSecurity.update("acme", change))).toMatchObject({
      code: "ARGUMENT_INVALID",
      fields: ["allowedUrls", "blockedUrls"],
      message: expect.stringContaining('"blockedContents"'),
    });
    expect(hub.called).toEqual(["getNetworkSecurity"]);
  });

  test("reports that a token is revoked by its ID if its value is not found", async () => {
    const { organizations } = openClient().client;
    expect(await rejectionOf(organizations.revokeToken("acme", { token: "hf_PlantedOther55" }))).toMatchObject({
      code: "HUB_NOT_FOUND",
      status: 404,
      message: expect.stringMatching(/since 2026-08-12.*\{ tokenId \}/i),
    });
    const unknown = await rejectionOf(organizations.revokeToken("acme", { tokenId: "0".repeat(24) }));
    expect(unknown).toMatchObject({ code: "HUB_NOT_FOUND", message: expect.not.stringContaining("2026-08-12") });
  });
});

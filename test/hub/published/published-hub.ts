import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { HubClient } from "../../../src/client.ts";
import { listen } from "../../support/listen.ts";
import type { Schema } from "./json-schema.ts";
import { type PublishedOperation, publishedOperations } from "./operations.ts";
import { answerTo } from "./sample-answers.ts";

/** The Hub of 2026-08-17 on a loopback socket, built from the published document and independent of `src`. */
export interface PublishedHub {
  url: string;
  /** The operation of each request, as in `GET /api/notifications`. */
  readonly operations: readonly string[];
  /** Fields of requests that this Hub does not have, and therefore ignored. */
  readonly ignored: readonly string[];
}

const ajv = new Ajv2020({ strict: false, useDefaults: true });
addFormats.default(ajv);

/** Starts it. It closes after the test. */
export async function openPublishedHub(): Promise<PublishedHub> {
  const operations: string[] = [];
  const ignored: string[] = [];
  const server = createServer(async (request, response) => {
    const { status, body, headers = {} } = await answer(request);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  });

  async function answer(request: IncomingMessage): Promise<Answer> {
    const url = new URL(request.url ?? "", "http://hub.invalid");
    const found = find(request.method ?? "", url.pathname);
    if (!found) return refusal(404, `Sorry, we can't find ${request.method} ${url.pathname}.`);
    if (!/^Bearer hf_\w+$/.test(request.headers.authorization ?? "")) return refusal(401, "Invalid credentials.");
    const { operation, params } = found;
    operations.push(`${operation.method} ${operation.path}`);
    const content = await text(request);
    if (content !== "" && request.headers["content-type"] !== "application/json") return refusal(415, "Not JSON.");
    const body: unknown = operation.request ? JSON.parse(content || "{}") : undefined;
    const query = Object.fromEntries(url.searchParams);

    const problems = [...problemsOfQuery(operation, query), ...problemsOf(operation.request, body)];
    if (problems.length > 0) return refusal(400, problems.join("; "));
    ignored.push(...Object.keys(query).filter((name) => !Object.hasOwn(operation.query ?? {}, name)));
    ignored.push(...ignoredIn(operation.request, body));

    const given = answerTo(operation, { params, body });
    if (given === undefined) return refusal(404, "There is no such thing.");
    const wrong = problemsOf(operation.answer, given);
    if (wrong.length > 0) return refusal(500, `The mock is wrong: ${wrong.join("; ")}`);
    return { status: 200, body: given };
  }

  const { url } = await listen(server);
  return { url, operations, ignored };
}

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

function refusal(status: number, error: string): Answer {
  return { status, body: { error }, headers: { "x-error-message": error } };
}

function find(method: string, path: string) {
  for (const operation of publishedOperations) {
    if (operation.method !== method) continue;
    const pattern = operation.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match && !["enable", "disable", undefined].includes(match.groups?.action)) continue;
    if (match) return { operation, params: { ...match.groups } };
  }
  return undefined;
}

function problemsOf(schema: Schema | undefined, value: unknown): string[] {
  if (schema === undefined || ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath || "body"} ${message}`);
}

/** Converts query strings that are written as numbers to numbers. */
function problemsOfQuery({ query = {} }: PublishedOperation, given: Record<string, string>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const schema = query[name];
    const meant = schema?.type === "integer" ? Number(value) : value;
    return problemsOf(schema, meant).map((problem) => `${name}: ${problem}`);
  });
}

function ignoredIn(schema: Schema | undefined, value: unknown, place = ""): string[] {
  if (schema === undefined || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => ignoredIn(part(schema.items), item, `${place}[${index}]`));
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf.map(part) : [];
  if (alternatives.length > 0) {
    return ignoredIn(
      alternatives.find((alternative) => problemsOf(alternative, value).length === 0),
      value,
      place,
    );
  }
  const properties = part(schema.properties);
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    Object.hasOwn(properties, name)
      ? ignoredIn(part(properties[name]), field, `${place}.${name}`)
      : [`${place}.${name}`],
  );
}

function part(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}

/** The ids of what exists on a Hub. */
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

/** One call for each operation, with every field that the Hub of 2026-08-17 accepts. Deletions come last. */
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

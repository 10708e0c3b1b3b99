import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { createHubApp } from "../../src/local-hub/app.ts";
import { createHubConsole } from "../../src/local-hub/console/hub-console.ts";
import { contextOf } from "../../src/local-hub/hub-context.ts";
import { specifiedRoutes } from "../../src/local-hub/routes/index.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { type Case, casesOf, parameterCases } from "../hub/contract/cases.ts";
import { type Fields, kindOf, parseFact } from "../hub/contract/facts.ts";
import { type OperationFacts, operations } from "../hub/contract/operations.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { jobRequests, organizationRequests, ownRequests } from "./support/sample-requests.ts";

/*
 * One local Hub serves all tests in memory, because rejected requests change nothing, and accepted requests do not depend
 * on earlier ones.
 */
let send: (line: string, options?: { body?: unknown; token?: string }) => Promise<Response>;
let webhookId: string;
let jobId: string;
let logId: string;

beforeAll(async () => {
  const hub = await LocalHub.launch({ logger: createMemoryLogger(), attempts: 1, suspendAfter: 1_000 });
  const context = contextOf(hub);
  const app = createHubApp(context, { console: createHubConsole(context) });
  send = async (line, { body, token = "hf_local" } = {}) => {
    const [method = "", target = ""] = line.split(" ");
    const headers = { host: "127.0.0.1", authorization: `Bearer ${token}`, "content-type": "application/json" };
    return app.request(target, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  };
  const made = await send("POST /api/settings/webhooks", { body: sampleOf("createWebhook").body });
  webhookId = z.object({ webhook: z.object({ id: z.string() }) }).parse(await made.json()).webhook.id;
  await hub.push({ type: "dataset", name: "me/data" });
  logId = hub.deliveries(webhookId)[0]?.logId ?? "";
  const started = await send("POST /api/jobs/local-user", { body: { flavor: "cpu-basic" } });
  jobId = z.object({ id: z.string() }).parse(await started.json()).id;
  // The streams of a job end with the job.
  await send(`POST /api/jobs/local-user/${jobId}/cancel`);
  return () => hub.close();
});

function sampleOf(operationId: string) {
  const found = [...ownRequests, ...jobRequests, ...organizationRequests].find(
    (sample) => sample.operationId === operationId,
  );
  if (!found) throw new Error(`There is no sample of ${operationId}.`);
  return found;
}

/** Returns the method and the path of a valid request. */
function lineOf({ operationId, path }: Pick<OperationFacts, "operationId" | "path">): string {
  const name = path.includes("/organizations/") ? "acme" : path.includes("{jobId}") ? jobId : webhookId;
  return sampleOf(operationId)
    .line(name)
    .replace(/\/replay\/x$/, `/replay/${logId}`);
}

/** Returns the fields that the error in a response names. */
async function namedIn(response: Response): Promise<string[]> {
  const { error } = z.strictObject({ error: z.string() }).parse(await response.json());
  expect([response.status, response.headers.get("x-error-code")], error).toEqual([400, "BadRequest"]);
  return error.split("; ").map((problem) => problem.split(": ")[0] ?? "");
}

/** Terms that the client sends, because the Hub can accept them one day. */
const unknownTerms = [
  "ada",
  "author",
  "author:",
  "author: ada",
  "Author:ada",
  "user:ada",
  "author:ada bob",
  "author:ada ip:",
];
/** Parameters that depend on earlier responses, or that redirect. */
const stateful = ["cursor", "redirect"];
/** Bodies that can be sent repeatedly, with any valid values. */
const free = ["NotificationDeletion", "NotificationMark", "NotificationSettingsChange", "NetworkSecurityChange"];

/** Returns one invalid body for each field. Keys of maps are left out, because messages quote them. */
function refusedBodies(name: string): Case[] {
  const refused = casesOf(name).filter(
    (example) => example.refused !== undefined && !example.title.includes(" is map "),
  );
  return [...new Map(refused.map((example) => [example.refused, example])).values()];
}

async function checkBody(line: string, request: string): Promise<void> {
  const name = request.replace("?", "");
  for (const { title, body, refused } of refusedBodies(name)) {
    expect(await namedIn(await send(line, { body })), title).toContain(refused || "body");
  }
  const accepted = casesOf(name).filter(
    ({ title, refused }) => refused === undefined && /^every|^only|list/.test(title),
  );
  for (const { title, body } of free.includes(name) ? accepted : []) {
    // The local Hub rejects an empty list of IP ranges.
    if (!title.startsWith("ipRanges")) expect((await send(line, { body })).status, title).toBe(200);
  }
}

async function checkQuery(line: string, { query = {}, body }: { query: Fields | undefined; body: object | undefined }) {
  for (const [name, rule] of Object.entries(query)) {
    const { kind } = parseFact([name, rule]);
    const { accepted, refused, isList } = parameterCases(kind);
    const [first, last] = [accepted[0]?.text ?? "", accepted.at(-1)?.text ?? ""];
    const invalid = [...refused.slice(0, 1), ...(kind === "terms" ? unknownTerms : [])].map((text) => [text]);
    for (const texts of isList ? invalid : [...invalid, [first, first]]) {
      const search = new URLSearchParams(texts.map((text) => [name, text]));
      expect(await namedIn(await send(`${line}?${search}`, { body })), `${search}`).toContain(name);
    }
    for (const text of stateful.includes(name) ? [] : [first, last]) {
      const search = new URLSearchParams({ [name]: text, unknown: "1" });
      expect((await send(`${line}?${search}`, { body })).status, `${search}`).toBe(200);
    }
  }
}

describe("The local Hub", () => {
  // The other operations on webhooks need the webhook.
  const deletion = (facts: OperationFacts) => Number(facts.operationId === "deleteWebhook");
  const ordered = operations.toSorted((one, other) => deletion(one) - deletion(other));

  test.each(ordered)("accepts valid requests and rejects invalid ones: $operationId", async (facts) => {
    const { operationId, path, query, request, params, mediaType = "application/json" } = facts;
    const line = lineOf(facts);
    const body = sampleOf(operationId).body;
    expect((await send(line, { token: "hf_nobody", body })).status).toBe(401);
    if (request !== undefined) await checkBody(line, request);
    if (query !== undefined) await checkQuery(line, { query, body });
    if (params?.action) expect(await namedIn(await send(line.replace("enable", "pause")))).toEqual(["action"]);
    else if (request === undefined && query === undefined && path.includes("{")) {
      const unknown = path.replace(/\{\w+\}/g, "0123456789abcdef01234567");
      expect((await send(`${facts.method} ${unknown}`)).status).toBe(404);
    }

    const response = await send(line, { body });
    const text = await response.text();
    const expected = [200, expect.stringContaining(mediaType)];
    expect([response.status, response.headers.get("content-type")], text).toEqual(expected);
    const schema = specifiedRoutes.find((route) => route.operationId === operationId)?.response;
    if (mediaType === "application/json") expect(schema?.safeParse(JSON.parse(text)).error).toBeUndefined();
  });

  test("accepts new resource groups at the limits of their names and descriptions", async () => {
    const line = "POST /api/organizations/acme/resource-groups";
    const texts = kindOf("string ..500").accepted;
    const descriptions = texts.map((description, index) => ({ name: `${index}`, description }));
    const names = [...new Set(kindOf("string 1..200").accepted)].map((name) => ({ name }));
    for (const body of [...descriptions, ...names]) {
      expect((await send(line, { body })).status, JSON.stringify(body)).toBe(200);
    }
  });
});

import { describe, expect, onTestFinished, test } from "vitest";
import { reportOn } from "../../../scripts/contract-diff/report.ts";
import { HubClient } from "../../../src/client.ts";
import { deriveTokenId } from "../../../src/local-hub/accounts.ts";
import { openApiDocument } from "../../../src/local-hub/openapi/openapi-document.ts";
import { specifiedRoutes } from "../../../src/local-hub/routes/index.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { openTarget } from "../../local-hub/support/target.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { rejectionOf } from "../scripted-hub.ts";
import { publishedDocument, publishedOperations } from "./operations.ts";
import { clientCalls, openPublishedHub, type World } from "./published-hub.ts";
import { sampleId } from "./sample-answers.ts";

const published: World = {
  webhookId: sampleId,
  logId: "log-1",
  discussionId: sampleId,
  paperId: "2401.12345",
  authorId: sampleId,
  tokenId: sampleId,
  groupId: sampleId,
  jobId: sampleId,
};

const named = publishedOperations.map(({ method, path }) => `${method} ${path}`);

test("There is one call for each published operation of the contract", () => {
  expect(clientCalls.map(({ operation }) => operation).sort()).toEqual([...named].sort());
  expect(named).toHaveLength(24 + 10);
});

test("The contract differs from the published operations only in the recorded differences", () => {
  const contract = JSON.parse(
    JSON.stringify(openApiDocument({ serverUrl: "http://localhost", routes: specifiedRoutes })),
  );
  const { open, explained } = reportOn(contract, { ...publishedDocument() });
  expect(open).toEqual([]);
  expect(explained).toBeGreaterThan(50);
});

describe("Against the Hub as published on 2026-08-17, the client", () => {
  test.each(clientCalls)("succeeds: $operation", async ({ operation, run }) => {
    const hub = await openPublishedHub();
    const logger = createMemoryLogger();
    const client = new HubClient({ hubUrl: hub.url, token: "hf_ada", logger });
    await run(client, published);
    expect(hub.operations).toContain(operation);
    expect(hub.ignored).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  test("reads whether a webhook has a secret, and does not remove it", async () => {
    const hub = await openPublishedHub();
    const { webhooks } = new HubClient({ hubUrl: hub.url, token: "hf_ada" });
    const webhook = await webhooks.get(sampleId);
    expect([webhook.hasSecret, webhook.secret]).toEqual([true, undefined]);
    const refused = await rejectionOf(webhooks.update(sampleId, { domains: ["repo"] }));
    expect(refused).toMatchObject({ code: "VALUE_UNREADABLE", fields: ["secret"] });
    expect((await webhooks.update(sampleId, { domains: ["repo"], secret: null })).hasSecret).toBe(false);
  });

  test("returns the resources of a group, of every type", async () => {
    const hub = await openPublishedHub();
    const [group] = await new HubClient({ hubUrl: hub.url, token: "hf_ada" }).organizations.resourceGroups.list("acme");
    expect(group?.resources.map(({ type }) => type)).toEqual(["dataset", "collection", "blog", "job", "scheduled-job"]);
    expect(group?.repos).toBeUndefined();
  });

  test("does not send changes to lists in fields that this Hub would ignore", async () => {
    const hub = await openPublishedHub();
    const { networkSecurity } = new HubClient({ hubUrl: hub.url, token: "hf_ada" }).organizations;
    const change = { blockedUrls: ["/acme/data"], allowedUrls: [], enforceAuth: true };
    expect(await rejectionOf(networkSecurity.update("acme", change))).toMatchObject({
      code: "ARGUMENT_INVALID",
      fields: ["allowedUrls", "blockedUrls"],
      message: expect.stringContaining('"blockedContents"'),
    });
    expect(hub.operations).toEqual(["GET /api/organizations/{name}/settings/network-security"]);
  });

  test("reports that a token is revoked by its id if its value is not found", async () => {
    const hub = await openPublishedHub();
    const { organizations } = new HubClient({ hubUrl: hub.url, token: "hf_ada" });
    expect(await rejectionOf(organizations.revokeToken("acme", { token: "hf_PlantedOther55" }))).toMatchObject({
      code: "HUB_NOT_FOUND",
      status: 404,
      message: expect.stringMatching(/since 2026-08-12.*\{ tokenId \}/i),
    });
    const unknown = await rejectionOf(organizations.revokeToken("acme", { tokenId: "0".repeat(24) }));
    expect(unknown).toMatchObject({ code: "HUB_NOT_FOUND", message: expect.not.stringContaining("2026-08-12") });
  });
});

describe("Against the local Hub, the same client", () => {
  test.each(clientCalls)("succeeds: $operation", async ({ run }) => {
    const hub = await LocalHub.launch({ attempts: 1 });
    onTestFinished(() => hub.close());
    const logger = createMemoryLogger();
    const client = new HubClient({ hubUrl: hub.url, token: "hf_local", logger });
    await run(client, await localWorld(hub, client));
    expect(logger.lines).toEqual([]);
  });
});

/** Returns the IDs of a local Hub's data, including a webhook that has delivered once. */
async function localWorld(hub: LocalHub, client: HubClient): Promise<World> {
  const target = await openTarget();
  const repo = { type: "dataset", name: "me/data" } as const;
  const { id } = await client.webhooks.create({ url: target.url, watched: [repo], domains: ["repo"] });
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

import { beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { deriveTokenId } from "../../../src/local-hub/accounts.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { rejectionOf } from "../scripted-hub.ts";
import { type CurrentHub, clientCalls, openCurrentHub, sampleId, type World } from "./current-hub.ts";
import { operations } from "./operations.ts";

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

test("There is one call for each operation of the current Hub", () => {
  const ids = operations.filter(({ change }) => change !== "removed").map(({ operationId }) => operationId);
  expect(Object.keys(clientCalls).sort()).toEqual(ids.sort());
});

describe("The client, against the current Hub and against the local Hub,", () => {
  test.each(Object.entries(clientCalls))("succeeds: %s", async (operationId, run) => {
    const { hub, client, warnings } = openClient();
    await run(client, current);
    expect(hub.called).toContain(operationId);
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

import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import server from "./server.ts";

const data = { type: "dataset", name: "local-user/data" } as const;

let hub: LocalHub;
let client: HubClient;
let webhookId: string;

beforeAll(async () => {
  hub = await LocalHub.launch({ runJobs: true });
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const secrets = { HF_TOKEN: "hf_local", WEBHOOK_SECRET: "s3cret" };
  Object.assign(process.env, { HF_ENDPOINT: hub.url, LOG_LEVEL: "silent", JOB_NAMESPACE: "local-user", ...secrets });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const webhook = { url: `${url}/webhooks/auto_retrain`, secret: "s3cret" };
  const watched = { type: "user", name: "local-user" } as const;
  webhookId = (await client.webhooks.create({ ...webhook, watched: [watched], domains: ["repo"] })).id;
  await hub.trigger({ repo: data, event: { scope: "repo", action: "create" } });
});
afterAll(() => Promise.all([hub.close(), server.close()]));

async function commit(files: Record<string, string>, repo: { type: string; name: string } = data) {
  const { oid } = await client.repo(repo).commit({ message: "Change", files });
  await hub.settled();
  await settled(server);
  return oid;
}

describe("The retraining", () => {
  test("ignores commits without data", async () => {
    await commit({ "README.md": "# Data" });
    expect(hub.jobs()).toEqual([]);
  });

  test("starts a job with the commit that changed the data", async () => {
    const revision = await commit({ "data/train.csv": "1" });
    const [job, ...others] = hub.jobs();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ labels: { revision }, environment: { DATASET: data.name, REVISION: revision } });
    const lines = [];
    for await (const { line } of client.jobs.logs(job?.id ?? "", { follow: true })) lines.push(line);
    expect(lines).toContain(`training on ${data.name} ${revision}`);
  });

  test("starts no second job for a commit that is delivered again", async () => {
    const { length } = hub.jobs();
    const [latest] = hub.deliveries(webhookId);
    await client.webhooks.replay(webhookId, latest?.logId ?? "");
    const watched = { type: "dataset", name: data.name } as const;
    const webhook = await client.webhooks.get(webhookId);
    await client.webhooks.create({ url: webhook.url ?? "", secret: "s3cret", watched: [watched], domains: ["repo"] });
    await commit({ "data/train.csv": "2" });
    expect(hub.jobs()).toHaveLength(length + 1);
  });

  test("ignores pull requests and models", async () => {
    const { length } = hub.jobs();
    await client.repo(data).openPullRequest({ title: "More data", files: { "data/more.csv": "3" }, marker: "more" });
    const net = { type: "model", name: "local-user/net" };
    await hub.trigger({ repo: { ...net, type: "model" }, event: { scope: "repo", action: "create" } });
    await commit({ "data/train.csv": "1" }, net);
    expect(hub.jobs()).toHaveLength(length);
  });
});

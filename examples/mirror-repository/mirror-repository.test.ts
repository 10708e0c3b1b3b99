import { uploadFiles } from "@huggingface/hub";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import server from "./server.ts";

const data = { type: "dataset", name: "local-user/data" } as const;
const copy = { type: "dataset", name: "acme/data" } as const;

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const secrets = { HF_TOKEN: "hf_local", WEBHOOK_SECRET: "s3cret" };
  Object.assign(process.env, { HF_ENDPOINT: hub.url, LOG_LEVEL: "silent", TARGET_OWNER: "acme", ...secrets });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const webhook = { url: `${url}/webhooks/mirror_repository`, secret: "s3cret", domains: ["repo"] as const };
  // The target is watched, too: its pushes must not start a loop.
  const watched = [{ type: "user", name: "local-user" } as const, { type: "org", name: "acme" } as const];
  await client.webhooks.create({ ...webhook, domains: ["repo"], watched });
  await hub.trigger({ repo: { ...data, private: true }, event: { scope: "repo", action: "create" } });
});
afterAll(() => Promise.all([hub.close(), server.close()]));

async function allSettled() {
  for (let round = 0; round < 2; round += 1) {
    await hub.settled();
    await settled(server);
  }
}

/** Returns the IDs of the files by path. */
async function files(repo: { type: "dataset"; name: string }) {
  const found = new Map<string, string>();
  for await (const { path, oid } of client.repo(repo).listFiles()) found.set(path, oid);
  return found;
}

describe("The mirror", () => {
  test("copies the files of a dataset to a new dataset with the same visibility", async () => {
    await client.repo(data).commit({ message: "Add", files: { "README.md": "# Data", "data/train.csv": "1" } });
    await allSettled();
    expect(await files(copy)).toEqual(await files(data));
    expect((await client.repo(copy).info()).private).toBe(true);
  });

  test("copies files in LFS", async () => {
    const content = new Blob([new Uint8Array(100_000).fill(7)]);
    const options = { hubUrl: hub.url, accessToken: "hf_local" };
    await uploadFiles({ repo: data, files: [{ path: "data/large.parquet", content }], ...options });
    await allSettled();
    expect(await files(copy)).toEqual(await files(data));
    const inLfs: string[] = [];
    for await (const file of client.repo(copy).listFiles()) if (file.type === "file" && file.lfs) inLfs.push(file.path);
    expect(inLfs).toEqual(["data/large.parquet"]);
  });

  test("deletes files", async () => {
    await client.repo(data).commit({ message: "Delete", files: { "data/train.csv": null } });
    await allSettled();
    expect(await files(copy)).toEqual(await files(data));
  });

  test("makes no commit without a difference", async () => {
    const { sha } = await client.repo(copy).info();
    await hub.trigger({ repo: data, event: { scope: "repo.config", action: "update" } });
    const updatedRefs = [{ ref: "refs/heads/main", oldSha: null, newSha: (await client.repo(data).info()).sha ?? "" }];
    await hub.push(data, { updatedRefs });
    await allSettled();
    expect((await client.repo(copy).info()).sha).toBe(sha);
  });

  test("ignores pull requests", async () => {
    const { sha } = await client.repo(copy).info();
    await client.repo(data).openPullRequest({ title: "Change", files: { "README.md": "# Other" }, marker: "change" });
    await allSettled();
    expect((await client.repo(copy).info()).sha).toBe(sha);
  });
});

import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import server from "./server.ts";

const owner = { type: "user", name: "local-user" } as const;

let hub: LocalHub;
let client: HubClient;
let count = 0;
/** A new private dataset for each test. */
let data: { type: "dataset"; name: string };

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const secrets = { HF_TOKEN: "hf_local", WEBHOOK_SECRET: "s3cret" };
  Object.assign(process.env, { HF_ENDPOINT: hub.url, LOG_LEVEL: "silent", ...secrets });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const webhook = { url: `${url}/webhooks/private_to_public`, secret: "s3cret" };
  await client.webhooks.create({ ...webhook, watched: [owner], domains: ["repo"] });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(async () => {
  data = { type: "dataset", name: `local-user/data-${++count}` };
  await hub.trigger({ repo: { ...data, private: true }, event: { scope: "repo", action: "create" } });
});

async function setVisibility(visibility: "public" | "private") {
  await client.repo(data).setVisibility(visibility);
  await hub.settled();
  await settled(server);
}

/** Returns the title and the description of each discussion. */
async function discussions() {
  const found = [];
  for await (const { num, title } of client.repo(data).discussions()) {
    const [description] = (await client.repo(data).discussion(num)).events;
    found.push({ title, text: description?.type === "comment" ? description.data.latest.raw : "" });
  }
  return found;
}

describe("The checklist for public repositories", () => {
  test("is posted when a repository becomes public", async () => {
    await setVisibility("public");
    const [posted, ...others] = await discussions();
    expect(others).toEqual([]);
    expect(posted?.title).toBe("This repository is public now");
    expect(posted?.text).toContain("- [ ] The data contains no personal data.");
  });

  test("is posted once, even if the repository becomes public again", async () => {
    await setVisibility("public");
    await setVisibility("private");
    await setVisibility("public");
    expect(await discussions()).toHaveLength(1);
  });

  test("is not posted when a repository becomes private, or when other settings change", async () => {
    await setVisibility("private");
    await hub.trigger({ repo: data, event: { scope: "repo.config", action: "update" } });
    await settled(server);
    expect(await discussions()).toEqual([]);
  });
});

import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import server, { reviewMetadata } from "./server.ts";

const data = { type: "dataset", name: "local-user/data" } as const;
const complete = "---\nlicense: mit\ntags: [audio]\ntask_categories:\n- text-classification\n---\n# Data\n";
const withoutLicense = complete.replace("license: mit\n", "");

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const secrets = { HF_TOKEN: "hf_local", WEBHOOK_SECRET: "s3cret" };
  Object.assign(process.env, { HF_ENDPOINT: hub.url, LOG_LEVEL: "silent", ...secrets });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  await client.webhooks.create({
    ...{ url: `${url}/webhooks/metadata_review`, secret: "s3cret" },
    ...{ watched: [{ type: "user", name: "local-user" }], domains: ["repo", "discussion"] },
  });
  await hub.trigger({ repo: data, event: { scope: "repo", action: "create" } });
});
afterAll(() => Promise.all([hub.close(), server.close()]));

const repo = () => client.repo(data);

async function push(files: Record<string, string | null>) {
  await repo().commit({ message: "Change", files });
  await hub.settled();
  await settled(server);
}

/** Returns the discussions with their comments, newest first. */
async function discussions() {
  const found = [];
  for await (const { num, title } of repo().discussions()) {
    const { status, events } = await repo().discussion(num);
    const comments = events.flatMap((event) => (event.type === "comment" ? [event.data.latest.raw] : []));
    found.push({ title, status, comments: comments.map((text) => text.replace(/\s*<!--.*-->/, "")) });
  }
  return found;
}

describe("The metadata review", () => {
  test("ignores pushes that do not change the card", async () => {
    await push({ "data.csv": "1" });
    expect(await discussions()).toEqual([]);
  });

  test("posts the missing metadata in a discussion", async () => {
    await push({ "README.md": withoutLicense });
    const text = "Missing metadata in the card:\n\n- `license`: how the data may be used";
    expect(await discussions()).toEqual([{ title: "Metadata review", status: "open", comments: ["", text] }]);
  });

  test("updates its comment when other metadata is missing", async () => {
    await push({ "README.md": complete.replace("tags: [audio]\n", "") });
    const text = "Missing metadata in the card:\n\n- `tags`: search terms";
    expect(await discussions()).toEqual([{ title: "Metadata review", status: "open", comments: ["", text] }]);
  });

  test("closes the discussion when the metadata is complete, and reopens it later", async () => {
    await push({ "README.md": complete });
    expect(await discussions()).toMatchObject([{ status: "closed" }]);
    await push({ "README.md": null });
    expect(await discussions()).toMatchObject([{ status: "open" }]);
  });

  test("ignores pull requests", async () => {
    await repo().openPullRequest({ title: "Add a card", files: { "README.md": "# Card" }, marker: "card" });
    await hub.settled();
    await settled(server);
    const [, review] = await discussions();
    expect(review?.comments.at(-1)).not.toContain("tags");
  });
});

describe("The review of the metadata", () => {
  const metadata = { license: "mit", tags: ["audio"], pipeline_tag: "text-classification" };

  test("accepts complete metadata", () => {
    expect(reviewMetadata("model", metadata)).toBeUndefined();
  });

  test.each([undefined, null, "", []])("reports the value %j", (license) => {
    const report = reviewMetadata("model", { ...metadata, license });
    expect(report).toBe("Missing metadata in the card:\n\n- `license`: how the model may be used");
  });

  test("lists all keys of a repository without a card", () => {
    expect(reviewMetadata("dataset")?.match(/^- /gm)).toHaveLength(3);
  });
});

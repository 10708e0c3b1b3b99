import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LocalHub } from "../../../../src/local-hub.ts";
import { openLocalHub, restart, stateFile } from "../../support/hub.ts";
import { openTarget } from "../../support/target.ts";

const Bucket = "store";
const repo = { type: "bucket", name: "me/store" } as const;
const large = "0123456789".repeat(200_000);

function connect(hub: LocalHub): S3Client {
  const s3 = new S3Client({ ...hub.bucketConnection("me"), maxAttempts: 1 });
  onTestFinished(() => s3.destroy());
  return s3;
}

async function get(s3: S3Client, key: string): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key }));
  return Body?.transformToString();
}

test("Writes and deletions of objects fire the webhooks of the bucket", async () => {
  const target = await openTarget();
  const hub = await openLocalHub();
  hub.hub.createBucket(repo.name);
  await hub.create({ url: target.url, watched: [repo], domains: ["repo"] });
  const s3 = connect(hub.hub);
  await s3.send(new PutObjectCommand({ Bucket, Key: "data/train.txt", Body: "content" }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key: "data/train.txt" }));
  // These requests change nothing.
  await s3.send(new DeleteObjectCommand({ Bucket, Key: "data/train.txt" }));
  await get(s3, "data/train.txt").catch(() => undefined);
  await hub.hub.settled();
  expect(target.payloads).toMatchObject([
    {
      event: { scope: "repo.content", action: "update" },
      repo: { ...repo, private: true, url: { web: `${hub.url}/buckets/me/store` } },
      updatedFiles: [
        { path: "data/train.txt", action: "add", size: 7, xetHash: expect.stringMatching(/^[\da-f]{64}$/) },
      ],
    },
    { updatedFiles: [{ path: "data/train.txt", action: "delete" }] },
  ]);
  expect(target.payloads[0]).not.toHaveProperty("updatedRefs");
});

test("A new bucket fires an event once", async () => {
  const target = await openTarget();
  const hub = await openLocalHub();
  await hub.create({ url: target.url, watched: [{ type: "user", name: "me" }], domains: ["repo"] });
  const variables = hub.hub.createBucket(repo.name);
  expect(hub.hub.createBucket(repo.name)).toEqual(variables);
  expect(variables).toMatchObject({ INBOX_URL: "hf://buckets/me/store", AWS_ENDPOINT_URL_S3: `${hub.url}/s3/me` });
  await hub.hub.settled();
  expect(target.payloads).toMatchObject([{ event: { scope: "repo", action: "create" }, repo }]);
  expect(hub.hub.createBucket("short").INBOX_URL).toBe("hf://buckets/local-user/short");
  expect(() => hub.hub.createBucket("me/a/b")).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
});

describe("The objects of a bucket", () => {
  test("are kept in the state file and next to it", async () => {
    const state = stateFile();
    const first = await openLocalHub({ state });
    first.hub.createBucket(repo.name);
    const s3 = connect(first.hub);
    await s3.send(new PutObjectCommand({ Bucket, Key: "large", Body: large }));
    await s3.send(new PutObjectCommand({ Bucket, Key: "small", Body: "small" }));
    const folder = `${state}.objects`;
    expect(readdirSync(folder)).toHaveLength(1);
    const second = await restart(first, { state });
    // A killed process leaves such a file.
    writeFileSync(join(folder, "unused"), "");
    const client = connect(second.hub);
    expect([await get(client, "large"), await get(client, "small")]).toEqual([large, "small"]);
    expect(existsSync(join(folder, "unused"))).toBe(false);
    await client.send(new PutObjectCommand({ Bucket, Key: "large", Body: "small" }));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("are deleted with the bucket", async () => {
    const state = stateFile();
    const hub = await openLocalHub({ state });
    hub.hub.createBucket(repo.name);
    const s3 = connect(hub.hub);
    await s3.send(new PutObjectCommand({ Bucket, Key: "large", Body: large }));
    await hub.trigger({ repo, event: { scope: "repo", action: "delete" } });
    expect(readdirSync(`${state}.objects`)).toEqual([]);
    await expect(get(s3, "large")).rejects.toMatchObject({ name: "NoSuchBucket" });
    hub.hub.createBucket(repo.name);
    await expect(get(s3, "large")).rejects.toMatchObject({ name: "NoSuchKey" });
  });
});

import { existsSync, readdirSync } from "node:fs";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { expect, onTestFinished, test, vi } from "vitest";
import { BucketFaults } from "../../../../src/local-hub/s3/faults.ts";
import type { LocalHub } from "../../../../src/local-hub.ts";
import { openLocalHub, stateFile } from "../../support/hub.ts";

/** A bucket of a local Hub with a state file. */
interface OpenedBucket {
  hub: LocalHub;
  s3: S3Client;
  /** Returns the names of the files that contain bodies. */
  files(): string[];
}

// Bodies of more than 1 MiB are stored in files.
const large = { Bucket: "store", Key: "large", Body: "0123456789".repeat(150_000) };

async function openBucket(): Promise<OpenedBucket> {
  const state = stateFile();
  const { hub } = await openLocalHub({ state });
  hub.createBucket("me/store");
  const s3 = new S3Client({ ...hub.bucketConnection("me"), maxAttempts: 1 });
  onTestFinished(() => s3.destroy());
  const folder = `${state}.objects`;
  return { hub, s3, files: () => (existsSync(folder) ? readdirSync(folder) : []) };
}

test.each<[reason: string, code: string, conditions: Partial<PutObjectCommand["input"]>]>([
  ["its body does not match its checksum", "BadDigest", { ContentMD5: Buffer.alloc(16).toString("base64") }],
  ["its condition does not hold", "NoSuchKey", { IfMatch: '"0123"' }],
  ["the local Hub is set to fail it", "SlowDown", {}],
])("A large object leaves no file behind if %s", async (_reason, code, conditions) => {
  const { hub, s3, files } = await openBucket();
  if (code === "SlowDown") hub.setBucketFaults([{ kind: "error", status: 503 }]);
  await expect(s3.send(new PutObjectCommand({ ...large, ...conditions }))).rejects.toMatchObject({ name: code });
  expect(files()).toEqual([]);
});

test("A large object is refused and leaves no file behind if its bucket is deleted during the upload", async () => {
  const { hub, s3, files } = await openBucket();
  const repo = { type: "bucket", name: "me/store" } as const;
  const wait = vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce(async () => {
    await hub.trigger({ repo, event: { scope: "repo", action: "delete" } });
    hub.createBucket(repo.name);
    return true;
  });
  onTestFinished(() => wait.mockRestore());
  await expect(s3.send(new PutObjectCommand(large))).rejects.toMatchObject({ name: "NoSuchBucket" });
  expect(files()).toEqual([]);
});

test.each<[change: string, (bucket: OpenedBucket) => unknown]>([
  ["the object is deleted", ({ s3 }) => s3.send(new DeleteObjectCommand({ Bucket: "store", Key: "large" }))],
  ["the local Hub is reset", ({ hub }) => hub.reset()],
])("The file of a large object is deleted when %s", async (_change, change) => {
  const bucket = await openBucket();
  await bucket.s3.send(new PutObjectCommand(large));
  expect(bucket.files()).toHaveLength(1);
  await change(bucket);
  expect(bucket.files()).toEqual([]);
});

test("A large object is stored again after a reset", async () => {
  const { hub, s3, files } = await openBucket();
  await s3.send(new PutObjectCommand(large));
  hub.reset();
  hub.createBucket("me/store");
  await s3.send(new PutObjectCommand(large));
  expect(files()).toHaveLength(1);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: "store", Key: "large" }));
  expect(await Body?.transformToString()).toBe(large.Body);
});

import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import { expect, onTestFinished, test, vi } from "vitest";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { ObjectBodies } from "../../../src/local-hub/store/object-store.ts";
import type { LocalHub } from "../../../src/local-hub.ts";
import type { MemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { connectS3, readObject } from "../support/bucket.ts";
import { openLocalHub, restart, stateFile } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

/** A bucket of a local Hub with a state file. */
interface OpenedBucket {
  hub: LocalHub;
  s3: S3Client;
  log: MemoryLogger;
  /** Returns the names of the files that contain bodies. */
  files(): string[];
}

// Bodies of more than 1 MiB are stored in files.
const large = { Bucket: "store", Key: "large", Body: "0123456789".repeat(150_000) };

async function openBucket(): Promise<OpenedBucket> {
  const state = stateFile();
  const { hub, log } = await openLocalHub({ state });
  hub.createBucket("me/store");
  const s3 = connectS3(hub);
  const folder = `${state}.objects`;
  return { hub, s3, log, files: () => (existsSync(folder) ? readdirSync(folder) : []) };
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

test.each<[string, (sending: ClientRequest) => unknown]>([
  ["ends its connection", (sending) => sending.destroy()],
  ["resets its connection", (sending) => sending.socket?.resetAndDestroy()],
])("A large object whose client %s leaves no file behind, and is no failure of the local Hub", async (_, stop) => {
  const { hub, files, log } = await openBucket();
  const { endpoint, credentials } = hub.bucketConnection("me");
  const client = new AwsClient({ ...credentials, service: "s3", region: "us-east-1" });
  const headers = { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const signed = await client.sign(`${endpoint}/store/large`, { method: "PUT", headers });
  const sending = request(signed.url, {
    method: "PUT",
    headers: { ...Object.fromEntries(signed.headers), "content-length": 2_000_000 },
  }).on("error", () => {});
  sending.write(large.Body);
  await waitFor(() => expect(files()).toHaveLength(1), { interval: 5 });
  stop(sending);
  await waitFor(() => expect(files()).toEqual([]), { interval: 5 });
  await hub.close();
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
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
  expect(await readObject(s3, "large")).toBe(large.Body);
});

const Bucket = "store";
const repo = { type: "bucket", name: "me/store" } as const;

test("Writes and deletions of objects fire the webhooks of the bucket", async () => {
  const target = await openTarget();
  const hub = await openLocalHub();
  hub.hub.createBucket(repo.name);
  await hub.create({ url: target.url, watched: [repo], domains: ["repo"] });
  const s3 = connectS3(hub.hub);
  const Key = "data/train.txt";
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: "content" }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  // These requests change nothing.
  await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  await readObject(s3, Key).catch(() => undefined);
  await hub.hub.settled();
  const xetHash = expect.stringMatching(/^[\da-f]{64}$/);
  expect(target.payloads).toMatchObject([
    {
      event: { scope: "repo.content", action: "update" },
      repo: { ...repo, private: true, url: { web: `${hub.url}/buckets/me/store` } },
      updatedFiles: [{ path: Key, action: "add", size: 7, xetHash }],
    },
    { updatedFiles: [{ path: Key, action: "delete" }] },
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

test("The objects of a bucket are kept in the state file and next to it, and deleted with the bucket", async () => {
  const state = stateFile();
  const first = await openLocalHub({ state });
  first.hub.createBucket(repo.name);
  const s3 = connectS3(first.hub);
  await s3.send(new PutObjectCommand(large));
  await s3.send(new PutObjectCommand({ ...large, Key: "replaced" }));
  await s3.send(new PutObjectCommand({ ...large, Key: "small", Body: "small" }));
  const files = () => readdirSync(`${state}.objects`);
  expect(files()).toHaveLength(2);
  const hub = await restart(first, { state });
  // A killed process leaves such a file.
  writeFileSync(join(`${state}.objects`, "unused"), "");
  const client = connectS3(hub.hub);
  expect([await readObject(client, "large"), await readObject(client, "small")]).toEqual([large.Body, "small"]);
  expect(files()).not.toContain("unused");
  await client.send(new PutObjectCommand({ ...large, Key: "replaced", Body: "small" }));
  expect(files()).toHaveLength(1);
  await hub.trigger({ repo, event: { scope: "repo", action: "delete" } });
  expect(files()).toEqual([]);
  await expect(readObject(client, "large")).rejects.toMatchObject({ name: "NoSuchBucket" });
  hub.hub.createBucket(repo.name);
  await expect(readObject(client, "large")).rejects.toMatchObject({ name: "NoSuchKey" });
});

const halfMebibyte = new Uint8Array(512 * 1024);

async function* interruptedAfter(chunks: number): AsyncGenerator<Uint8Array> {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield halfMebibyte;
  throw new Error("The client has disconnected.");
}

test.each([0, 1, 3, 5])("An upload that is interrupted after %i chunks leaves no file behind", async (chunks) => {
  const folder = createFolder();
  const bodies = new ObjectBodies({ folder, isUsed: () => true });
  await expect(bodies.receive(interruptedAfter(chunks))).rejects.toThrow("disconnected");
  expect(readdirSync(folder)).toEqual([]);
});

test("An upload that is interrupted after the local Hub has closed leaves no folder behind", async () => {
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const bodies = new ObjectBodies({ folder: undefined, isUsed: () => false });
  async function* interrupted() {
    yield Buffer.from(large.Body);
    expect(readdirSync(folder)).toHaveLength(1);
    bodies.close();
    throw new Error("aborted");
  }
  await expect(bodies.receive(interrupted())).rejects.toThrow("aborted");
  expect(readdirSync(folder)).toEqual([]);
});

const descriptors = "/proc/self/fd";

/** Returns the files in a folder that this process has opened. */
function openFiles(folder: string): string[] {
  const targets = readdirSync(descriptors).map((descriptor) => {
    try {
      return readlinkSync(`${descriptors}/${descriptor}`);
    } catch {
      // The descriptor of the listed folder is closed.
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(folder));
}

test.skipIf(!existsSync(descriptors))("A received or interrupted upload leaves no file open", async () => {
  const folder = createFolder();
  const bodies = new ObjectBodies({ folder, isUsed: () => true });
  const { file } = await bodies.receive(new Blob([halfMebibyte, halfMebibyte, halfMebibyte]).stream());
  expect(readdirSync(folder)).toEqual([file]);
  await expect(bodies.receive(interruptedAfter(3))).rejects.toThrow("disconnected");
  expect(openFiles(folder)).toEqual([]);
});

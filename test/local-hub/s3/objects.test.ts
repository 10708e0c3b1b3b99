import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { ObjectBodies, ObjectStore } from "../../../src/local-hub/store/object-store.ts";
import type { LocalHub } from "../../../src/local-hub.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { connectS3, readObject } from "../support/bucket.ts";
import { openLocalHub, restart, stateFile, type TestHub, type TestHubOptions } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

/** A bucket of a local Hub with a state file. */
interface OpenedBucket {
  hub: LocalHub;
  api: TestHub;
  s3: S3Client;
  state: string;
  /** Starts an upload in parts. */
  start: () => Promise<Upload>;
  /** Returns the names of the files that contain parts or objects. */
  files: () => string[];
}

// Bodies of more than 1 MiB are stored in files.
const large = { Bucket: "store", Key: "large", Body: "0123456789".repeat(150_000) };

async function openBucket({
  config,
  ...options
}: TestHubOptions & { config?: S3ClientConfig } = {}): Promise<OpenedBucket> {
  const state = stateFile();
  const api = await openLocalHub({ state, ...options });
  const { hub } = api;
  hub.createBucket("me/store");
  const s3 = connectS3(hub, config);
  const folder = `${state}.objects`;
  const files = () => (existsSync(folder) ? readdirSync(folder) : []);
  return { hub, api, s3, state, files, start: () => new Upload(s3).start() };
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
  const { hub, api, files } = await openBucket();
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
  expect(api.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("A large object is refused and leaves no file behind if its bucket is deleted during the upload", async () => {
  const { hub, s3, files } = await openBucket();
  const repo = { type: "bucket", name: "me/store" } as const;
  using _wait = vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce(async () => {
    await hub.trigger({ repo, event: { scope: "repo", action: "delete" } });
    hub.createBucket(repo.name);
    return true;
  });
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

const name = { Bucket: "store", Key: "file" };
const mebibyte = 1024 * 1024;
const day = 24 * 60 * 60 * 1_000;

/** Each part but the last has at least this size. */
const firstPart = randomBytes(5 * mebibyte);

/** A started upload, with the content of its last part. */
class Upload {
  readonly s3: S3Client;
  readonly last = randomBytes(2 * mebibyte);
  id: string | undefined;

  constructor(s3: S3Client) {
    this.s3 = s3;
  }

  async start(): Promise<this> {
    this.id = (await this.s3.send(new CreateMultipartUploadCommand({ ...name, ContentType: "text/x-test" }))).UploadId;
    return this;
  }

  async put(PartNumber: number, Body: Uint8Array): Promise<{ PartNumber: number; ETag: string | undefined }> {
    const { ETag } = await this.s3.send(new UploadPartCommand({ ...name, UploadId: this.id, PartNumber, Body }));
    return { PartNumber, ETag };
  }

  async putLast() {
    return [await this.put(7, this.last)];
  }

  /** Uploads both parts, the last one first. */
  async putBoth() {
    const last = await this.putLast();
    return [await this.put(2, firstPart), ...last];
  }

  complete(
    Parts: { PartNumber: number; ETag: string | undefined }[],
    conditions: Partial<CompleteMultipartUploadCommandInput> = {},
  ) {
    const input = { ...name, UploadId: this.id, MultipartUpload: { Parts }, ...conditions };
    return this.s3.send(new CompleteMultipartUploadCommand(input));
  }

  abort() {
    return this.s3.send(new AbortMultipartUploadCommand({ ...name, UploadId: this.id }));
  }

  async read(): Promise<Buffer> {
    const { Body } = await this.s3.send(new GetObjectCommand(name));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }
}

function named(code: string): object {
  return expect.objectContaining({ name: code });
}

describe("An upload in parts", { tags: "slow" }, () => {
  test.each<[string, S3ClientConfig]>([
    ["with the settings of the Hub", {}],
    ["with the checksums of current clients", { requestChecksumCalculation: "WHEN_SUPPORTED" }],
  ])("stores an object, deletes the parts, and fires one event, %s", async (_title, config) => {
    const { hub, api, start, s3, files } = await openBucket({ config });
    const target = await openTarget();
    await api.create({ url: target.url, watched: [{ type: "bucket", name: "me/store" }] });
    const upload = await start();
    const parts = await upload.putBoth();
    const { ETag } = await upload.complete(parts);
    const md5 = (content: Uint8Array) => createHash("md5").update(content).digest();
    const digest = md5(Buffer.concat([md5(firstPart), md5(upload.last)])).toString("hex");
    expect(ETag).toBe(`"${digest}-2"`);
    expect(Buffer.compare(await upload.read(), Buffer.concat([firstPart, upload.last]))).toBe(0);
    expect(await s3.send(new GetObjectCommand(name))).toMatchObject({ ETag, ContentType: "text/x-test" });
    expect(files()).toHaveLength(1);
    await hub.settled();
    expect(target.requests.map(({ body }) => body)).toEqual([expect.stringContaining(`"size":${7 * mebibyte}`)]);
  });

  test("uses the latest version of a part, and only the listed parts", async () => {
    const { start } = await openBucket();
    const upload = await start();
    const old = await upload.put(1, randomBytes(10));
    const part = await upload.put(1, upload.last);
    await upload.put(2, randomBytes(10));
    await expect(upload.complete([old])).rejects.toEqual(named("InvalidPart"));
    await upload.complete([part]);
    expect(Buffer.compare(await upload.read(), upload.last)).toBe(0);
  });

  test("is not completed with invalid parts, and can then be completed", async () => {
    const upload = await (await openBucket()).start();
    for (const number of [0, 10_001])
      await expect(upload.put(number, Buffer.from("x"))).rejects.toEqual(named("InvalidArgument"));
    const small = await upload.put(1, upload.last);
    const parts = await upload.putBoth();
    const invalid: [code: string, parts: typeof parts][] = [
      ["EntityTooSmall", [small, ...parts]],
      ["InvalidPart", parts.map(({ PartNumber }) => ({ PartNumber, ETag: '"0"' }))],
      ["InvalidPart", [{ PartNumber: 3, ETag: '"0"' }]],
      ["InvalidPartOrder", parts.toReversed()],
      ["InvalidPartOrder", [...parts.slice(0, 1), ...parts]],
      ["MalformedXML", []],
    ];
    for (const [code, listed] of invalid) await expect(upload.complete(listed)).rejects.toEqual(named(code));
    await upload.complete(parts);
  });

  test("checks its conditions when it is completed", async () => {
    const { start, s3, files } = await openBucket();
    const [one, other] = [await start(), await start()];
    const [parts, otherParts] = [await one.putLast(), await other.putLast()];
    await one.complete(parts, { IfNoneMatch: "*" });
    await expect(other.complete(otherParts, { IfNoneMatch: "*" })).rejects.toEqual(named("PreconditionFailed"));
    const { ETag } = await s3.send(new GetObjectCommand(name));
    // The object of the first upload, and the part of the other upload.
    expect(files()).toHaveLength(2);
    await other.complete(otherParts, { IfMatch: ETag });
    expect(Buffer.compare(await one.read(), other.last)).toBe(0);
  });

  test("is completed by exactly one of two concurrent uploads with If-None-Match", async () => {
    const { start } = await openBucket();
    const uploads = [await start(), await start()];
    const parts = await Promise.all(uploads.map((upload) => upload.putLast()));
    const results = await Promise.allSettled(
      uploads.map((upload, index) => upload.complete(parts[index] ?? [], { IfNoneMatch: "*" })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("can be completed again by a client that lost the response, without another event", async () => {
    const { start, api, hub } = await openBucket();
    const target = await openTarget();
    await api.create({ url: target.url, watched: [{ type: "bucket", name: "me/store" }] });
    const upload = await start();
    const parts = await upload.putBoth();
    const { ETag } = await upload.complete(parts);
    expect((await upload.complete(parts)).ETag).toBe(ETag);
    await expect(upload.complete(parts.slice(0, 1))).rejects.toEqual(named("NoSuchUpload"));
    await expect(upload.put(1, upload.last)).rejects.toEqual(named("NoSuchUpload"));
    await expect(upload.abort()).rejects.toEqual(named("NoSuchUpload"));
    await hub.settled();
    expect(target.requests).toHaveLength(1);
  });

  test.each<[string, (completeFirst: () => Promise<unknown>) => unknown]>([
    [
      "joins the parts",
      (completeFirst) => {
        const stream = vi.spyOn(ObjectStore.prototype, "stream").mockImplementationOnce(async function* (
          this: ObjectStore,
          ...part
        ) {
          stream.mockRestore();
          await completeFirst();
          yield* this.stream(...part);
        });
      },
    ],
    [
      "stores the object",
      (completeFirst) => {
        const wait = vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce(async () => {
          wait.mockRestore();
          await completeFirst();
          return true;
        });
      },
    ],
  ])("can be completed by two requests at once, of which one is faster before the other %s", async (_, prepare) => {
    const { start, files } = await openBucket();
    const upload = await start();
    const parts = await upload.putLast();
    prepare(() => upload.complete(parts));
    const { ETag } = await upload.complete(parts);
    expect((await upload.complete(parts)).ETag).toBe(ETag);
    expect(Buffer.compare(await upload.read(), upload.last)).toBe(0);
    expect(files()).toHaveLength(1);
  });

  test("is deleted when it is aborted, also while a part or the end arrives", async () => {
    const { start, files } = await openBucket();
    const upload = await start();
    const parts = await upload.putLast();
    const abortFirst = () =>
      vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce(async () => {
        wait.mockRestore();
        await upload.abort();
        return true;
      });
    let wait = abortFirst();
    await expect(upload.complete(parts)).rejects.toEqual(named("NoSuchUpload"));
    await upload.start();
    await upload.putLast();
    wait = abortFirst();
    await expect(upload.put(1, upload.last)).rejects.toEqual(named("NoSuchUpload"));
    expect(files()).toHaveLength(0);
  });

  test("is not stored if a part does not match its checksums", async () => {
    const { s3, start, files } = await openBucket();
    const { id: UploadId } = await start();
    const part = { ...name, UploadId, PartNumber: 1, Body: Buffer.alloc(2 * mebibyte) };
    for (const wrong of [{ ChecksumCRC32: "AAAAAA==" }, { ChecksumSHA256: Buffer.alloc(32).toString("base64") }]) {
      await expect(s3.send(new UploadPartCommand({ ...part, ...wrong }))).rejects.toEqual(named("BadDigest"));
      await expect(s3.send(new PutObjectCommand({ ...name, Body: "x", ...wrong }))).rejects.toEqual(named("BadDigest"));
    }
    expect(files()).toHaveLength(0);
  });

  test("requires write access, and the key with which it was started", async () => {
    const { hub, start } = await openBucket();
    const upload = await start();
    const reader = connectS3(hub, hub.bucketConnection("me", { token: "hf_read" }));
    await expect(new Upload(reader).start()).rejects.toEqual(named("AccessDenied"));
    const other = { ...name, Key: "other", UploadId: upload.id, PartNumber: 1, Body: "x" };
    await expect(upload.s3.send(new UploadPartCommand(other))).rejects.toEqual(named("NoSuchUpload"));
  });
});

describe("Uploads that are not complete", { tags: "slow" }, () => {
  /** Replaces the list of uploads with 1,000 entries. */
  function listThousand(ids: readonly string[]): void {
    const thousand = Array.from({ length: 1_000 }, () => ids).flat();
    const bucketIds = vi
      .spyOn(ObjectStore.prototype, "bucketIds")
      .mockImplementation((start) => (start === "upload:" ? thousand : []));
    onTestFinished(() => bucketIds.mockRestore());
  }

  test("are limited in number and in size", async () => {
    const { start } = await openBucket();
    const upload = await start();
    listThousand(["upload:x"]);
    await expect(start()).rejects.toEqual(named("QuotaExceeded"));
    const totals = { count: 1, size: 50 * 1024 * mebibyte, modifiedAt: 0 };
    using _sizes = vi.spyOn(ObjectStore.prototype, "totals").mockReturnValue(totals);
    // A large body could still be sent when the connection closes.
    await expect(upload.put(1, Buffer.from("x"))).rejects.toEqual(named("QuotaExceeded"));
  });

  test("are not limited by completed uploads", async () => {
    const { hub, start } = await openBucket();
    const upload = await start();
    await upload.complete([await upload.put(1, upload.last)]);
    listThousand(contextOf(hub).store.objects.bucketIds("upload:"));
    await expect(start()).resolves.toMatchObject({ id: expect.any(String) });
    await expect(start()).rejects.toEqual(named("QuotaExceeded"));
  });

  test("are listed with their parts, on pages", async () => {
    const { s3, start } = await openBucket();
    const upload = await start();
    const done = await start();
    await done.complete(await done.putLast());
    await upload.putBoth();
    const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket: "store" }));
    expect(Uploads?.map(({ Key, UploadId }) => [Key, UploadId])).toEqual([["file", upload.id]]);
    const list = { ...name, UploadId: upload.id, MaxParts: 1 };
    const page = await s3.send(new ListPartsCommand(list));
    expect(page).toMatchObject({ IsTruncated: true, Parts: [{ PartNumber: 2, Size: 5 * mebibyte }] });
    const PartNumberMarker = page.NextPartNumberMarker;
    const next = await s3.send(new ListPartsCommand({ ...list, PartNumberMarker }));
    expect(next).toMatchObject({ IsTruncated: false, Parts: [{ PartNumber: 7 }] });
    // AWS's client for JavaScript requests pages until none has a marker.
    expect(next.NextPartNumberMarker).toBeUndefined();
  });

  test("continue after a restart", async () => {
    const { api, state, start } = await openBucket();
    const upload = await start();
    const parts = await upload.putLast();
    const { hub } = await restart(api, { state });
    const later = new Upload(connectS3(hub));
    later.id = upload.id;
    await later.complete(parts);
    expect((await later.read()).byteLength).toBe(2 * mebibyte);
  });

  test.each<[string, (opened: OpenedBucket, setNow: (now: number) => void) => unknown]>([
    ["the bucket is deleted", ({ api }) => api.request("DELETE /api/buckets/me/store")],
    ["the local Hub is reset", ({ hub }) => hub.reset()],
    [
      "another upload starts a day later",
      ({ start }, setNow) => {
        setNow(Date.now() + day + 1);
        return start();
      },
    ],
  ])("are deleted with their files when %s", async (_change, change) => {
    let now = Date.now();
    const opened = await openBucket({ now: () => now, config: { systemClockOffset: 0 } });
    await (await opened.start()).putLast();
    expect(opened.files()).toHaveLength(1);
    await change(opened, (later) => {
      now = later;
    });
    expect(opened.files()).toHaveLength(0);
  });
});

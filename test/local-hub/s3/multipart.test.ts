// @module-tag slow

import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { ObjectStore } from "../../../src/local-hub/store/object-store.ts";
import type { LocalHub } from "../../../src/local-hub.ts";
import { connectS3 } from "../support/bucket.ts";
import { openLocalHub, restart, stateFile, type TestHub, type TestHubOptions } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

const name = { Bucket: "store", Key: "file" };
const mebibyte = 1024 * 1024;
const day = 24 * 60 * 60 * 1_000;

/** A started upload, with the content of its two parts. */
class Upload {
  readonly s3: S3Client;
  readonly first = randomBytes(5 * mebibyte);
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

  /** Uploads both parts, the last one first. */
  async putBoth() {
    const last = await this.put(7, this.last);
    return [await this.put(2, this.first), last];
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

interface Opened {
  hub: LocalHub;
  test: TestHub;
  s3: S3Client;
  state: string;
  start: () => Promise<Upload>;
  /** Returns the number of files that contain parts or objects. */
  files: () => number;
}

async function openBucket({ config, ...options }: TestHubOptions & { config?: S3ClientConfig } = {}): Promise<Opened> {
  const state = stateFile();
  const opened = await openLocalHub({ state, ...options });
  opened.hub.createBucket("me/store");
  const s3 = connectS3(opened.hub, config);
  const files = () => (existsSync(`${state}.objects`) ? readdirSync(`${state}.objects`).length : 0);
  return { hub: opened.hub, test: opened, s3, state, start: () => new Upload(s3).start(), files };
}

function named(code: string): object {
  return expect.objectContaining({ name: code });
}

describe("An upload in parts", () => {
  test.each<[string, S3ClientConfig]>([
    ["with the settings of the Hub", {}],
    ["with the checksums of current clients", { requestChecksumCalculation: "WHEN_SUPPORTED" }],
  ])("stores an object, deletes the parts, and fires one event, %s", async (_title, config) => {
    const { hub, test: api, start, s3, files } = await openBucket({ config });
    const target = await openTarget();
    await api.create({ url: target.url, watched: [{ type: "bucket", name: "me/store" }] });
    const upload = await start();
    const parts = await upload.putBoth();
    const { ETag } = await upload.complete(parts);
    const md5 = (content: Uint8Array) => createHash("md5").update(content).digest();
    const digest = md5(Buffer.concat([md5(upload.first), md5(upload.last)])).toString("hex");
    expect(ETag).toBe(`"${digest}-2"`);
    expect(Buffer.compare(await upload.read(), Buffer.concat([upload.first, upload.last]))).toBe(0);
    expect(await s3.send(new GetObjectCommand(name))).toMatchObject({ ETag, ContentType: "text/x-test" });
    expect(files()).toBe(1);
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

  test.each<[code: string, change: (parts: { PartNumber: number; ETag: string | undefined }[]) => typeof parts]>([
    ["InvalidPart", (parts) => parts.map(({ PartNumber }) => ({ PartNumber, ETag: '"0"' }))],
    ["InvalidPart", (parts) => [{ PartNumber: 1, ETag: '"0"' }, ...parts]],
    ["InvalidPartOrder", (parts) => parts.toReversed()],
    ["InvalidPartOrder", ([first]) => [first, first].flatMap((part) => part ?? [])],
    ["MalformedXML", () => []],
  ])("is not completed with invalid parts (%s), and can then be completed", async (code, change) => {
    const { start } = await openBucket();
    const upload = await start();
    const parts = await upload.putBoth();
    await expect(upload.complete(change(parts))).rejects.toEqual(named(code));
    await upload.complete(parts);
  });

  test("requires at least 5 MiB in each part but the last", async () => {
    const { start } = await openBucket();
    const upload = await start();
    const parts = [await upload.put(1, upload.last), await upload.put(2, upload.first)];
    await expect(upload.complete(parts)).rejects.toEqual(named("EntityTooSmall"));
  });

  test.each([0, 10_001])("has no part %i", async (number) => {
    const { start } = await openBucket();
    await expect((await start()).put(number, Buffer.from("x"))).rejects.toEqual(named("InvalidArgument"));
  });

  test("checks its conditions when it is completed", async () => {
    const { start, s3, files } = await openBucket();
    const [one, other] = [await start(), await start()];
    const [parts, otherParts] = [await one.putBoth(), await other.putBoth()];
    await one.complete(parts, { IfNoneMatch: "*" });
    await expect(other.complete(otherParts, { IfNoneMatch: "*" })).rejects.toEqual(named("PreconditionFailed"));
    const { ETag } = await s3.send(new GetObjectCommand(name));
    // The object of the first upload, and the parts of the other upload.
    expect(files()).toBe(3);
    await other.complete(otherParts, { IfMatch: ETag });
    expect(Buffer.compare(await one.read(), Buffer.concat([other.first, other.last]))).toBe(0);
  });

  test("is completed by exactly one of two concurrent uploads with If-None-Match", async () => {
    const { start } = await openBucket();
    const uploads = [await start(), await start()];
    const parts = await Promise.all(uploads.map((upload) => upload.putBoth()));
    const results = await Promise.allSettled(
      uploads.map((upload, index) => upload.complete(parts[index] ?? [], { IfNoneMatch: "*" })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("can be completed again by a client that lost the response, without another event", async () => {
    const { start, test: api, hub } = await openBucket();
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
    const parts = await upload.putBoth();
    prepare(() => upload.complete(parts));
    const { ETag } = await upload.complete(parts);
    expect((await upload.complete(parts)).ETag).toBe(ETag);
    expect(Buffer.compare(await upload.read(), Buffer.concat([upload.first, upload.last]))).toBe(0);
    expect(files()).toBe(1);
  });

  test("is deleted when it is aborted, also while a part or the end arrives", async () => {
    const { start, files } = await openBucket();
    const upload = await start();
    const parts = await upload.putBoth();
    const abortFirst = () =>
      vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce(async () => {
        wait.mockRestore();
        await upload.abort();
        return true;
      });
    let wait = abortFirst();
    await expect(upload.complete(parts)).rejects.toEqual(named("NoSuchUpload"));
    await upload.start();
    await upload.putBoth();
    wait = abortFirst();
    await expect(upload.put(1, upload.first)).rejects.toEqual(named("NoSuchUpload"));
    expect(files()).toBe(0);
  });

  test("is not stored if a part does not match its checksums", async () => {
    const { s3, start, files } = await openBucket();
    const { id: UploadId } = await start();
    const part = { ...name, UploadId, PartNumber: 1, Body: Buffer.alloc(2 * mebibyte) };
    for (const wrong of [{ ChecksumCRC32: "AAAAAA==" }, { ChecksumSHA256: Buffer.alloc(32).toString("base64") }]) {
      await expect(s3.send(new UploadPartCommand({ ...part, ...wrong }))).rejects.toEqual(named("BadDigest"));
      await expect(s3.send(new PutObjectCommand({ ...name, Body: "x", ...wrong }))).rejects.toEqual(named("BadDigest"));
    }
    expect(files()).toBe(0);
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

describe("Uploads that are not complete", () => {
  test("are limited in number and in size", async () => {
    const { start } = await openBucket();
    const upload = await start();
    const ids = vi
      .spyOn(ObjectStore.prototype, "bucketIds")
      .mockReturnValue(Array.from({ length: 1_000 }, () => "upload:x"));
    onTestFinished(() => ids.mockRestore());
    await expect(start()).rejects.toEqual(named("QuotaExceeded"));
    const totals = { count: 1, size: 50 * 1024 * mebibyte, modifiedAt: 0 };
    const sizes = vi.spyOn(ObjectStore.prototype, "totals").mockReturnValue(totals);
    onTestFinished(() => sizes.mockRestore());
    // A large body could still be sent when the connection closes.
    await expect(upload.put(1, Buffer.from("x"))).rejects.toEqual(named("QuotaExceeded"));
  });

  test("are not limited by completed uploads", async () => {
    const { hub, start } = await openBucket();
    const upload = await start();
    await upload.complete([await upload.put(1, upload.last)]);
    const stored = contextOf(hub).store.objects.bucketIds("upload:");
    const ids = vi
      .spyOn(ObjectStore.prototype, "bucketIds")
      .mockReturnValue(Array.from({ length: 1_000 }, () => stored).flat());
    onTestFinished(() => ids.mockRestore());
    await expect(start()).resolves.toMatchObject({ id: expect.any(String) });
    await expect(start()).rejects.toEqual(named("QuotaExceeded"));
  });

  test("are listed with their parts, on pages", async () => {
    const { s3, start } = await openBucket();
    const upload = await start();
    const done = await start();
    await done.complete(await done.putBoth());
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
    const { test: api, state, start } = await openBucket();
    const upload = await start();
    const parts = await upload.putBoth();
    const { hub } = await restart(api, { state });
    const later = new Upload(connectS3(hub));
    later.id = upload.id;
    await later.complete(parts);
    expect((await later.read()).byteLength).toBe(7 * mebibyte);
  });

  test.each<[string, (opened: Opened, setNow: (now: number) => void) => unknown]>([
    ["the bucket is deleted", ({ test: api }) => api.request("DELETE /api/buckets/me/store")],
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
    await (await opened.start()).putBoth();
    expect(opened.files()).toBe(2);
    await change(opened, (later) => {
      now = later;
    });
    expect(opened.files()).toBe(0);
  });
});

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareLocalHub } from "../support/hub.ts";

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

const Bucket = "store";
const { hub } = await shareLocalHub();
hub.createBucket("me/store");

/** Connects the client of AWS, which throws errors instead of repeating requests. */
function connect({ namespace = "me", token, ...config }: S3ClientConfig & { namespace?: string; token?: string } = {}) {
  const options = token === undefined ? {} : { token };
  return new S3Client({ ...hub.bucketConnection(namespace, options), maxAttempts: 1, logger: silent, ...config });
}

const s3 = connect();
afterAll(() => s3.destroy());

function put(key: string, body: string | Uint8Array = "content", conditions = {}, client = s3) {
  return client.send(new PutObjectCommand({ Bucket, Key: key, Body: body, ...conditions }));
}

async function get(key: string, options = {}): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key, ...options }));
  return Body?.transformToString();
}

/** Changes the requests of a client after they are signed. */
function changeSigned(client: S3Client, change: (request: object) => void): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      if (typeof args.request === "object" && args.request !== null) change(args.request);
      return next(args);
    },
    { step: "finalizeRequest", priority: "low" },
  );
}

/** Returns the status and the code of a failed request. */
async function failureOf(request: Promise<unknown>): Promise<unknown> {
  const error = await request.then(
    () => new Error("The request succeeded."),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error) || !("$metadata" in error)) throw error;
  return [error.$metadata, error.name].map((part) =>
    typeof part === "object" && part !== null && "httpStatusCode" in part ? part.httpStatusCode : part,
  );
}

describe("An object", () => {
  test("has the body, type, tag, and dates with which it was stored", async () => {
    const before = Date.now();
    const { ETag } = await put("a/b c+d(1)'ü.txt", "Grüße", { ContentType: "text/plain" });
    const stored = await s3.send(new GetObjectCommand({ Bucket, Key: "a/b c+d(1)'ü.txt" }));
    expect(await stored.Body?.transformToString()).toBe("Grüße");
    expect(stored).toMatchObject({ ETag, ContentType: "text/plain", ContentLength: 7 });
    const ageMs = (stored.LastModified?.getTime() ?? 0) - before;
    expect(Math.abs(ageMs)).toBeLessThan(5_000);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: "a/b c+d(1)'ü.txt" }));
    expect(head).toMatchObject({ ETag, ContentLength: 7, LastModified: stored.LastModified });
  });

  test("can be empty, and deleted twice", async () => {
    await put("empty", "");
    expect(await get("empty")).toBe("");
    for (const _again of [1, 2]) await s3.send(new DeleteObjectCommand({ Bucket, Key: "empty" }));
    expect(await failureOf(get("empty"))).toEqual([404, "NoSuchKey"]);
    expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key: "empty" })))).toEqual([404, "NotFound"]);
  });

  test("can be larger than the database stores", async () => {
    const large = new Uint8Array(3 * 1024 * 1024).map((_, index) => index % 251);
    await put("large", large);
    const { Body, ContentLength } = await s3.send(new GetObjectCommand({ Bucket, Key: "large" }));
    expect(ContentLength).toBe(large.byteLength);
    expect(Buffer.compare((await Body?.transformToByteArray()) ?? large.subarray(1), large)).toBe(0);
    const part = await s3.send(new GetObjectCommand({ Bucket, Key: "large", Range: "bytes=2000000-2000003" }));
    expect(part).toMatchObject({ ContentRange: "bytes 2000000-2000003/3145728" });
    expect(await part.Body?.transformToByteArray()).toEqual(large.subarray(2_000_000, 2_000_004));
    await put("large", "small");
    expect(await get("large")).toBe("small");
  });

  test("can be read in part", async () => {
    await put("range", "0123456789");
    expect(await get("range", { Range: "bytes=2-4" })).toBe("234");
    expect(await get("range", { Range: "bytes=-3" })).toBe("789");
    expect(await failureOf(get("range", { Range: "bytes=10-" }))).toEqual([416, "InvalidRange"]);
  });

  test("cannot have a key with empty, relative, or too long names", async () => {
    for (const key of ["a//b", "a/../b", "a\\b", "a/", "x".repeat(1_025)]) {
      const [status] = [await failureOf(put(key))].flat();
      expect([400, 403], key).toContain(status);
    }
  });

  test("is not stored if its body does not match the checksums", async () => {
    const ContentMD5 = Buffer.alloc(16).toString("base64");
    expect(await failureOf(put("wrong", "content", { ContentMD5 }))).toEqual([400, "BadDigest"]);
    const torn = connect();
    changeSigned(torn, (request) => Object.assign(request, { body: "contenT" }));
    expect(await failureOf(put("wrong", "content", {}, torn))).toEqual([400, "XAmzContentSHA256Mismatch"]);
    expect(await failureOf(get("wrong"))).toEqual([404, "NoSuchKey"]);
  });

  test("cannot be uploaded in chunks with a trailing checksum", async () => {
    const chunked = connect({ requestChecksumCalculation: "WHEN_SUPPORTED" });
    const request = chunked.send(
      new PutObjectCommand({ Bucket, Key: "chunked", Body: Readable.from(["content"]), ContentLength: 7 }),
    );
    expect(await failureOf(request)).toEqual([501, "NotImplemented"]);
  });
});

describe("A condition", () => {
  test("lets exactly one of many concurrent writes store a new key", async () => {
    const bodies = Array.from({ length: 16 }, (_, index) => `writer ${index}`);
    const results = await Promise.all(
      bodies.map((body) => put("race", body, { IfNoneMatch: "*" }).then(() => body, failureOnly)),
    );
    const winners = results.filter((result) => typeof result === "string");
    expect(winners).toHaveLength(1);
    expect(results.filter((result) => typeof result !== "string")).toEqual(
      Array.from({ length: 15 }, () => [412, "PreconditionFailed"]),
    );
    expect(await get("race")).toBe(winners[0]);
  });

  test("replaces only the version with the tag", async () => {
    const { ETag: first } = await put("tagged", "1");
    const { ETag: second } = await put("tagged", "2", { IfMatch: first });
    expect(await failureOf(put("tagged", "3", { IfMatch: first }))).toEqual([412, "PreconditionFailed"]);
    expect(await failureOf(put("tagged", "3", { IfNoneMatch: second }))).toEqual([412, "PreconditionFailed"]);
    expect(await failureOf(put("missing", "3", { IfMatch: first }))).toEqual([404, "NoSuchKey"]);
    expect(await get("tagged")).toBe("2");
  });

  test("does not affect a read, as on the Hub", async () => {
    const { ETag } = await put("read", "1");
    expect(await get("read", { IfNoneMatch: ETag })).toBe("1");
  });
});

function failureOnly(error: unknown): Promise<unknown> {
  return failureOf(Promise.reject(error));
}

describe("A list", () => {
  const keys = ["list/1", "list/12", "list/2", "list/a/1", "list/a/2", "list/b", "list/é & <x>", "list/\u{1F600}"];

  beforeAll(async () => {
    await Promise.all(keys.map((key) => put(key)));
  });

  /** Returns the keys and common prefixes of all pages. */
  async function listAll(input: object): Promise<(string | undefined)[][]> {
    const pages: (string | undefined)[][] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(new ListObjectsV2Command({ Bucket, ...input, ContinuationToken }));
      const { Contents = [], CommonPrefixes = [] } = page;
      pages.push([...Contents.map(({ Key }) => Key), ...CommonPrefixes.map(({ Prefix }) => Prefix)]);
      expect(page.KeyCount).toBe(Contents.length + CommonPrefixes.length);
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return pages;
  }

  test("contains the keys with a prefix, sorted by their UTF-8 bytes", async () => {
    expect(await listAll({ Prefix: "list/" })).toEqual([keys]);
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "list/2" }));
    expect(Contents).toMatchObject([{ Key: "list/2", Size: 7, ETag: expect.any(String) }]);
  });

  test("has pages, and starts after a key", async () => {
    const pages = await listAll({ Prefix: "list/", StartAfter: "list/1", MaxKeys: 2 });
    expect(pages).toEqual([keys.slice(1, 3), keys.slice(3, 5), keys.slice(5, 7), keys.slice(7)]);
  });

  test("groups keys by folder", async () => {
    const pages = await listAll({ Prefix: "list/", Delimiter: "/", MaxKeys: 3, StartAfter: "list/1" });
    expect(pages).toEqual([["list/12", "list/2", "list/a/"], keys.slice(5)]);
  });

  test("encodes keys on request", async () => {
    const input = { Bucket, Prefix: "list/é", EncodingType: "url" as const };
    const { Contents } = await s3.send(new ListObjectsV2Command(input));
    expect(Contents?.[0]?.Key).toBe("list/%C3%A9+%26+%3Cx%3E");
  });

  test("has version 2 only", async () => {
    expect(await failureOf(s3.send(new ListObjectsCommand({ Bucket })))).toEqual([501, "NotImplemented"]);
  });
});

test("Several objects are deleted with one request", async () => {
  await Promise.all(["many/1", "many/2 & 3"].map((key) => put(key)));
  const Objects = ["many/1", "many/2 & 3", "many/4", "many//5"].map((Key) => ({ Key }));
  const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  expect(Deleted).toEqual(Objects.slice(0, 3));
  expect(Errors).toMatchObject([{ Key: "many//5", Code: "InvalidArgument" }]);
  const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "many/" }));
  expect(KeyCount).toBe(0);
});

test("A request to delete a key with an invalid character reference is refused", async () => {
  const { endpoint, credentials, region } = hub.bucketConnection("me");
  const signer = new AwsClient({ ...credentials, region, service: "s3" });
  const statusOf = async (reference: string) => {
    const body = `<Delete><Object><Key>a${reference}</Key></Object></Delete>`;
    const headers = { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") };
    const response = await signer.fetch(`${endpoint}/store?delete`, { method: "POST", body, headers });
    return [response.status, (await response.text()).includes("MalformedXML")];
  };
  const numbers = ["&#x110000;", "&#99999999999999999999;", "&#xD800;", "&#0;", "&#x1F;", "&#;"];
  for (const reference of [...numbers, "&nbsp;", "&constructor;", "& ", "&amp"])
    expect(await statusOf(reference), reference).toEqual([400, true]);
  for (const reference of ["&#x1F917;", "&#38;&amp;&#x26;"])
    expect(await statusOf(reference), reference).toEqual([200, false]);
});

describe("A request is refused", () => {
  const head = () => new HeadBucketCommand({ Bucket });
  const list = () => new ListObjectsV2Command({ Bucket });

  test("if its signature is wrong", async () => {
    const { credentials } = hub.bucketConnection("me");
    const forged = connect({ credentials: { ...credentials, secretAccessKey: "wrong" } });
    expect(await failureOf(forged.send(list()))).toEqual([403, "SignatureDoesNotMatch"]);
    const changed = connect();
    changeSigned(changed, (request) => Object.assign(request, { path: "/s3/me/store/other" }));
    expect(await failureOf(put("signed", "content", {}, changed))).toEqual([403, "SignatureDoesNotMatch"]);
  });

  test("if its access key or region is wrong", async () => {
    const unknown = connect({ credentials: { accessKeyId: "HFAKUNKNOWN", secretAccessKey: "x" } });
    expect(await failureOf(unknown.send(list()))).toEqual([403, "InvalidAccessKeyId"]);
    const elsewhere = connect({ region: "eu-west-1" });
    expect(await failureOf(elsewhere.send(list()))).toEqual([400, "AuthorizationHeaderMalformed"]);
  });

  test("if it is not signed", async () => {
    const response = await fetch(`${hub.url}/s3/me/store/key`);
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining("<Code>AccessDenied</Code>"),
    ]);
    const partly = connect();
    changeSigned(partly, (request) => {
      if ("headers" in request) request.headers = Object.assign({}, request.headers, { "x-amz-meta-owner": "eve" });
    });
    expect(await failureOf(put("partly", "content", {}, partly))).toEqual([403, "AccessDenied"]);
  });

  test("if the clock of the client is wrong", async () => {
    const skewed = connect({ systemClockOffset: 16 * 60 * 1_000 });
    expect(await failureOf(skewed.send(list()))).toEqual([403, "RequestTimeTooSkewed"]);
    const slightly = connect({ systemClockOffset: -14 * 60 * 1_000 });
    await slightly.send(head());
  });

  test("if the bucket is missing, or is a private bucket of another user", async () => {
    const missing = s3.send(new ListObjectsV2Command({ Bucket: "missing" }));
    expect(await failureOf(missing)).toEqual([404, "NoSuchBucket"]);
    const other = connect({ token: "hf_other" });
    expect(await failureOf(other.send(list()))).toEqual([404, "NoSuchBucket"]);
    expect(await failureOf(put("other", "content", {}, other))).toEqual([404, "NoSuchBucket"]);
  });

  test("if another user writes to a public bucket", async () => {
    hub.createBucket("me/public", { private: false });
    const other = connect({ token: "hf_other" });
    await other.send(new ListObjectsV2Command({ Bucket: "public" }));
    const write = other.send(new PutObjectCommand({ Bucket: "public", Key: "key", Body: "content" }));
    expect(await failureOf(write)).toEqual([403, "AccessDenied"]);
  });

  test("if the token of the access key cannot write", async () => {
    await put("readable", "content");
    const reader = connect({ token: "hf_read" });
    await reader.send(new GetObjectCommand({ Bucket, Key: "readable" }));
    expect(await failureOf(put("readable", "content", {}, reader))).toEqual([403, "AccessDenied"]);
    const deletion = reader.send(new DeleteObjectCommand({ Bucket, Key: "readable" }));
    expect(await failureOf(deletion)).toEqual([403, "AccessDenied"]);
  });
});

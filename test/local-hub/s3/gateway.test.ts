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
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { ObjectStore } from "../../../src/local-hub/store/object-store.ts";
import type { BucketFault } from "../../../src/local-hub.ts";
import { openBucket } from "../support/bucket.ts";
import { openLocalHub, shareLocalHub } from "../support/hub.ts";

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

beforeEach(() => hub.setBucketFaults([]));

/** Sets the faults from another process. */
function control(faults: unknown): Promise<Response> {
  return fetch(`${hub.url}/_local/bucket-faults`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(faults),
  });
}

describe("A fault", () => {
  test("fails the selected number of requests with the selected operation and key", async () => {
    hub.setBucketFaults([
      { kind: "error", status: 503, retryAfterSeconds: 2, operations: ["PUT"], keys: "log/*", skip: 1, count: 2 },
    ]);
    await put("log/1");
    await put("other/1");
    await expect(put("log/2")).rejects.toMatchObject({
      name: "SlowDown",
      $metadata: { httpStatusCode: 503 },
      $response: { headers: { "retry-after": "2" } },
    });
    await expect(get("log/2")).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(put("log/2")).rejects.toMatchObject({ name: "SlowDown" });
    await put("log/2", "stored");
    expect(await get("log/2")).toBe("stored");
  });

  test("applies to the bucket with the name only", async () => {
    hub.setBucketFaults([{ kind: "error", status: 500, bucket: "me/other" }]);
    await put("key");
    hub.setBucketFaults([{ kind: "error", status: 500, bucket: "me/store" }]);
    await expect(put("key")).rejects.toMatchObject({ name: "InternalError" });
  });

  test("can execute the request and then fail", async () => {
    hub.setBucketFaults([
      { kind: "error", status: 409, code: "ConditionalRequestConflict", isExecuted: true, operations: ["PUT"] },
    ]);
    await expect(put("executed", "stored")).rejects.toMatchObject({ name: "ConditionalRequestConflict" });
    expect(await get("executed")).toBe("stored");
  });

  test("closes the connection after the write", async () => {
    hub.setBucketFaults([{ kind: "answer-lost", keys: "lost", count: 1 }]);
    await expect(put("lost", "stored")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await get("lost")).toBe("stored");
  });

  test("that drops a response closes the file of its object", async () => {
    await put("large", "x".repeat(2_000_000));
    using read = vi.spyOn(ObjectStore.prototype, "read");
    hub.setBucketFaults([
      { kind: "error", status: 500, isExecuted: true, operations: ["GET"], count: 1 },
      { kind: "answer-lost", operations: ["GET"], count: 1 },
    ]);
    await expect(get("large")).rejects.toMatchObject({ name: "InternalError" });
    await expect(get("large")).rejects.toMatchObject({ code: "ECONNRESET" });
    const files = read.mock.results.map(({ value }) => value);
    expect(files).toMatchObject([{ destroyed: true }, { destroyed: true }]);
  });

  test("stores half of the body", async () => {
    hub.setBucketFaults([{ kind: "torn-body", count: 2 }]);
    await put("torn", "0123456789");
    expect(await get("torn")).toBe("01234");
    const large = "0123456789".repeat(200_000);
    await put("torn", large);
    expect(await get("torn")).toBe(large.slice(0, 1_000_000));
    await put("torn", "0123456789");
    expect(await get("torn")).toBe("0123456789");
  });

  test("ignores the condition of a write", async () => {
    await put("condition", "1");
    hub.setBucketFaults([{ kind: "ignored-condition", count: 1 }]);
    // A request without a condition does not count.
    await put("condition", "2");
    await put("condition", "3", { IfNoneMatch: "*" });
    expect(await get("condition")).toBe("3");
    await expect(put("condition", "4", { IfNoneMatch: "*" })).rejects.toMatchObject({ name: "PreconditionFailed" });
  });

  test("delays the request, which is executed although the client gave up", async () => {
    const [arrived, passed] = [Promise.withResolvers<number>(), Promise.withResolvers<boolean>()];
    using _wait = vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce((latencyMs) => {
      arrived.resolve(latencyMs);
      return passed.promise;
    });
    hub.setBucketFaults([{ kind: "latency", latency: "1h", operations: ["PUT"], count: 1 }]);
    const request = new PutObjectCommand({ Bucket, Key: "late", Body: "late" });
    const client = new AbortController();
    const refused = expect(s3.send(request, { abortSignal: client.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(await arrived.promise).toBe(3_600_000);
    client.abort();
    await refused;
    await expect(get("late")).rejects.toMatchObject({ name: "NoSuchKey" });
    passed.resolve(true);
    await expect.poll(() => get("late").catch(() => undefined), { interval: 10 }).toBe("late");
  });

  test.each(["origin", "path"] as const)("redirects a read to another %s, without the authorization", async (to) => {
    await put("redirected", "content");
    hub.setBucketFaults([{ kind: "redirect", to }]);
    const { endpoint } = hub.bucketConnection("me");
    let signed: unknown;
    const recording = connect();
    recording.middlewareStack.add(
      (next) => async (args) => {
        if (typeof args.request === "object" && args.request !== null && "headers" in args.request) {
          signed = args.request.headers;
        }
        return next(args);
      },
      { step: "finalizeRequest", priority: "low" },
    );
    const refused = recording.send(new GetObjectCommand({ Bucket, Key: "redirected" }));
    await expect(refused).rejects.toMatchObject({ $metadata: { httpStatusCode: 302 } });
    recording.destroy();
    const headers = new Headers(Object.entries(signed ?? {}).filter(([name]) => name !== "host"));
    const first = await fetch(`${endpoint}/store/redirected?x-id=GetObject`, { headers, redirect: "manual" });
    expect(first.status).toBe(302);
    const location = new URL(first.headers.get("location") ?? "");
    expect(location.origin === hub.url).toBe(to === "path");
    const withAuthorization = await fetch(location, { headers });
    expect([withAuthorization.status, await withAuthorization.text()]).toEqual([
      400,
      expect.stringContaining("<Code>InvalidArgument</Code>"),
    ]);
    const download = await fetch(location);
    expect([download.status, await download.text()]).toEqual([200, "content"]);
    location.searchParams.set("key", "key");
    expect((await fetch(location)).status).toBe(403);
  });

  test("redirects a read to a URL that is valid for a minute", async () => {
    let now = Date.now();
    const other = await openLocalHub({ now: () => now });
    other.hub.createBucket("me/store");
    const client = new AwsClient({
      ...other.hub.bucketConnection("me").credentials,
      service: "s3",
      region: "us-east-1",
    });
    const url = `${other.url}/s3/me/store/redirected`;
    expect((await client.fetch(url, { method: "PUT", body: "content" })).status).toBe(200);
    other.hub.setBucketFaults([{ kind: "redirect" }]);
    const answer = await client.fetch(url, { redirect: "manual" });
    const location = answer.headers.get("location") ?? "";
    now += 60_000;
    expect((await fetch(location)).status).toBe(200);
    now += 1;
    const expired = await fetch(location);
    expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining("<Code>AccessDenied</Code>")]);
  });

  test("affects lists by their prefix", async () => {
    hub.setBucketFaults([{ kind: "error", status: 500, operations: ["LIST"], keys: "log/*" }]);
    await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "snapshots/" }));
    const list = s3.send(new ListObjectsV2Command({ Bucket, Prefix: "log/" }));
    await expect(list).rejects.toMatchObject({ name: "InternalError" });
  });
});

describe("Faults", () => {
  test("are set by another process, and replaced each time", async () => {
    const faults: BucketFault[] = [{ kind: "error", status: 500, keys: "controlled" }];
    expect((await control(faults)).status).toBe(200);
    await expect(put("controlled")).rejects.toMatchObject({ name: "InternalError" });
    await control([]);
    await put("controlled");
  });

  test("are rejected if they are not a list of known faults", async () => {
    const latency = [{ kind: "latency", latency: "soon" }];
    for (const faults of [[{ kind: "flood" }], [{ kind: "answer-lost", key: "log/*" }], latency, {}, undefined]) {
      const answer = await control(faults);
      expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining("faults") }]);
    }
  });

  test("end with a reset", async () => {
    const { hub: other, put } = await openBucket();
    other.hub.setBucketFaults([{ kind: "error", status: 500 }]);
    other.hub.reset();
    other.hub.createBucket("me/store");
    await put("key");
  });
});

const request = { operation: "PUT", bucket: "me/store", keys: ["log/1"], isConditional: false } as const;

test("Latencies of several faults add up, and a request that fails does not use up later faults", () => {
  const faults = new BucketFaults();
  faults.set([
    { kind: "latency", latency: "1s" },
    { kind: "latency", latency: 500, count: 1 },
  ]);
  expect([1, 2].map(() => faults.take(request).latencyMs)).toEqual([1_500, 1_000]);
  faults.set([
    { kind: "error", status: 500, count: 1 },
    { kind: "answer-lost", count: 1 },
  ]);
  expect(faults.take(request)).toMatchObject({ error: { status: 500 }, isAnswerLost: false });
  expect(faults.take(request)).toMatchObject({ error: undefined, isAnswerLost: true });
});

test.each([
  ["log/*", true],
  ["log/.", false],
  ["*", true],
  ["*/1", true],
  ["log", false],
])("The pattern %s selects the key log/1: %s", (keys, isSelected) => {
  const faults = new BucketFaults();
  faults.set([{ kind: "torn-body", keys }]);
  expect(faults.take(request).isTorn).toBe(isSelected);
});

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { ObjectStore } from "../../../src/local-hub/store/object-store.ts";
import type { BucketFault } from "../../../src/local-hub.ts";
import { openBucket, readObject } from "../support/bucket.ts";
import { openLocalHub, shareLocalHub } from "../support/hub.ts";

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const Bucket = "store";

const { hub } = await shareLocalHub();
hub.createBucket("me/store");
const connect = () => new S3Client({ ...hub.bucketConnection("me"), maxAttempts: 1, logger: silent });
const s3 = connect();
afterAll(() => s3.destroy());

beforeEach(() => hub.setBucketFaults([]));

function put(key: string, body = "content", conditions = {}) {
  return s3.send(new PutObjectCommand({ Bucket, Key: key, Body: body, ...conditions }));
}

const get = (key: string) => readObject(s3, key);

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
    const read = vi.spyOn(ObjectStore.prototype, "read");
    onTestFinished(() => read.mockRestore());
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
    const wait = vi.spyOn(BucketFaults.prototype, "wait").mockImplementationOnce((latencyMs) => {
      arrived.resolve(latencyMs);
      return passed.promise;
    });
    onTestFinished(() => wait.mockRestore());
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

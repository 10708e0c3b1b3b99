import { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ObjectStore, ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { FaultyS3, type S3Fault } from "../../support/faulty-s3.ts";

let s3: FaultyS3;
let store: ObjectStore;
const now = () => Date.parse("2026-10-21T07:28:30Z");
beforeAll(async () => {
  s3 = await FaultyS3.start({ pageSize: 2, now });
  store = await s3.open();
});
afterAll(() => s3.close());
afterEach(() => {
  s3.faults = [];
  s3.history.length = 0;
  s3.objects.clear();
});

const body = new TextEncoder().encode("a record");
const ifAbsent = { ifAbsent: true };

/** Collects garbage every few milliseconds until the end of the test. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const timer = setInterval(collect, 5);
  onTestFinished(() => clearInterval(timer));
}

/** Returns the error that a request rejects with. */
async function failureOf(request: Promise<unknown>): Promise<ObjectStoreError> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ObjectStoreError)) throw new Error("The request has not failed.", { cause: error });
  return error;
}

/** Stores the objects that a test reads, 30 s ago. */
function stored(...keys: string[]): void {
  for (const [order, key] of keys.entries()) {
    s3.objects.set(`inbox/${key}`, { body: Buffer.from(body), etag: '"1"', storedAt: now() - 30_000, order });
  }
}

function listOf(fields: string, key: string): string {
  return `<ListBucketResult>${fields}<Contents><Key>${key}</Key><Size>1</Size></Contents></ListBucketResult>`;
}

describe("A conditional write", () => {
  test("sends the signed hash, the length, and the condition", async () => {
    expect(await store.put("log/1", body, ifAbsent)).toBe("stored");
    expect(s3.objects.get("inbox/test/log/1")?.body).toEqual(Buffer.from(body));
    expect(Object.fromEntries(s3.history[0]?.headers ?? [])).toMatchObject({
      "content-length": String(body.length),
      "if-none-match": "*",
      "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=HFAKTESTACCESSKEY\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;if-none-match;/,
      ),
    });
  });

  test("finds that the object exists", async () => {
    stored("test/log/1");
    expect(await store.put("log/1", body, ifAbsent)).toBe("exists");
  });

  test.each([
    [403, "AccessDenied"],
    [403, "RequestTimeTooSkewed"],
    [400, "InvalidRequest"],
    [404, "NoSuchBucket"],
    [413, "EntityTooLarge"],
    [501, "NotImplemented"],
  ])("is refused with status %i (%s)", async (status, s3Code) => {
    s3.faults = [{ kind: "error", status, code: s3Code }];
    const error = await failureOf(store.put("log/1", body, ifAbsent));
    expect(error).toMatchObject({ isRefused: true, status, s3Code });
    expect(s3.history).toHaveLength(1);
  });

  test.each([
    [400, "RequestTimeout"],
    [400, "XAmzContentSHA256Mismatch"],
    [409, "ConditionalRequestConflict"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [503, "SlowDown"],
  ])("has an unknown effect after status %i (%s), and is not repeated", async (status, s3Code) => {
    s3.faults = [{ kind: "error", status, code: s3Code, retryAfterSeconds: 2 }];
    const error = await failureOf(store.put("log/1", body, ifAbsent));
    expect(error).toMatchObject({ isRefused: false, status, s3Code, retryAfterMs: 2_000 });
    expect(s3.history).toHaveLength(1);
  });

  test.each(["lost answer", "dropped", "late"] as const)("has an unknown effect if it is %s", async (kind) => {
    s3.faults = [{ kind }];
    expect(await failureOf(store.put("log/1", body, ifAbsent))).toMatchObject({ isRefused: false, status: undefined });
    // A repeated request would find the record of the first one.
    expect(s3.history).toHaveLength(1);
    s3.applyLate();
    expect(s3.objects.has("inbox/test/log/1")).toBe(kind !== "dropped");
  });

  test("has an unknown effect if the response takes too long", async () => {
    // A server of its own, because the request can arrive after the timeout.
    await using silent = await FaultyS3.start();
    silent.faults = [{ kind: "silent" }];
    const impatient = await silent.open({ timeoutMs: 30 });
    // A garbage collection must not remove the connection between the timer and the request.
    collectGarbage();
    expect(await failureOf(impatient.put("log/1", body, ifAbsent))).toMatchObject({ isRefused: false });
  });

  test("does not count as stored if the store redirects it", async () => {
    const response = new Response(null, { status: 307, headers: { location: `${s3.url}/elsewhere` } });
    s3.faults = [{ kind: "answer", response, operations: ["PUT"] }];
    expect(await failureOf(store.put("log/1", body, ifAbsent))).toMatchObject({ isRefused: true, status: 307 });
    expect(s3.history).toHaveLength(1);
  });

  test("does not put credentials, signatures, or keys into the error", async () => {
    const code = "<Code>SignatureDoesNotMatch</Code>";
    await store.put("log/1", body);
    const authorization = s3.history[0]?.headers.get("authorization") ?? "";
    const [, signature = ""] = /Signature=(\w+)/.exec(authorization) ?? [];
    const echoed = new Response(`<Error>${code}<SignatureProvided>${authorization}</SignatureProvided></Error>`, {
      status: 403,
    });
    s3.faults = [{ kind: "answer", response: echoed }];
    const error = await failureOf(store.put("log/1", body, ifAbsent));
    expect(error.s3Code).toBe("SignatureDoesNotMatch");
    const text = `${error.stack} ${JSON.stringify(error)} ${error.cause}`;
    expect(signature).toHaveLength(64);
    for (const secret of ["HFAKTESTACCESSKEY", "test-secret-access-key", signature, "log/1"]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("Reading an object", () => {
  test.each<[string, S3Fault[]]>([
    ["directly", []],
    ["after a redirect to a CDN without the signature", [{ kind: "redirect" }]],
  ])("returns the content, and the age by the clock of the store, %s", async (_how, faults) => {
    stored("test/log/1");
    s3.faults = faults;
    const found = await store.get("log/1");
    // A CDN stores equal objects once, so its age is not that of the object.
    expect(found).toEqual({ body: expect.any(Uint8Array), ageMs: 30_000 });
    expect(Buffer.from(found?.body ?? [])).toEqual(Buffer.from(body));
    expect(s3.history.map(({ operation }) => operation)).toEqual(faults.length > 0 ? ["GET", "HEAD"] : ["GET"]);
  });

  test("returns nothing for a missing object", async () => {
    expect(await store.get("log/1")).toBeUndefined();
  });

  test.each<[string, S3Fault]>([
    ["that the bucket is missing", { kind: "error", status: 404, code: "NoSuchBucket" }],
    ["status 404 of a proxy", { kind: "answer", response: new Response("<h1>Not Found</h1>", { status: 404 }) }],
  ])("does not mistake %s for a missing object", async (_name, fault) => {
    s3.faults = [fault];
    expect(await failureOf(store.get("log/1"))).toMatchObject({ status: 404 });
  });

  test.each<[string, S3Fault]>([
    ["a closed connection", { kind: "dropped" }],
    ["a connection that was closed in the middle of the body", { kind: "short", isDeclared: true }],
    ["a CDN that does not find the object", { kind: "answer", response: redirectTo("/missing") }],
  ])("repeats the request after %s", async (_what, fault) => {
    stored("test/log/1");
    s3.next(fault);
    expect(Buffer.from((await store.get("log/1"))?.body ?? [])).toEqual(Buffer.from(body));
    expect(s3.history.filter(({ key }) => key === "inbox/test/log/1")).toHaveLength(2);
  });

  test("repeats the request after 5 s at most if the store requests a longer pause", async () => {
    stored("test/log/1");
    s3.next({ kind: "error", status: 429, code: "TooManyRequests", retryAfterSeconds: 15 });
    const pauses: unknown[] = [];
    // The store imports the function by name.
    vi.spyOn(timers, "setTimeout").mockImplementation(async (ms) => void pauses.push(ms));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    expect(Buffer.from((await store.get("log/1"))?.body ?? [])).toEqual(Buffer.from(body));
    expect(pauses).toEqual([5_000]);
  });

  test("has as much time as the size of the object requires", async () => {
    const impatient = await s3.open({ timeoutMs: 400 });
    s3.objects.set("inbox/test/log/1", { body: Buffer.alloc(1_000_000), etag: '"1"', storedAt: now(), order: 0 });
    s3.faults = [{ kind: "slow", ms: 700 }];
    expect((await impatient.get("log/1"))?.body).toHaveLength(1_000_000);
    expect(s3.history.filter(({ operation }) => operation === "GET")).toHaveLength(1);
  });

  test("uses the age in the headers of the redirect if there is one", async () => {
    const headers = { date: "Wed, 21 Oct 2026 07:28:30 GMT", "last-modified": "Wed, 21 Oct 2026 07:28:00 GMT" };
    stored("test/log/1");
    s3.faults = [{ kind: "redirect", headers }];
    expect(await store.get("log/1")).toMatchObject({ ageMs: 30_000 });
    expect(s3.history).toHaveLength(1);
  });
});

describe("Listing objects", () => {
  test("returns the objects of all pages after a key, sorted and relative to the prefix", async () => {
    stored("test/log/4", "test/log/3", "test/log/1", "test/log/2", "else/log/9");
    const listed = await store.list("log/", { after: "log/1" });
    expect(listed).toEqual(["log/2", "log/3", "log/4"].map((key) => ({ key, bytes: body.length })));
    const [first, second] = s3.history.map(({ url }) => Object.fromEntries(url.searchParams));
    expect(first).toEqual({
      "list-type": "2",
      "encoding-type": "url",
      prefix: "test/log/",
      "start-after": "test/log/1",
    });
    expect(second).toMatchObject({ prefix: "test/log/", "continuation-token": expect.any(String) });
  });

  test("sorts the objects of a store that ignores the first key and returns encoded keys and tokens", async () => {
    const page = (keys: readonly string[], next?: string) =>
      new Response(
        `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>${next !== undefined}</IsTruncated>${next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`}${keys.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>8</Size></Contents>`).join("")}</ListBucketResult>`,
      );
    s3.faults = [
      { kind: "answer", response: page(["test/log/4", "test/log/3", "else/log/9"], "a&amp;b+c/="), count: 1 },
      { kind: "answer", response: page(["test/log/2", "test/log/1"]) },
    ];
    const listed = await store.list("log/", { after: "log/1" });
    expect(listed.map(({ key }) => key)).toEqual(["log/2", "log/3", "log/4"]);
    expect(s3.history[1]?.url.searchParams.get("continuation-token")).toBe("a&b+c/=");
  });

  test.each([
    ["a page of another server", "<html>Sign in to the network</html>"],
    ["a list that was cut off", "<ListBucketResult><IsTruncated>false</IsTruncated><Contents>"],
    [
      "a list whose next page is the same again",
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
    ],
    ["a truncated list without a token", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"],
    ["a list with a corrupted character", listOf("", "log/&#9999999;")],
    ["a list with a corrupted encoding", listOf("<EncodingType>url</EncodingType>", "log/%E0%A")],
  ])("does not mistake %s for an empty bucket", async (_name, text) => {
    s3.faults = [{ kind: "answer", response: new Response(text) }];
    expect(await failureOf(store.list("log/"))).toMatchObject({ isRefused: false });
  });
});

describe("Deleting an object", () => {
  test("succeeds for a missing object, also if the store reports that", async () => {
    s3.next({ kind: "error", status: 404, code: "NoSuchKey" });
    await store.delete("check/1");
    await store.delete("check/1");
    expect(s3.history.map(({ operation }) => operation)).toEqual(["DELETE", "DELETE"]);
  });
});

test.each<[string, readonly S3Fault[]]>([
  ["succeeded", []],
  ["failed", [{ kind: "error", status: 400, code: "InvalidRequest" }]],
])("A request that %s leaves no timer, which would keep a command running", async (_how, faults) => {
  s3.faults = [...faults];
  const timeoutMs = 12_345;
  const other = await s3.open({ timeoutMs });
  const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
  onTestFinished(() => void vi.restoreAllMocks());
  await other.get("log/1").catch(() => {});
  const timers = set.mock.results.filter((_, index) => Number(set.mock.calls[index]?.[1]) >= timeoutMs);
  expect(timers).not.toEqual([]);
  for (const { value } of timers) expect(clear).toHaveBeenCalledWith(value);
});

test("A revoked access key is refused", async () => {
  s3.accessKeys.clear();
  const error = await failureOf(store.get("log/1"));
  s3.accessKeys.add("HFAKTESTACCESSKEY");
  expect(error).toMatchObject({ isRefused: true, s3Code: "InvalidAccessKeyId" });
});

function redirectTo(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

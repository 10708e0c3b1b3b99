import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { openDouble, s3Failure, startS3Double, testCredentials } from "./s3-double.ts";

const body = new TextEncoder().encode("a record");

/** Returns the error that a request rejects with. */
async function failureOf(request: Promise<unknown>): Promise<ObjectStoreError> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ObjectStoreError)) throw new Error("The request has not failed.", { cause: error });
  return error;
}

describe("A conditional write", () => {
  test("sends the signed hash, the length, and the condition", async () => {
    const double = await startS3Double(() => new Response());
    const store = await openDouble(double);
    expect(await store.put("log/1", body, { ifAbsent: true })).toBe("stored");
    const [request] = double.requests;
    expect(request).toMatchObject({ method: "PUT", url: { pathname: "/inbox/test/log/1" }, body: Buffer.from(body) });
    expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
      "content-length": String(body.length),
      "if-none-match": "*",
      "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=HFAKTESTACCESSKEY\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;if-none-match;/,
      ),
    });
  });

  test("finds that the object exists", async () => {
    const double = await startS3Double(() => s3Failure(412, "PreconditionFailed"));
    expect(await (await openDouble(double)).put("log/1", body, { ifAbsent: true })).toBe("exists");
  });

  test.each([
    [403, "AccessDenied"],
    [403, "RequestTimeTooSkewed"],
    [400, "InvalidRequest"],
    [404, "NoSuchBucket"],
    [413, "EntityTooLarge"],
    [501, "NotImplemented"],
  ])("is refused with status %i (%s)", async (status, s3Code) => {
    const double = await startS3Double(() => s3Failure(status, s3Code));
    const error = await failureOf((await openDouble(double)).put("log/1", body, { ifAbsent: true }));
    expect(error).toMatchObject({ isRefused: true, status, s3Code });
    expect(double.requests).toHaveLength(1);
  });

  test.each([
    [400, "RequestTimeout"],
    [400, "XAmzContentSHA256Mismatch"],
    [409, "ConditionalRequestConflict"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [503, "SlowDown"],
  ])("has an unknown effect after status %i (%s), and is not repeated", async (status, s3Code) => {
    const double = await startS3Double(() => s3Failure(status, s3Code, { "retry-after": "2" }));
    const error = await failureOf((await openDouble(double)).put("log/1", body, { ifAbsent: true }));
    expect(error).toMatchObject({ isRefused: false, status, s3Code, retryAfterMs: 2_000 });
    expect(double.requests).toHaveLength(1);
  });

  test("has an unknown effect if the connection closes without a response", async () => {
    const double = await startS3Double(() => "closed");
    const error = await failureOf((await openDouble(double)).put("log/1", body, { ifAbsent: true }));
    expect(error).toMatchObject({ isRefused: false, status: undefined });
    // A repeated request would find the record of the first one.
    expect(double.requests).toHaveLength(1);
  });

  test("has an unknown effect if the response takes too long", async () => {
    const double = await startS3Double(() => "silent");
    const store = await openDouble(double, { timeoutMs: 30 });
    expect(await failureOf(store.put("log/1", body, { ifAbsent: true }))).toMatchObject({ isRefused: false });
  });

  test("does not count as stored if the store redirects it", async () => {
    const double = await startS3Double(({ method, url }) =>
      method === "PUT"
        ? new Response(null, { status: 307, headers: { location: `${url.origin}/elsewhere` } })
        : new Response(),
    );
    const error = await failureOf((await openDouble(double)).put("log/1", body, { ifAbsent: true }));
    expect(error).toMatchObject({ isRefused: true, status: 307 });
    expect(double.requests).toHaveLength(1);
  });

  test("does not put credentials, signatures, or keys into the error", async () => {
    const double = await startS3Double(
      ({ headers }) =>
        new Response(
          `<Error><Code>SignatureDoesNotMatch</Code><SignatureProvided>${headers.get("authorization")}</SignatureProvided></Error>`,
          { status: 403 },
        ),
    );
    const error = await failureOf((await openDouble(double)).put("log/1", body, { ifAbsent: true }));
    expect(error.s3Code).toBe("SignatureDoesNotMatch");
    const text = `${error.stack} ${JSON.stringify(error)} ${error.cause}`;
    const signature = /Signature=(\w+)/.exec(double.requests[0]?.headers.get("authorization") ?? "")?.[1] ?? "";
    expect(signature).toHaveLength(64);
    for (const secret of [testCredentials.accessKeyId, testCredentials.secretAccessKey, signature, "log/1"]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("Reading an object", () => {
  const date = "Wed, 21 Oct 2026 07:28:30 GMT";
  const modified = "Wed, 21 Oct 2026 07:28:00 GMT";

  test("returns the content, and the age by the clock of the store", async () => {
    const double = await startS3Double(() => new Response(body, { headers: { date, "last-modified": modified } }));
    const found = await (await openDouble(double)).get("log/1");
    expect(found).toEqual({ body: expect.any(Uint8Array), ageMs: 30_000 });
    expect(Buffer.from(found?.body ?? [])).toEqual(Buffer.from(body));
  });

  test("returns nothing for a missing object", async () => {
    const double = await startS3Double(() => s3Failure(404, "NoSuchKey"));
    expect(await (await openDouble(double)).get("log/1")).toBeUndefined();
  });

  test.each([
    ["that the bucket is missing", () => s3Failure(404, "NoSuchBucket")],
    ["status 404 of a proxy", () => new Response("<h1>Not Found</h1>", { status: 404 })],
  ])("does not mistake %s for a missing object", async (_name, respond) => {
    const double = await startS3Double(respond);
    expect(await failureOf((await openDouble(double)).get("log/1"))).toMatchObject({ status: 404 });
  });

  test("repeats the request after a closed connection", async () => {
    const brief = await startS3Double((_request, number) => (number < 2 ? "closed" : new Response(body)));
    expect(await (await openDouble(brief)).get("log/1")).toBeDefined();
    expect(brief.requests).toHaveLength(2);
  });

  test("follows a redirect to another server without the signature", async () => {
    const cdn = await startS3Double(
      () => new Response(body, { headers: { date, "last-modified": "Wed, 21 Oct 2020 07:28:00 GMT" } }),
    );
    const double = await startS3Double(({ method }) =>
      method === "HEAD"
        ? new Response(null, { headers: { date, "last-modified": modified } })
        : new Response(null, { status: 302, headers: { location: `${cdn.url}/blobs/1?signature=s` } }),
    );
    const found = await (await openDouble(double)).get("log/1");
    expect(Buffer.from(found?.body ?? [])).toEqual(Buffer.from(body));
    // The CDN stores equal objects once, so its age is not that of the object.
    expect(found?.ageMs).toBe(30_000);
    const sent = [...(cdn.requests[0]?.headers.keys() ?? [])];
    expect(sent.filter((name) => name === "authorization" || name.startsWith("x-amz-"))).toEqual([]);
    expect(double.requests.map(({ method }) => method)).toEqual(["GET", "HEAD"]);
  });

  test("uses the age in the headers of the redirect if there is one", async () => {
    const cdn = await startS3Double(() => new Response(body));
    const double = await startS3Double(
      () => new Response(null, { status: 302, headers: { location: cdn.url, date, "last-modified": modified } }),
    );
    expect(await (await openDouble(double)).get("log/1")).toMatchObject({ ageMs: 30_000 });
    expect(double.requests).toHaveLength(1);
  });

  test("repeats the request if the CDN does not find the object", async () => {
    const cdn = await startS3Double((_request, number) =>
      number === 1 ? s3Failure(404, "NoSuchKey") : new Response(body),
    );
    const double = await startS3Double(
      () => new Response(null, { status: 302, headers: { location: cdn.url, date, "last-modified": modified } }),
    );
    expect(await (await openDouble(double)).get("log/1")).toBeDefined();
  });
});

describe("Listing objects", () => {
  const page = (keys: readonly string[], next?: string) =>
    new Response(
      `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>${next !== undefined}</IsTruncated>${next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`}${keys.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>8</Size></Contents>`).join("")}</ListBucketResult>`,
    );

  test("returns the objects of all pages after a key, sorted and relative to the prefix", async () => {
    const double = await startS3Double(({ url }) =>
      url.searchParams.has("continuation-token")
        ? page(["test/log/2", "test/log/1"])
        : page(["test/log/4", "test/log/3", "else/log/9"], "a&amp;b+c/="),
    );
    const listed = await (await openDouble(double)).list("log/", { after: "log/1" });
    expect(listed).toEqual(["log/2", "log/3", "log/4"].map((key) => ({ key, bytes: 8 })));
    const [first, second] = double.requests.map(({ url }) => Object.fromEntries(url.searchParams));
    expect(first).toEqual({
      "list-type": "2",
      "encoding-type": "url",
      prefix: "test/log/",
      "start-after": "test/log/1",
    });
    expect(second).toMatchObject({ prefix: "test/log/", "continuation-token": "a&b+c/=" });
  });

  test.each([
    ["a page of another server", "<html>Sign in to the network</html>"],
    ["a list that was cut off", "<ListBucketResult><IsTruncated>false</IsTruncated><Contents>"],
    ["a truncated list without a token", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"],
  ])("does not mistake %s for an empty bucket", async (_name, text) => {
    const double = await startS3Double(() => new Response(text));
    expect(await failureOf((await openDouble(double)).list("log/"))).toMatchObject({ isRefused: false });
  });
});

describe("Deleting an object", () => {
  test("succeeds for a missing object", async () => {
    const double = await startS3Double(() => s3Failure(404, "NoSuchKey"));
    await (await openDouble(double)).delete("check/1");
    expect(double.requests).toMatchObject([{ method: "DELETE", url: { pathname: "/inbox/test/check/1" } }]);
  });
});

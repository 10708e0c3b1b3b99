import { DeleteObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openBucket, xetHashOf } from "../../support/bucket.ts";
import type { RequestOptions, TestHub } from "../../support/hub.ts";
import { jsonLines } from "../../support/repository-api.ts";
import { openTarget } from "../../support/target.ts";
import { hashOf, uploadXet } from "../../support/xet-client.ts";

const store = "/api/buckets/me/store";

function batch(hub: TestHub, lines: readonly object[], options: RequestOptions = {}) {
  return hub.request(`POST ${store}/batch`, { ...options, text: jsonLines(...lines) });
}

const paths = (body: unknown) =>
  z
    .array(z.object({ path: z.string() }))
    .parse(body)
    .map(({ path }) => path);

describe("A bucket", () => {
  test("is created, described, made private, moved, and deleted, with an event for each change", async () => {
    const { hub } = await openBucket();
    const target = await openTarget();
    await hub.create({ url: target.url, watched: [{ type: "user", name: "local-user" }] });
    const created = await hub.request("POST /api/buckets/me/data", { body: {} });
    expect(created.body).toEqual({
      ...{ url: `${hub.url}/buckets/local-user/data`, name: "local-user/data", id: expect.any(String) },
    });
    expect((await hub.request("GET /api/buckets/local-user/data")).body).toMatchObject({
      ...{ id: "local-user/data", author: "local-user", private: false, size: 0, totalFiles: 0, repoType: "bucket" },
    });
    const settings = await hub.request("PUT /api/buckets/local-user/data/settings", { body: { private: true } });
    expect(settings.body).toEqual({ private: true, cdnRegions: [] });
    const move = { fromRepo: "local-user/data", toRepo: "local-user/moved", type: "bucket" };
    await hub.request("POST /api/repos/move", { body: move });
    expect((await hub.request("GET /api/buckets/local-user/data")).body).toMatchObject({ id: "local-user/moved" });
    await hub.request("DELETE /api/buckets/local-user/moved");
    expect((await hub.request("GET /api/buckets/local-user/moved")).status).toBe(404);
    await hub.hub.settled();
    expect(target.payloads.map(({ event, repo }) => [event.scope, event.action, repo.type])).toEqual([
      ["repo", "create", "bucket"],
      ["repo.config", "update", "bucket"],
      ["repo", "move", "bucket"],
      ["repo", "delete", "bucket"],
    ]);
  });

  test("that exists cannot be created again, and the error contains its URL and ID", async () => {
    const { hub } = await openBucket();
    await hub.request("POST /api/buckets/local-user/data");
    const { status, body } = await hub.request("POST /api/buckets/me/data");
    const url = `${hub.url}/buckets/local-user/data`;
    expect([status, body]).toEqual([409, { error: expect.any(String), url, id: expect.any(String) }]);
  });

  test.each(["a--b", "-a", "a.git", "a..b"])("cannot have the name %s", async (name) => {
    const { hub } = await openBucket();
    expect((await hub.request(`POST /api/buckets/me/${name}`)).status).toBe(400);
  });

  test("is listed for callers who can read it", async () => {
    const { hub } = await openBucket();
    await hub.request("POST /api/buckets/me/public");
    await hub.request("POST /api/buckets/me/private", { body: { private: true } });
    const list = async (line: string, token: string | null = "hf_local") => {
      const { status, body } = await hub.request(`GET /api/buckets/${line}`, { token });
      return status === 200
        ? z
            .array(z.object({ id: z.string() }))
            .parse(body)
            .map(({ id }) => id)
        : status;
    };
    expect(await list("me")).toEqual(["local-user/private", "local-user/public", "me/store"]);
    expect(await list("local-user?search=PRIV")).toEqual(["local-user/private"]);
    expect(await list("local-user", null)).toEqual(["local-user/public"]);
    expect(await list("me", null)).toBe(401);
    expect(await list("me", "hf_other")).toEqual([]);
    expect(await list("unknown-user")).toBe(404);
  });

  test.each<[line: string, statuses: Record<string, number>]>([
    [`GET ${store}`, { none: 401, hf_other: 404, hf_read: 200 }],
    [`GET ${store}/tree`, { none: 401, hf_other: 404, hf_read: 200 }],
    [`GET ${store}/events`, { none: 401, hf_other: 404 }],
    ["GET /buckets/me/store/resolve/file", { none: 401, hf_other: 404, hf_read: 200 }],
    [`POST ${store}/paths-info`, { none: 401, hf_other: 404 }],
    [`POST ${store}/batch`, { none: 401, hf_other: 404, hf_read: 403 }],
    [`PUT ${store}/settings`, { none: 401, hf_other: 404, hf_read: 403 }],
    [`DELETE ${store}`, { none: 401, hf_other: 404, hf_read: 403 }],
    ["POST /api/buckets/acme/new", { none: 401, hf_other: 403, hf_read: 403 }],
  ])("that is private answers %s by the rights of the token", async (line, statuses) => {
    const { hub, put } = await openBucket();
    await put("file");
    for (const [token, expected] of Object.entries(statuses)) {
      const body = line.startsWith("P") ? { body: { paths: [], private: true } } : {};
      const { status } = await hub.request(line, { token: token === "none" ? null : token, ...body });
      expect(status, token).toBe(expected);
    }
  });
});

describe("The files of a bucket", () => {
  test("are the same over REST and S3", async () => {
    const { hub, s3, put } = await openBucket();
    await put("s3", "from S3");
    await uploadXet(hub, [{ content: Buffer.from("from REST") }]);
    const line = { type: "addFile", path: "rest.txt", xetHash: hashOf("a"), mtime: 1_000, contentType: "text/plain" };
    expect((await batch(hub, [line])).status).toBe(200);

    const { Body, ContentType } = await s3.send(new GetObjectCommand({ Bucket: "store", Key: "rest.txt" }));
    expect([await Body?.transformToString(), ContentType]).toEqual(["from REST", "text/plain"]);
    expect((await hub.request(`GET ${store}/tree`)).body).toMatchObject([
      {
        type: "file",
        path: "rest.txt",
        size: 9,
        xetHash: hashOf("a"),
        mtime: "1970-01-01T00:00:01.000Z",
        contentType: "text/plain",
      },
      { type: "file", path: "s3", size: 7 },
    ]);
    expect((await hub.request(`GET ${store}`)).body).toMatchObject({ size: 16, totalFiles: 2 });

    await batch(hub, [{ type: "deleteFile", path: "s3" }]);
    await s3.send(new DeleteObjectCommand({ Bucket: "store", Key: "rest.txt" }));
    expect((await hub.request(`GET ${store}/tree`)).body).toEqual([]);
  });

  test("are listed by folder and on pages", async () => {
    const { hub, put } = await openBucket();
    for (const key of ["a.txt", "sub/deep/1", "sub/nested", "subway", "z"]) await put(key);
    const list = async (path: string) => paths((await hub.request(`GET ${store}/tree${path}`)).body);
    expect(await list("")).toEqual(["a.txt", "sub/deep/1", "sub/nested", "subway", "z"]);
    expect(await list("?recursive=False")).toEqual(["a.txt", "sub", "subway", "z"]);
    expect(await list("/sub")).toEqual(["sub/deep/1", "sub/nested", "subway"]);
    expect(await list("/sub?recursive=false")).toEqual(["sub/deep", "sub/nested", "subway"]);
    expect(await list("/sub%2F?recursive=false")).toEqual(["sub/deep", "sub/nested"]);
    const found: string[] = [];
    for (let next: string | undefined = `${hub.url}${store}/tree?recursive=false&limit=1`; next !== undefined; ) {
      const { headers, body } = await hub.request(`GET ${next.slice(hub.url.length)}`);
      found.push(...paths(body));
      next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(found).toEqual(["a.txt", "sub", "subway", "z"]);
    expect((await hub.request(`GET ${store}/tree?cursor=x`)).status).toBe(400);
  });

  test("are downloaded, whole and in part, with the hash and the URL of Xet", async () => {
    const { hub, put } = await openBucket();
    await put("sub/file", "0123456789");
    const line = "GET /buckets/me/store/resolve/sub%2Ffile";
    const { text, headers } = await hub.request(line);
    expect(text).toBe("0123456789");
    expect(headers.get("link")).toBe(`<${hub.url}${store}/xet-read-token>; rel="xet-auth"`);
    const hash = headers.get("x-xet-hash");
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const get = (further: Record<string, string>) =>
      fetch(`${hub.url}${line.slice(4)}`, { headers: { authorization: "Bearer hf_local", ...further } });
    const part = await get({ range: "bytes=2-4" });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect(await (await get({ accept: "application/vnd.xet-fileinfo+json" })).json()).toMatchObject({ hash, size: 10 });
    const missing = await hub.request("GET /buckets/me/store/resolve/none");
    expect([missing.status, missing.headers.get("x-error-code")]).toEqual([404, "EntryNotFound"]);
  });
});

describe("A batch", () => {
  test("copies files from buckets that the caller can read, and fires one event", async () => {
    const { hub, put, s3 } = await openBucket();
    const target = await openTarget();
    await put("source", "content");
    const xetHash = await xetHashOf(hub, "source");
    await hub.create({ url: target.url, watched: [{ type: "bucket", name: "me/store" }] });
    const copy = { type: "copyFile", path: "copy", xetHash, sourceRepoType: "bucket", sourceRepoId: "me/store" };
    const result = await batch(hub, [
      copy,
      { type: "deleteFile", path: "source" },
      { type: "deleteFile", path: "none" },
    ]);
    expect(result.body).toEqual({ success: true, processed: 3, succeeded: 3, failed: [] });
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: "store", Key: "copy" }));
    expect(await Body?.transformToString()).toBe("content");
    await hub.hub.settled();
    expect(
      target.requests.map(({ body }) => z.object({ updatedFiles: z.unknown() }).parse(JSON.parse(body)).updatedFiles),
    ).toEqual([
      [
        { path: "copy", action: "add", xetHash, size: 7 },
        { path: "source", action: "delete" },
      ],
    ]);
  });

  test("lists at most 10,000 files in the payload", async () => {
    const { hub, put } = await openBucket();
    const target = await openTarget();
    await put("source");
    const xetHash = await xetHashOf(hub, "source");
    await hub.create({ url: target.url, watched: [{ type: "bucket", name: "me/store" }] });
    const copies = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => ({ type: "addFile", path: `${prefix}${index}`, xetHash }));
    await batch(hub, copies(10_000, "a"));
    await hub.hub.settled();
    await batch(hub, copies(10_001, "b"));
    await hub.hub.settled();
    const listed = z.object({ updatedFiles: z.array(z.unknown()), updatedFilesTruncated: z.optional(z.boolean()) });
    const payloads = target.requests.map(({ body: text }) => listed.parse(JSON.parse(text)));
    expect(
      payloads.map(({ updatedFiles, updatedFilesTruncated }) => [updatedFiles.length, updatedFilesTruncated]),
    ).toEqual([
      [10_000, undefined],
      [10_000, true],
    ]);
  });

  test("reports the operations that failed, and executes the others", async () => {
    const { hub, put } = await openBucket();
    await put("old");
    const other = { ...{ type: "copyFile", path: "copy", xetHash: hashOf("b") }, sourceRepoType: "bucket" };
    const { status, body } = await batch(hub, [
      { type: "addFile", path: "missing", xetHash: hashOf("b") },
      { type: "addFile", path: "a//b", xetHash: hashOf("b") },
      { ...other, sourceRepoId: "other-user/none" },
      { ...other, sourceRepoType: "model", sourceRepoId: "me/model" },
      { type: "deleteFile", path: "old" },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ success: false, processed: 5, succeeded: 1 },
      failed: [{ path: "missing" }, { path: "a//b" }, { path: "copy" }, { path: "copy" }],
    });
    expect((await hub.request(`GET ${store}/tree`)).body).toEqual([]);
  });

  test("that fails as a whole is answered with 422 and the first error", async () => {
    const { hub } = await openBucket();
    const { status, body } = await batch(hub, [{ type: "addFile", path: "missing", xetHash: hashOf("b") }]);
    const error = expect.stringContaining("was not uploaded to Xet");
    expect([status, body]).toEqual([
      ...[422, { error, success: false, processed: 1, succeeded: 0, failed: [{ path: "missing", error }] }],
    ]);
  });

  test.each<[string, string]>([
    ["JSON", "{"],
    ["a known type", '{"type":"moveFile","path":"a"}'],
    ["a hash", '{"type":"addFile","path":"a","xetHash":"a"}'],
    ["deletions last", `{"type":"deleteFile","path":"a"}\n{"type":"addFile","path":"a","xetHash":"${hashOf("a")}"}`],
  ])("without %s is refused as a whole", async (_missing, text) => {
    const { hub, put } = await openBucket();
    await put("a");
    expect((await hub.request(`POST ${store}/batch`, { text })).status).toBe(400);
    expect(paths((await hub.request(`GET ${store}/tree`)).body)).toEqual(["a"]);
  });
});

describe("The stream of events", () => {
  test("reports uploads, changes, and deletions, and ends when the bucket is deleted", async () => {
    const { hub, put } = await openBucket();
    const response = await fetch(`${hub.url}${store}/events`, { headers: { authorization: "Bearer hf_local" } });
    const reading = response.text();
    await put("file");
    await put("file", "longer content");
    await batch(hub, [{ type: "deleteFile", path: "file" }]);
    await hub.request(`DELETE ${store}`);
    const text = await reading;
    expect([...text.matchAll(/"op":"(\w+)"/g)].map(([, op]) => op)).toEqual(["add", "update", "delete"]);
    expect(text).toContain("event: ready");
  });

  test.each<[string, (hub: TestHub) => unknown]>([
    ["the local Hub is reset", ({ hub }) => hub.reset()],
    ["the bucket is replaced", ({ hub }) => [hub.reset(), hub.createBucket("me/store")]],
  ])("ends when %s", async (_change, change) => {
    const { hub, put } = await openBucket();
    const response = await fetch(`${hub.url}${store}/events`, { headers: { authorization: "Bearer hf_local" } });
    const reading = response.text();
    await put("file");
    await change(hub);
    expect(await reading).toContain('"op":"add"');
  });

  test("ends when the caller can no longer read the bucket", async () => {
    const { hub } = await openBucket();
    await hub.request(`PUT ${store}/settings`, { body: { private: false } });
    const reading = (await fetch(`${hub.url}${store}/events`)).text();
    await hub.request(`PUT ${store}/settings`, { body: { private: true } });
    expect(await reading).not.toContain("event: changes");
  });

  test("ends with a request to reconnect when the local Hub closes", async () => {
    const { hub } = await openBucket();
    const response = await fetch(`${hub.url}${store}/events`, { headers: { authorization: "Bearer hf_local" } });
    const reading = response.text();
    await hub.hub.close();
    expect(await reading).toContain("event: reconnect");
  });
});

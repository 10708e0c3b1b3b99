import { DeleteObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { BucketFeed } from "../../../../src/local-hub/resources/buckets/bucket-feed.ts";
import { openBucket, readObject, xetHashOf } from "../../support/bucket.ts";
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

  test("that exists or has an invalid name cannot be created, and a conflict contains its URL and ID", async () => {
    const { hub } = await openBucket();
    await hub.request("POST /api/buckets/local-user/data");
    const { status, body } = await hub.request("POST /api/buckets/me/data");
    const url = `${hub.url}/buckets/local-user/data`;
    expect([status, body]).toEqual([409, { error: expect.any(String), url, id: expect.any(String) }]);
    for (const name of ["a--b", "-a", "a.git", "a..b"]) {
      expect((await hub.request(`POST /api/buckets/me/${name}`)).status, name).toBe(400);
    }
  });

  test("is listed for callers who can read it", async () => {
    const { hub } = await openBucket();
    await hub.request("POST /api/buckets/me/public");
    await hub.request("POST /api/buckets/me/private", { body: { private: true } });
    const [open, hidden] = ["public", "private"].map((name) => ({ id: `local-user/${name}` }));
    const listed: [line: string, token: string | null, status: number, expected: unknown][] = [
      ["me", "hf_local", 200, [hidden, open, { id: "me/store" }]],
      ["local-user?search=PRIV", "hf_local", 200, [hidden]],
      ["local-user", null, 200, [open]],
      ["me", null, 401, {}],
      ["me", "hf_other", 200, []],
      ["unknown-user", "hf_local", 404, {}],
    ];
    for (const [line, token, status, body] of listed) {
      expect(await hub.request(`GET /api/buckets/${line}`, { token })).toMatchObject({ status, body });
    }
  });

  test("that is private answers by the rights of the token", async () => {
    const { hub, put } = await openBucket();
    await put("file");
    const tokens = [null, "hf_other", "hf_read"];
    const rows: [line: string, ...statuses: number[]][] = [
      [`GET ${store}`, 401, 404, 200],
      [`GET ${store}/tree`, 401, 404, 200],
      [`GET ${store}/events`, 401, 404],
      ["GET /buckets/me/store/resolve/file", 401, 404, 200],
      [`POST ${store}/paths-info`, 401, 404],
      [`POST ${store}/batch`, 401, 404, 403],
      [`PUT ${store}/settings`, 401, 404, 403],
      [`DELETE ${store}`, 401, 404, 403],
      ["POST /api/buckets/acme/new", 401, 403, 403],
      [`GET ${store}/xet-read-token`, 401, 404],
      [`GET ${store}/xet-write-token`, 401, 404, 403],
    ];
    for (const [line, ...statuses] of rows) {
      const body = line.startsWith("P") ? { body: { paths: [], private: true } } : {};
      for (const [index, status] of statuses.entries())
        expect((await hub.request(line, { token: tokens[index], ...body })).status, line).toBe(status);
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
    const { type: _type, ...stored } = line;
    expect((await hub.request(`GET ${store}/tree`)).body).toMatchObject([
      { ...stored, type: "file", size: 9, mtime: "1970-01-01T00:00:01.000Z" },
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
    const accept = "application/vnd.xet-fileinfo+json";
    expect(await (await get({ accept })).json()).toMatchObject({ hash, size: 10 });
    const first = await get({ accept: `${accept}, */*`, range: "bytes=0-0" });
    expect([first.headers.get("content-range"), await first.text()]).toEqual(["bytes 0-0/10", "0"]);
    await put("empty", "");
    const empty = await hub.request("GET /buckets/me/store/resolve/empty", { headers: { range: "bytes=0-0" } });
    expect([empty.headers.get("content-range"), empty.text]).toEqual(["bytes */0", ""]);
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
    expect(await readObject(s3, "copy")).toBe("content");
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

  test("without JSON, a known type, a hash, or deletions last is refused as a whole", async () => {
    const { hub, put } = await openBucket();
    await put("a");
    const deletion = { type: "deleteFile", path: "a" };
    const addition = { type: "addFile", path: "a", xetHash: hashOf("a") };
    for (const text of [
      "{",
      jsonLines({ ...deletion, type: "moveFile" }),
      jsonLines({ ...addition, xetHash: "a" }),
      jsonLines(deletion, addition),
    ]) {
      expect((await hub.request(`POST ${store}/batch`, { text })).status, text).toBe(400);
    }
    expect(paths((await hub.request(`GET ${store}/tree`)).body)).toEqual(["a"]);
  });
});

/** Opens the stream of events of `me/store`, and returns its text when it ends. */
async function readEvents(
  hub: TestHub,
  headers = { authorization: "Bearer hf_local" },
): Promise<{ text: Promise<string> }> {
  const response = await fetch(`${hub.url}${store}/events`, { headers });
  return { text: response.text() };
}

describe("The stream of events", () => {
  test("reports uploads, changes, and deletions, and ends when the bucket is deleted", async () => {
    const { hub, put } = await openBucket();
    const reading = await readEvents(hub);
    await put("file");
    await put("file", "longer content");
    await batch(hub, [{ type: "deleteFile", path: "file" }]);
    await hub.request(`DELETE ${store}`);
    const text = await reading.text;
    expect([...text.matchAll(/"op":"(\w+)"/g)].map(([, op]) => op)).toEqual(["add", "update", "delete"]);
    expect(text).toContain("event: ready");
  });

  test.each<[string, (hub: TestHub) => unknown]>([
    ["the local Hub is reset", ({ hub }) => hub.reset()],
    ["the bucket is replaced", ({ hub }) => [hub.reset(), hub.createBucket("me/store")]],
  ])("ends when %s", async (_change, change) => {
    const { hub, put } = await openBucket();
    const { text } = await readEvents(hub);
    await put("file");
    await change(hub);
    expect(await text).toContain('"op":"add"');
  });

  test("ends when the caller can no longer read the bucket", async () => {
    const { hub } = await openBucket();
    await hub.request(`PUT ${store}/settings`, { body: { private: false } });
    const { text } = await readEvents(hub, { authorization: "" });
    await hub.request(`PUT ${store}/settings`, { body: { private: true } });
    expect(await text).not.toContain("event: changes");
  });

  test("ends with a request to reconnect when the local Hub closes", async () => {
    const { hub } = await openBucket();
    const { text } = await readEvents(hub);
    await hub.hub.close();
    expect(await text).toContain("event: reconnect");
  });
});

const minute = 60_000;

/** Opens a feed with a change of `me` at the start, and a change of each bucket a minute later. */
function openFeed() {
  const clock = { now: 0 };
  const feed = new BucketFeed({ now: () => clock.now });
  feed.publish("me", [{ path: "first", op: "delete" }]);
  clock.now = minute;
  feed.publish("other", [{ path: "other", op: "delete" }]);
  feed.publish("me", [{ path: "second", op: "delete" }]);
  const read = async (options: { cursor?: string; since?: number } = {}, events = 3) => {
    const { cursor, since } = options;
    const reader = feed
      .stream("me", { cursor, since, isOpen: () => true })

      .getReader();
    let text = "";
    for (let count = 0; count < events && !text.includes("event: ready"); count += 1)
      text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    return {
      paths: [...text.matchAll(/"path":"(\w+)"/g)].map(([, path]) => path),
      cursors: [...text.matchAll(/"cursor":"([^"]+)"/g)].map(([, found = ""]) => found),
      isReset: text.includes("event: reset"),
    };
  };
  return { clock, feed, read };
}

test("A feed starts with new changes", async () => {
  expect(await openFeed().read()).toMatchObject({ paths: [], isReset: false });
});

test("A feed continues after a cursor", async () => {
  const { read } = openFeed();
  const { paths, cursors } = await read({ since: 0 }, 4);
  expect(paths).toEqual(["first", "second"]);
  expect((await read({ cursor: cursors[0] ?? "" })).paths).toEqual(["second"]);
  expect((await read({ cursor: cursors[1] ?? "" })).paths).toEqual([]);
});

test("A feed continues after a time", async () => {
  expect((await openFeed().read({ since: 1 })).paths).toEqual(["second"]);
});

test.each<[string, { cursor?: string; since?: number }]>([
  ["of another local Hub", { cursor: "00000000-1" }],
  ["that is invalid", { cursor: "x" }],
  ["before the start", { since: -1 }],
])("A feed cannot continue after a position %s", async (_kind, options) => {
  expect(await openFeed().read(options)).toMatchObject({ paths: [], isReset: true });
});

test("A feed keeps changes for 15 minutes", async () => {
  const { clock, read } = openFeed();
  const [, cursor = ""] = (await read({ since: 0 }, 4)).cursors;
  clock.now = 15 * minute + 1;
  expect((await read({ since: 0 })).isReset).toBe(true);
  expect((await read({ since: minute })).paths).toEqual(["second"]);
  clock.now = 16 * minute + 1;
  expect((await read({ since: minute })).isReset).toBe(true);
  expect(await read({ cursor })).toMatchObject({ paths: [], isReset: false });
});

const many = (length: number) => Array.from({ length }, () => ({ path: "many", op: "delete" }) as const);

test("A feed keeps at most 10,000 changes", async () => {
  const { feed, read } = openFeed();
  feed.publish("me", many(9_999));
  expect((await read({ since: minute + 0 })).isReset).toBe(true);
});

test("A stream that missed changes is reset", async () => {
  const { feed } = openFeed();
  const stream: ReadableStream = feed.stream("me", { cursor: undefined, since: undefined, isOpen: () => true });
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("event: ready"); ) text = (await reader.read()).value ?? "";
  feed.publish("me", many(10_001));
  expect((await reader.read()).value).toContain("event: reset");
  expect((await reader.read()).done).toBe(true);
});

import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ContentStore } from "../../../../src/local-hub/git/content-store.ts";
import { LargeFiles } from "../../../../src/local-hub/git/large-files.ts";
import { listsTag, readRange } from "../../../../src/local-hub/resources/repositories/files.ts";
import { jsonLines, RepositoryApi } from "../../support/repository-api.ts";

const base = "/api/datasets/local-user/data";
const html = "<script>alert(1)</script>";
const api = await RepositoryApi.share();
await api.commit({ "data/b.txt": "b", "data/deep/c.txt": "c", "page.html": html, empty: "" });
const head = await api.commit({ "data/a.txt": "0123456789", "grüße 1.txt": "ü" });

const json = async (line: string, options = {}) => (await api.call(line, options)).json();
const paths = (entries: { path: string }[]) => entries.map(({ path }) => path);

describe("The list of a folder", () => {
  test("contains the entries of the root, or of a folder", async () => {
    expect(paths(await json(`GET ${base}/tree/main`))).toEqual([
      ".gitattributes",
      "data",
      "empty",
      "grüße 1.txt",
      "page.html",
    ]);
    expect(paths(await json(`GET ${base}/tree/${head}/data`))).toEqual(["data/a.txt", "data/b.txt", "data/deep"]);
  });

  test("has pages that show the same commit, also after a push", async () => {
    await api.commit({ a: "1", b: "2", c: "3" }, { branch: "main" });
    const first = await api.call(`GET ${base}/tree/main?recursive=true&limit=4`);
    const [, next] = /^<(.+)>; rel="next"$/.exec(first.headers.get("link") ?? "") ?? [];
    await api.commit({ a: null, b: null, c: null });
    const second = await api.call(`GET ${next?.replace("limit=4", "limit=100")}`);
    expect(second.headers.get("link")).toBeNull();
    expect(paths([...(await first.json()), ...(await second.json())])).toEqual([
      ...[".gitattributes", "a", "b", "c", "data", "data/a.txt", "data/b.txt", "data/deep", "data/deep/c.txt"],
      ...["empty", "grüße 1.txt", "page.html"],
    ]);
  });

  test("contains the last commit of each entry with expand", async () => {
    const entries = await json(`GET ${base}/tree/main/data?expand=true`);
    expect(entries[0]).toMatchObject({ path: "data/a.txt", lastCommit: { id: head, title: "Change files" } });
    expect(entries[1].lastCommit.id).not.toBe(head);
    expect(entries[0].securityFileStatus.status).toBe("unscanned");
  });

  test("returns EntryNotFound for a path that is no folder, and 400 for an unknown cursor", async () => {
    for (const path of ["nope", "data/a.txt"]) {
      const response = await api.call(`GET ${base}/tree/main/${path}`);
      expect([response.status, response.headers.get("x-error-code")]).toEqual([404, "EntryNotFound"]);
    }
    expect((await api.call(`GET ${base}/tree/main?cursor=2`)).status).toBe(400);
  });
});

test.each([
  ["JSON", { body: { paths: ["data", "grüße 1.txt", "nope"], expand: false } }],
  [
    "a form",
    {
      body: "paths=data&paths=gr%C3%BC%C3%9Fe+1.txt&paths=nope&expand=false",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    },
  ],
])("Information about existing paths is returned for %s", async (_, options) => {
  const entries = await json(`POST ${base}/paths-info/main`, options);
  expect(entries).toMatchObject([
    { path: "data", type: "directory", size: 0 },
    { path: "grüße 1.txt", type: "file", size: 2 },
  ]);
});

describe("A file", () => {
  const file = "/datasets/local-user/data/resolve/main/data/a.txt";
  const get = (headers: Record<string, string> = {}, line = `GET ${file}`) => api.call(line, { headers });

  test("has its blob ID as ETag, and the commit of the revision", async () => {
    const response = await get();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      etag: '"ad471007bd7f5983d273b9584e5629230150fd54"',
      "x-repo-commit": expect.stringMatching(/^[0-9a-f]{40}$/),
      "accept-ranges": "bytes",
    });
    expect(await response.text()).toBe("0123456789");
  });

  test("has the same headers for HEAD, without content", async () => {
    const response = await get({}, `HEAD ${file}`);
    expect(response.headers.get("content-length")).toBe("10");
    expect(response.headers.get("etag")).toBe((await get()).headers.get("etag"));
    expect(await response.text()).toBe("");
  });

  test("is returned in parts", async () => {
    const part = await get({ range: "bytes=2-4" });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"]);
    const outside = await get({ range: "bytes=10-" });
    expect([outside.status, outside.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    const changed = await get({ range: "bytes=2-4", "if-range": '"other"' });
    expect([changed.status, await changed.text()]).toEqual([200, "0123456789"]);
  });

  test("returns 304 if the client has it", async () => {
    const etag = (await get()).headers.get("etag") ?? "";
    expect((await get({ "if-none-match": `W/${etag}` })).status).toBe(304);
    expect((await get({ "if-none-match": '"other"' })).status).toBe(200);
  });

  test("never runs as a page of the local Hub", async () => {
    const response = await api.call("GET /datasets/local-user/data/resolve/main/page.html");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect(await response.text()).toBe(html);
  });

  test("can be empty, which clients recognize by the size in Content-Range", async () => {
    const response = await get({ range: "bytes=0-0" }, "GET /datasets/local-user/data/resolve/main/empty");
    expect([response.status, response.headers.get("content-range")]).toEqual([200, "bytes */0"]);
  });

  test("can have any name, at an encoded revision", async () => {
    const line = `GET /datasets/local-user/data/resolve/refs%2Fheads%2Fmain/${encodeURIComponent("grüße 1.txt")}`;
    const response = await api.call(line);
    expect(await response.text()).toBe("ü");
    expect(response.headers.get("content-disposition")).toBe(
      `inline; filename*=UTF-8''gr%C3%BC%C3%9Fe%201.txt; filename="gr__e 1.txt";`,
    );
  });

  test.each([
    ["/datasets/local-user/data/resolve/main/nope", "EntryNotFound"],
    ["/datasets/local-user/data/resolve/main/data", "EntryNotFound"],
    ["/datasets/local-user/data/resolve/nope/data/a.txt", "RevisionNotFound"],
    ["/datasets/local-user/nope/resolve/main/data/a.txt", "RepoNotFound"],
    ["/local-user/data/resolve/main/data/a.txt", "RepoNotFound"],
  ])("that is missing returns 404: %s %s", async (path, code) => {
    const response = await api.call(`GET ${path}`);
    expect([response.status, response.headers.get("x-error-code")]).toEqual([404, code]);
  });

  test("of a private repository is hidden from others", async () => {
    await api.create("secret", { private: true });
    const line = "GET /datasets/local-user/secret/resolve/main/.gitattributes";
    expect((await api.call(line)).status).toBe(200);
    expect((await api.call(line, { token: "hf_other" })).status).toBe(404);
    expect((await api.call(line, { token: null })).status).toBe(401);
  });

  test("of a gated repository can only be read by its owner", async () => {
    await api.create("gated");
    await api.call("PUT /api/datasets/local-user/gated/settings", { body: { gated: "manual" } });
    const line = "GET /datasets/local-user/gated/resolve/main/.gitattributes";
    expect((await api.call(line)).status).toBe(200);
    const refused = await api.call(line, { token: "hf_other" });
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "GatedRepo"]);
  });
});

test.each([
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=2-5", { start: 2, end: 5 }],
  ["bytes=8-", { start: 8, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=-30", { start: 0, end: 9 }],
  ["bytes=9-1000", { start: 9, end: 9 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-2", "whole"],
  ["bytes=0-1,4-5", "whole"],
  ["lines=0-1", "whole"],
  ["bytes=-", "whole"],
  [undefined, "whole"],
])("The range %s of a file of 10 bytes is read", (header, expected) => {
  expect(readRange(header, { size: 10 })).toEqual(expected);
});

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  [undefined, false],
])("The header %s lists a tag: %s", (header, expected) => {
  expect(listsTag(header, '"a"')).toBe(expected);
});

const batch = "/datasets/local-user/data.git/info/lfs/objects/batch";
/** More than other bodies can have. */
const content = randomBytes(11 * 1024 * 1024);
const file = { oid: createHash("sha256").update(content).digest("hex"), size: content.byteLength };

async function request(
  objects: readonly object[],
  { ref = "main", ...options }: { token?: string | null; ref?: string | null } = {},
): Promise<Response> {
  const body = {
    ...{ operation: "upload", transfers: ["basic", "multipart", "xet"], hash_algo: "sha_256", objects },
    ...(ref !== null && { ref: { name: ref } }),
  };
  return api.call(`POST ${batch}`, { ...options, body, headers: { "content-type": "application/vnd.git-lfs+json" } });
}

async function uploadUrl(object: { oid: string; size: number }): Promise<string> {
  const { objects } = await (await request([object])).json();
  return objects[0].actions.upload.href;
}

const put = (url: string, body: Uint8Array) => fetch(url, { method: "PUT", body: new Uint8Array(body) });

test("A large file is uploaded without a token, committed, and downloaded", { tags: "slow" }, async () => {
  const answer = await (await request([file])).json();
  expect(answer).toMatchObject({ transfer: "basic", objects: [file] });
  const { upload, verify } = answer.objects[0].actions;
  expect((await api.call(`POST ${verify.href}`, { body: file })).status).toBe(404);
  expect((await put(upload.href, content)).status).toBe(200);
  expect((await api.call(`POST ${verify.href}`, { body: file })).status).toBe(200);
  expect((await (await request([file])).json()).objects).toEqual([file]);

  const header = { key: "header", value: { summary: "Add a file" } };
  const lines = jsonLines(
    header,
    { key: "lfsFile", value: { path: "a.bin", algo: "sha256", ...file } },
    // The Python client copies files without their size.
    { key: "lfsFile", value: { path: "copy.bin", algo: "sha256", oid: file.oid } },
  );
  const base = "/api/datasets/local-user/data";
  expect((await api.call(`POST ${base}/commit/main`, { body: lines })).status).toBe(200);
  const entries = await (await api.call(`POST ${base}/paths-info/main`, { body: { paths: "copy.bin" } })).json();
  expect(entries).toMatchObject([{ path: "copy.bin", size: file.size, lfs: { oid: file.oid, size: file.size } }]);

  const path = "/datasets/local-user/data/resolve/main/a.bin";
  const whole = await api.call(`GET ${path}`, { token: null });
  expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
  expect(Object.fromEntries((await api.call(`HEAD ${path}`)).headers)).toMatchObject({
    etag: `"${file.oid}"`,
    "x-linked-etag": `"${file.oid}"`,
    "x-linked-size": String(file.size),
    "content-length": String(file.size),
    "content-type": "application/octet-stream",
  });
  expect(whole.headers.get("content-length")).toBe(String(file.size));
  const part = await api.call(`GET ${path}`, { headers: { range: "bytes=1000000-1000009" } });
  expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(1_000_000, 1_000_010))).toBe(true);
  const pointer = await (await api.call(`GET ${path.replace("resolve", "raw")}`)).text();
  expect(pointer).toContain(`oid sha256:${file.oid}\nsize ${file.size}\n`);
});

test("An empty file can be uploaded, committed, and downloaded", async () => {
  const empty = { oid: createHash("sha256").digest("hex"), size: 0 };
  expect((await put(await uploadUrl(empty), new Uint8Array())).status).toBe(200);
  const lines = [
    { key: "header", value: { summary: "Add a file" } },
    { key: "lfsFile", value: { path: "empty.bin", ...empty } },
  ];
  await api.call("POST /api/datasets/local-user/data/commit/main", { body: jsonLines(...lines) });
  const response = await api.call("GET /datasets/local-user/data/resolve/main/empty.bin");
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("A changed upload URL is refused with 403", async () => {
  const url = await uploadUrl({ oid: "1".repeat(64), size: 4 });
  for (const changed of [
    url.replace("1".repeat(64), "2".repeat(64)),
    url.replace("size=4", "size=5"),
    url.replace(/expires=\d/, "expires=9"),
    url.replace(/&signature=.*/, ""),
    url.replace(/_lfs\/[^/]+/, "_lfs/other"),
  ]) {
    expect(changed).not.toBe(url);
    expect((await put(changed, Buffer.from("good"))).status).toBe(403);
  }
});

describe("An upload to a deleted repository", () => {
  const object = { oid: createHash("sha256").update("gone").digest("hex"), size: 4 };
  const remove = () => api.call("DELETE /api/repos/delete", { body: { name: "deleted", type: "dataset" } });
  let url: string;

  beforeEach(async () => {
    await api.create("deleted");
    const body = { operation: "upload", objects: [object] };
    const answer = await api.call(`POST ${batch.replace("/data.git", "/deleted.git")}`, { body });
    url = (await answer.json()).objects[0].actions.upload.href;
  });

  test("is refused with 404", async () => {
    await remove();
    expect((await put(url, Buffer.from("gone"))).status).toBe(404);
  });

  test("is refused with 404 if the repository is deleted during the upload, and leaves no file behind", async () => {
    using saveLarge = vi.spyOn(ContentStore.prototype, "saveLarge");
    using deleteFile = vi.spyOn(LargeFiles.prototype, "delete");
    const upload = httpRequest(url, { method: "PUT" });
    const responded = once(upload, "response");
    upload.write("go");
    await expect.poll(() => saveLarge.mock.calls.length, { interval: 5 }).toBe(1);
    await remove();
    upload.end("ne");
    const [response] = await responded;
    response.resume();
    expect(response.statusCode).toBe(404);
    expect(deleteFile).toHaveBeenCalledWith(object.oid);
  });
});

test("Uploads require a token that can write to the repository", async () => {
  expect((await request([file], { token: null })).status).toBe(401);
  expect((await request([file], { token: "hf_read" })).status).toBe(403);
  expect((await request([file], { token: "hf_other" })).status).toBe(403);
});

test("Uploads for a pull request require a token that can open pull requests", async () => {
  const { num } = await (
    await api.call("POST /api/datasets/local-user/data/discussions", {
      ...{ token: "hf_other", body: { title: "Change", pullRequest: true, description: "" } },
    })
  ).json();
  for (const ref of [null, `refs/pr/${num}`]) {
    expect((await request([file], { ref, token: "hf_other" })).status).toBe(200);
    expect((await request([file], { ref, token: "hf_read" })).status).toBe(403);
    expect((await request([file], { ref, token: null })).status).toBe(401);
  }
});

test("A request for a token of Xet is answered with the setting that disables Xet", async () => {
  for (const kind of ["read", "write"]) {
    const response = await api.call(`GET /api/datasets/local-user/data/xet-${kind}-token/main`);
    expect([response.status, (await response.json()).error]).toEqual([
      404,
      expect.stringContaining("HF_HUB_DISABLE_XET=1"),
    ]);
  }
});

test("Files of more than 50 GB are declined one by one, and invalid requests as a whole", async () => {
  const { objects } = await (await request([file, { oid: "3".repeat(64), size: 50_000_000_001 }])).json();
  expect(objects[1]).toMatchObject({ error: { code: 422 } });
  expect(objects[0].error).toBeUndefined();
  for (const body of [
    { operation: "upload", objects: [{ oid: "x", size: 1 }] },
    { operation: "download", objects: [] },
    { operation: "upload" },
  ])
    expect((await api.call(`POST ${batch}`, { body })).status).toBe(400);
});

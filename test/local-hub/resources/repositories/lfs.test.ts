import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ContentStore } from "../../../../src/local-hub/git/content-store.ts";
import { LargeFiles } from "../../../../src/local-hub/git/large-files.ts";
import { jsonLines, RepositoryApi } from "../../support/repository-api.ts";

const batch = "/datasets/local-user/data.git/info/lfs/objects/batch";
/** More than other bodies can have. */
const content = randomBytes(11 * 1024 * 1024);
const file = { oid: createHash("sha256").update(content).digest("hex"), size: content.byteLength };
let api: RepositoryApi;

beforeAll(async () => {
  api = await RepositoryApi.open();
});

afterAll(() => api[Symbol.asyncDispose]());

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
    const saveLarge = vi.spyOn(ContentStore.prototype, "saveLarge");
    const deleteFile = vi.spyOn(LargeFiles.prototype, "delete");
    onTestFinished(() => {
      saveLarge.mockRestore();
      deleteFile.mockRestore();
    });
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

import { createHash } from "node:crypto";
import { openAsBlob, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { Transport } from "../../../src/hub/transport/transport.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { allOf, rejectionOf } from "../scripted-hub.ts";
import { useLocalHub } from "./local-repositories.ts";

const open = useLocalHub();

const parquet = new Uint8Array([80, 65, 82, 49]);
const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

describe("A large file", () => {
  test("is uploaded before the commit, as bytes, text, or a blob from disk", { tags: "slow" }, async () => {
    const { repo } = await open();
    const large = Buffer.alloc(10_500_000, "ab");
    const path = join(await createFolder(), "disk.bin");
    await writeFile(path, large);
    const files = {
      "a.parquet": parquet,
      "b.parquet": "text",
      "disk.bin": await openAsBlob(path, { type: "image/png" }),
      "README.md": new Blob(["# Data"]),
    };
    const { oid } = await repo.commit({ message: "Add data", files });
    const entries = await allOf(repo.listFiles());
    expect(Object.fromEntries(entries.map(({ path, lfs }) => [path, lfs?.oid]))).toEqual({
      ".gitattributes": undefined,
      "README.md": undefined,
      "a.parquet": sha256(parquet),
      "b.parquet": sha256(Buffer.from("text")),
      "disk.bin": sha256(large),
    });
    expect(Buffer.from(await repo.readBytes("disk.bin", { maxBytes: 20_000_000 })).equals(large)).toBe(true);
    expect(await repo.commit({ message: "Again", files })).toEqual({ oid, created: false });
  });

  test("that the Hub has is not uploaded again, and an interrupted upload is repeated", async () => {
    const { repo, network } = await open();
    network.loseNext(/^PUT /, "request");
    await repo.commit({ message: "Add", files: { "a.parquet": parquet } });
    await repo.commit({ message: "Copy", files: { "b.parquet": parquet, "c.parquet": parquet } });
    expect(network.calls.filter((call) => call.startsWith("PUT "))).toHaveLength(2);
    expect(await repo.readBytes("c.parquet")).toEqual(parquet);
  });

  test("is uploaded for a pull request on a repository that the account cannot write", async () => {
    const { repo, connect } = await open();
    const other = connect({ token: "hf_other" });
    const request = { title: "Add data", marker: "data" };
    const opened = await other.openPullRequest({ ...request, files: { "a.parquet": parquet } });
    expect(await repo.readBytes("a.parquet", { revision: opened?.ref ?? "" })).toEqual(parquet);
    await other.openPullRequest({ ...request, files: { "a.parquet": "changed" } });
    expect(await repo.readText("a.parquet", { revision: opened?.ref ?? "" })).toBe("changed");
    const refused = other.commit({ message: "Add data", files: { "a.parquet": parquet } });
    expect(await rejectionOf(refused)).toMatchObject({ code: "HUB_FORBIDDEN" });
  });
});

test("A file on disk that changes before its upload ends is not committed, and the error names the cause", async () => {
  const { repo, network } = await open();
  const path = join(await createFolder(), "a.parquet");
  await writeFile(path, parquet);
  const blob = await openAsBlob(path);
  const files = { "a.parquet": blob };
  const onUpload = () => writeFileSync(path, "changed");
  const changed = { code: "ARGUMENT_INVALID", retryable: false, fields: ["files"] };
  expect(await rejectionOf(repo.commit({ message: "Add", files, onUpload }))).toMatchObject(changed);
  for (const name of ["a.parquet", ".gitattributes"]) {
    expect(await rejectionOf(repo.commit({ message: "Add", files: { [name]: blob } }))).toMatchObject(changed);
  }
  expect(network.calls.some((call) => call.includes("/commit/"))).toBe(false);
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(repo.commit({ message: "Add", files, signal })).rejects.toThrow("stopped");
});

/** Commits a file of 7 bytes to a Hub that answers its upload with this object. Returns the requests. */
async function commitTo(object: object, { hubUrl = "https://hub.example" } = {}) {
  const file = { path: "a.bin", uploadMode: "lfs", shouldIgnore: false };
  const content = new Uint8Array([1, 2, 3, 4, 5, 6, 7]);
  const answers: [pattern: RegExp, answer: object][] = [
    [/\/revision\//, { _id: "1", id: "me/data", sha: "0".repeat(40) }],
    [/\/paths-info\//, []],
    [/\/preupload\//, { files: [file] }],
    [/\/batch$/, { transfer: "basic", objects: [{ oid: sha256(content), size: 7, ...object }] }],
    [/\/commit\//, { success: true, commitOid: "1".repeat(40), commitUrl: "", hookOutput: "" }],
  ];
  const requests: { call: string; token: boolean; type: string | null; body: string }[] = [];
  const client = new HubClient({
    ...{ hubUrl, token: "hf_PlantedToken7e11" },
    async fetch(input, init) {
      const url = String(input);
      const headers = new Headers(init?.headers);
      const body =
        init?.body instanceof Blob ? Buffer.from(await init.body.arrayBuffer()).toString("hex") : `${init?.body}`;
      requests.push({
        call: `${init?.method} ${url}`,
        token: headers.has("authorization"),
        type: headers.get("content-type"),
        body,
      });
      const [, answer = {}] = answers.find(([pattern]) => pattern.test(url)) ?? [];
      return Response.json(answer, { headers: { etag: `"${url.at(-1)}"` } });
    },
  });
  const repo = client.repo({ type: "model", name: "me/data" });
  const result = await repo.commit({ message: "Add", files: { "a.bin": content } }).catch((error: unknown) => error);
  return { result, requests: requests.slice(3) };
}

const lfsType = "application/vnd.git-lfs+json";

test("A file is uploaded in parts, and verified with the token, if the Hub requests it", async () => {
  const upload = {
    href: "https://hub.example/complete",
    header: {
      chunk_size: "3",
      "00001": "https://s3.example/1",
      "00002": "https://s3.example/2",
      "00003": "https://s3.example/3",
    },
  };
  const verify = { href: "https://hub.example/verify" };
  const { requests } = await commitTo({ actions: { upload, verify } });
  const oid = sha256(new Uint8Array([1, 2, 3, 4, 5, 6, 7]));
  const parts = [1, 2, 3].map((partNumber) => ({ partNumber, etag: `"${partNumber}"` }));
  expect(requests.slice(1, -1)).toEqual([
    { call: "PUT https://s3.example/1", token: false, type: null, body: "010203" },
    { call: "PUT https://s3.example/2", token: false, type: null, body: "040506" },
    { call: "PUT https://s3.example/3", token: false, type: null, body: "07" },
    { call: "POST https://hub.example/complete", token: false, type: lfsType, body: JSON.stringify({ oid, parts }) },
    { call: "POST https://hub.example/verify", token: true, type: lfsType, body: JSON.stringify({ oid, size: 7 }) },
  ]);
  expect(requests[0]).toMatchObject({
    call: "POST https://hub.example/me/data.git/info/lfs/objects/batch",
    type: lfsType,
  });
  expect(requests.at(-1)?.body).toContain(`{"path":"a.bin","algo":"sha256","oid":"${oid}","size":7}`);
});

test.each([
  ["that is refused", { error: { code: 422, message: "too large" } }, "HUB_REFUSED"],
  ["with a URL on this machine", { actions: { upload: { href: "http://127.0.0.1:1/put" } } }, "HUB_REFUSED"],
  [
    "with a missing part",
    { actions: { upload: { href: "https://hub.example/", header: { chunk_size: "3" } } } },
    "HUB_RESPONSE_INVALID",
  ],
  ...[0, -3, "x"].map((chunk_size): [string, object, string] => [
    `in parts of the size ${chunk_size}`,
    { actions: { upload: { href: "https://hub.example/", header: { chunk_size, 1: "https://s3.example/1" } } } },
    "HUB_RESPONSE_INVALID",
  ]),
])("A file %s is not committed", async (_, object, code) => {
  const { result, requests } = await commitTo(object);
  expect(result).toMatchObject({ code });
  expect(requests).toHaveLength(1);
});

test("The token is not sent to another server that verifies an upload", async () => {
  const actions = { upload: { href: "https://s3.example/put" }, verify: { href: "https://other.example/verify" } };
  const { requests } = await commitTo({ actions });
  expect(requests.map(({ token }) => token)).toEqual([true, false, false, true]);
});

test("An upload has 10 s more time for each MB", async () => {
  const setTimer = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => setTimer.mockRestore());
  const transport = new Transport({
    ...{ hubUrl: "https://hub.example", timeoutMs: 5_000, attempts: 1 },
    findToken: async () => "hf_PlantedToken7e11",
    fetch: async () => new Response(),
  });
  await transport.upload({ method: "PUT", url: "https://s3.example/put", body: new Blob(["x".repeat(1_000_000)]) });
  expect(setTimer).toHaveBeenCalledWith(expect.any(Function), 15_000);
});

test("An upload that fails reveals neither the signature of its URL nor the token", async () => {
  const hub = "https://hub.example";
  const transport = new Transport({
    ...{ hubUrl: hub, timeoutMs: 5_000, attempts: 1 },
    findToken: async () => "hf_PlantedToken7e11",
    fetch: async (input) => Response.json({ error: `denied: ${input} hf_PlantedToken7e11` }, { status: 403 }),
  });
  const url = `${hub}/put?X-Signature=PlantedSignature`;
  const error = await rejectionOf(transport.upload({ method: "PUT", url, body: "x", sendsToken: true }));
  expect(String(error)).toContain("denied");
  expect(String(error)).not.toMatch(/Planted/);
});

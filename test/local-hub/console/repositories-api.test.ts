import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openContext } from "../support/context.ts";

type Files = Readonly<Record<string, string | Uint8Array | null>>;

let context: HubContext;
let client: ConsoleClient;
let send: (path: string, init?: RequestInit) => Promise<Response>;
/** Sends a request of a bot to the Hub's API. */
let bot: (line: string, body?: object, token?: string) => Promise<unknown>;

const repo = "/api/datasets/me/data";

beforeEach(async () => {
  ({ context } = openContext());
  const console = createHubConsole(context);
  const app = createHubApp(context, { console });
  send = async (path, init) => console.fetch(new Request(new URL(path, context.hubUrl), init));
  client = await ConsoleClient.signIn(console.createSignInLink(context.hubUrl), send);
  bot = async (line, body, token = "hf_local") => {
    const [method = "", path = ""] = line.split(" ");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", host: "127.0.0.1:5050" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await app.fetch(new Request(new URL(path, context.hubUrl), init));
    expect(response.status, `${line}: ${await response.clone().text()}`).toBe(200);
    return response.json();
  };
  await bot("POST /api/repos/create", { type: "dataset", name: "data", organization: "me" });
});

/** Commits files, where `null` deletes a file, and returns the ID of the commit. */
async function commit(files: Files, { query = "", branch = "main" } = {}): Promise<string> {
  const changed = Object.entries(files);
  const answer = await bot(`POST ${repo}/commit/${encodeURIComponent(branch)}${query}`, {
    summary: "Change files",
    description: "Because of a test.",
    files: changed.flatMap(([path, content]) =>
      content === null ? [] : { path, content: Buffer.from(content).toString("base64"), encoding: "base64" },
    ),
    deletedEntries: changed.flatMap(([path, content]) => (content === null ? { path } : [])),
  });
  return String(Reflect.get(Object(answer), "commitOid"));
}

function queryOf(path: string, { type = "dataset", name = "me/data" } = {}): string {
  return `${new URLSearchParams({ type, name, path })}`;
}

/** Reads a part of the repository as the console does. */
const read = (path: string, key: { type?: string; name?: string } = {}) =>
  client.get(`repositories/read?${queryOf(path, key)}`);

const encode = (path: string) => path.split("/").map(encodeURIComponent).join("/");

describe("The console reads a repository", () => {
  test("with its folders, commits, and discussions, page by page", async () => {
    await commit({ "a.txt": "a", "b/c.txt": "c" });
    const first = await read("tree/main?limit=2");
    expect(first.body).toMatchObject({ value: [{ path: ".gitattributes" }, { path: "a.txt", size: 1 }] });
    const next = String(Reflect.get(Object(first.body), "next"));
    expect((await read(next)).body).toEqual({ value: [expect.objectContaining({ path: "b", type: "directory" })] });
    expect((await read("tree/main/b")).body).toMatchObject({ value: [{ path: "b/c.txt" }] });

    const commits = await read("commits/refs%2Fheads%2Fmain?limit=1");
    expect(commits.body).toMatchObject({ value: [{ title: "Change files" }], next: expect.stringContaining("p=1") });

    for (let num = 1; num <= 51; num += 1)
      await bot(`POST ${repo}/discussions`, { title: `Topic ${num}`, description: "" });
    expect((await read("discussions")).body).toMatchObject({
      value: { discussions: expect.arrayContaining([expect.objectContaining({ num: 51, title: "Topic 51" })]) },
      next: "discussions?p=1",
    });
    expect((await read("discussions?p=1")).body).toEqual({ value: expect.objectContaining({ start: 50 }) });
  });

  test("with the thread of a pull request, and its diff after the merge", async () => {
    await commit({ "a.txt": "one\n" });
    await commit({ "a.txt": "one\ntwo\n" }, { query: "?create_pr=1" });
    await commit({ "c.txt": "three\n" }, { branch: "refs/pr/1" });
    await bot(`POST ${repo}/discussions/1/comment`, { comment: "Looks good." });
    await bot(`POST ${repo}/discussions/1/merge`, {});
    await commit({ "b.txt": "later\n" });
    expect((await read("discussions/1")).body).toMatchObject({
      value: {
        ...{ isPullRequest: true, status: "merged", changes: { mergeCommitId: expect.any(String) } },
        events: expect.arrayContaining([
          expect.objectContaining({ type: "commit" }),
          expect.objectContaining({ type: "comment" }),
          expect.objectContaining({ type: "status-change" }),
        ]),
      },
    });
    expect((await read("changes/refs%2Fpr%2F1")).body).toMatchObject({
      value: {
        files: [{ path: "a.txt", added: 1, removed: 0, patch: "@@ -1 +1,2 @@\n one\n+two\n" }, { path: "c.txt" }],
      },
    });
  });

  test.each(["model", "dataset"])("without an owner, such as an old %s", async (type) => {
    const event = { scope: "repo.content", action: "update" };
    await bot("POST /_local/events", { repo: { type, name: "gpt2" }, event, files: { "a.txt": "one" } });
    const key = { type, name: "gpt2" };
    const paths = ["tree/main", "resolve/main/a.txt", "commits/main", "discussions", "changes/main"];
    for (const path of paths) expect((await read(path, key)).status, path).toBe(200);
  });

  test("as its owner, also if it is private, and by its previous name", async () => {
    await bot("POST /api/repos/create", { type: "model", name: "secret", private: true }, "hf_other");
    for (const path of ["tree/main", "resolve/main/.gitattributes", "discussions"]) {
      expect((await read(path, { type: "model", name: "other-user/secret" })).status, path).toBe(200);
    }
    await bot("POST /api/repos/move", { fromRepo: "me/data", toRepo: "me/renamed", type: "dataset" });
    expect((await read("tree/main")).status).toBe(200);
    expect((await client.get("repositories/one?type=dataset&name=me/data")).body).toMatchObject({ name: "me/renamed" });
  });
});

describe("A changed file", () => {
  const numbers = Array.from({ length: 30_000 }, (_, number) => `${number}\n`).join("");
  test.each<[string, { before?: string | Uint8Array; after: string | Uint8Array | null; file: object }]>([
    ["is new", { after: "a\n", file: { change: "new", sizes: [2], added: 1, removed: 0 } }],
    ["is deleted", { before: "a\n", after: null, file: { change: "deleted", sizes: [2], removed: 1 } }],
    ["is changed", { before: "a\n", after: "b\n", file: { change: "changed", patch: "@@ -1 +1 @@\n-a\n+b\n" } }],
    ["is empty", { after: "", file: { change: "new", sizes: [0], added: 0 } }],
    ["is binary", { before: "a", after: new Uint8Array([0, 1]), file: { reason: "binary", sizes: [1, 2] } }],
    ["is large", { before: "a", after: "x".repeat(300_000), file: { reason: "large", sizes: [1, 300_000] } }],
    ["is long", { after: numbers, file: { isCut: true, added: 30_000, patch: expect.stringMatching(/^.{64000}$/s) } }],
  ])("%s", async (_, { before, after, file }) => {
    if (before !== undefined) await commit({ "file.txt": before });
    const id = await commit({ "file.txt": after });
    const { body } = await read(`changes/${id}`);
    expect(body).toMatchObject({
      value: {
        commit: { sha: id, title: "Change files", message: "Because of a test.", author: "local-user" },
        skip: 0,
      },
    });
    expect(body).toMatchObject({ value: { files: [{ path: "file.txt", isCut: false, ...file }], total: 1 } });
  });

  test("is renamed", async () => {
    await commit({ "old.txt": "text" });
    const id = await commit({ "old.txt": null, "new.txt": "text" });
    const file = { change: "renamed", path: "new.txt", previousPath: "old.txt", added: 0, removed: 0, isCut: false };
    expect((await read(`changes/${id}`)).body).toMatchObject({ value: { files: [file] } });
  });

  test("is in LFS, and neither compared nor shown", async () => {
    const content = Buffer.from("large\n");
    const lfs = { oid: createHash("sha256").update(content).digest("hex"), size: content.byteLength };
    const { store } = context;
    const id = store.repositories.get({ type: "dataset", name: "me/data" })?.id ?? "";
    await store.content.saveLarge(id, lfs, Readable.from([content]));
    const lfsFile = { path: "a.bin", algo: "sha256", ...lfs };
    await bot(`POST ${repo}/commit/main`, { summary: "Add a file", lfsFiles: [lfsFile] });
    expect((await read("changes/main")).body).toMatchObject({ value: { files: [{ reason: "LFS", sizes: [6] }] } });
    const open = vi.spyOn(store.content, "openLarge");
    expect((await read("resolve/main/a.bin")).body).toEqual({ value: { size: 6, isInLfs: true, isCut: false } });
    expect(open.mock.results).toMatchObject([{ value: { destroyed: true } }]);
    await client.download(`repositories/download?${queryOf("resolve/main/a.bin")}`, { method: "HEAD" });
    expect(open).toHaveBeenCalledTimes(1);
    const downloaded = await client.download(`repositories/download?${queryOf("resolve/main/a.bin")}`);
    expect(await downloaded.text()).toBe("large\n");
  });

  test("is on a later page if there are many, also in the first commit of a branch", async () => {
    await commit(Object.fromEntries(Array.from({ length: 21 }, (_, number) => [`${number}.txt`, "text"])));
    await bot(`POST ${repo}/super-squash/main`, {});
    const first = await read("changes/main");
    expect(first.body).toMatchObject({ value: { total: 22, files: { length: 20 } }, next: "changes/main?skip=20" });
    expect((await read("changes/main?skip=20")).body).toEqual({ value: expect.objectContaining({ skip: 20 }) });
  });
});

describe("A file", () => {
  test.each([
    ["of text", "line one\nline two", { text: "line one\nline two", size: 17 }],
    ["that is empty", "", { text: "", size: 0 }],
    ["that is binary", new Uint8Array([1, 0, 2]), { size: 3 }],
  ])("%s", async (_, content, value) => {
    await commit({ file: content });
    expect((await read("resolve/main/file")).body).toEqual({ value: { isInLfs: false, isCut: false, ...value } });
  });

  test("that is large is cut between two characters", async () => {
    await commit({ file: `a${"é".repeat(200_000)}` });
    const text = `a${"é".repeat(131_071)}`;
    expect((await read("resolve/main/file")).body).toEqual({
      value: { size: 400_001, isInLfs: false, text, isCut: true },
    });
  });

  test.each(["a b/<img src=x>.html", "%2e%2e/?#&+.html", "…/é\"'.svg", "..a/refs"])(
    "named %j is downloaded",
    async (path) => {
      const html = "<script>alert(1)</script>";
      await commit({ [path]: html });
      const file = `resolve/refs%2Fheads%2Fmain/${encode(path)}`;
      expect((await read(file)).body).toMatchObject({ value: { text: html } });
      const response = await client.download(`repositories/download?${queryOf(file)}`);
      expect(await response.text()).toBe(html);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        "content-type": "application/octet-stream",
        "content-disposition": expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%-]+; filename="[ -~]+";$/),
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
      });
    },
  );
});

describe("The console does not read", () => {
  test("other paths than the parts of the repository", async () => {
    await bot("POST /api/repos/create", { type: "dataset", name: "other", organization: "me" });
    const outside = ["../../acme/other/tree/main", "/api/settings/webhooks", "//acme/other/tree/main", "http://"];
    const urls = [
      "https://huggingface.co/api/datasets/me/other/tree/main",
      "../other/tree/main",
      "../%6Fther/tree/main",
    ];
    const nested = ["resolve/../../other/resolve/main/.gitattributes", "resolve/../../../../api/whoami-v2"];
    const missing = ["tree/gone", "tree/main/gone", "commits/gone", "changes/gone", "resolve/main/gone"];
    const others = ["", "settings", "discussions/1", "discussions/%00"];
    for (const path of [...outside, ...urls, ...nested, ...missing, ...others]) {
      const answer = await read(path);
      expect(answer, path).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: expect.any(String) } });
      expect((await client.get(`repositories/download?${queryOf(path)}`)).status, path).toBe(404);
    }
  });

  test("a repository that does not exist", async () => {
    for (const key of ["dataset:me/none", "bucket:me/data", "none:me/data", "dataset:../me"]) {
      const [type = "", name = ""] = key.split(":");
      expect(await read("tree/main", { type, name }), key).toMatchObject({ status: 404 });
    }
  });

  test("a repository or a branch that was deleted meanwhile", async () => {
    await bot(`POST ${repo}/branch/dev`, {});
    expect((await read("tree/dev")).status).toBe(200);
    await bot(`DELETE ${repo}/branch/dev`);
    expect((await read("tree/dev")).status).toBe(404);
    await bot("DELETE /api/repos/delete", { type: "dataset", name: "data", organization: "me" });
    expect((await read("tree/main")).status).toBe(404);
    expect((await client.get("repositories/one?type=dataset&name=me/data")).status).toBe(404);
  });

  test("an invalid page", async () => {
    expect(await read("tree/main?limit=none")).toMatchObject({ status: 400, body: { code: "ARGUMENT_INVALID" } });
  });

  test("a body for HEAD", async () => {
    for (const [route, path, status] of [
      ["read", "tree/main", 200],
      ["read", "tree/gone", 404],
      ["download", "resolve/main/.gitattributes", 200],
      ["download", "resolve/main/gone", 404],
    ] as const) {
      const response = await client.download(`repositories/${route}?${queryOf(path)}`, { method: "HEAD" });
      expect([response.status, await response.text()], path).toEqual([status, ""]);
    }
  });

  test("for a client that is not signed in", async () => {
    for (const route of ["read", "download", "one"]) {
      const path = `/_console/api/repositories/${route}?${queryOf("tree/main")}`;
      expect((await send(path)).status).toBe(401);
      expect((await send(path, { headers: { authorization: "Bearer hf_local" } })).status).toBe(401);
    }
  });

  test("with a request to change something, which changes nothing", async () => {
    await bot(`POST ${repo}/discussions`, { title: "Topic", description: "" });
    const path = `repositories/read?${queryOf("discussions/1")}`;
    for (const method of ["POST", "PUT", "DELETE"])
      expect((await send(`/_console/api/${path}`, { method })).status).toBe(401);
    expect((await client.post(path, {})).status).toBe(404);
    expect((await read("discussions/1")).status).toBe(200);
  });
});

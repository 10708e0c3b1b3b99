import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { readDiff } from "../../../../src/hub/repositories/changed-files.ts";
import { createHubApp } from "../../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../../src/local-hub/console/hub-console.ts";
import { LargeFiles } from "../../../../src/local-hub/git/large-files.ts";
import {
  createRepository,
  moveRepository,
  updateRepositorySettings,
} from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { readUploadDocument, readUploadLines } from "../../../../src/local-hub/resources/repositories/upload-lines.ts";
import {
  createIgnore,
  createUploadMode,
  parsePattern,
} from "../../../../src/local-hub/resources/repositories/upload-mode.ts";
import { openContext } from "../../support/context.ts";
import { jsonLines, RepositoryApi } from "../../support/repository-api.ts";

const base = "/api/datasets/local-user/data";
const header = { key: "header", value: { summary: "Change files", description: "Why." } };
const api = await RepositoryApi.share();
const first = await api.commit({ "a.txt": "one\n", "b.txt": "two\n" });
const second = await api.commit({ "a.txt": "<b>\n", "b.txt": null, "c.txt": "three\n" });

const json = async (line: string, options = {}) => (await api.call(line, options)).json();
const send = (lines: readonly object[], { query = "", token = "hf_local", rev = "main" } = {}) =>
  api.call(`POST ${base}/commit/${rev}${query}`, { body: jsonLines(...lines), token });
const write = (path: string, content: string) => ({ key: "file", value: { path, content } });

test("Commits are listed by pages, newest first", async () => {
  const response = await api.call(`GET ${base}/commits/${second}?limit=2`);
  const commits = await response.json();
  expect(commits).toMatchObject([
    { id: second, title: "Change files", message: "", authors: [{ user: "local-user" }] },
    { id: first },
  ]);
  expect(response.headers.get("x-total-count")).toBe("3");
  const [, next] = /^<(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
  const last = await api.call(`GET ${next}`);
  expect(await last.json()).toMatchObject([{ title: "initial commit" }]);
  expect(last.headers.get("link")).toBeNull();
});

test("The formatted title and message are HTML", async () => {
  const lines = [{ key: "header", value: { summary: "<i>", description: "a & b" } }, write("formatted.txt", "x")];
  await send(lines);
  const [commit] = await json(`GET ${base}/commits/main?expand%5B%5D=formatted&limit=1`);
  expect(commit.formatted).toEqual({ title: "&lt;i&gt;", message: "a &amp; b" });
});

test("Refs in paths do not have to be encoded", async () => {
  for (const rev of ["refs/heads/main", "refs%2Fheads%2Fmain"]) {
    expect((await api.call(`GET ${base}/commits/${rev}`)).status).toBe(200);
    expect((await api.call(`GET ${base}/tree/${rev}`)).status).toBe(200);
  }
});

describe("A comparison", () => {
  const changed = [
    { path: "a.txt", status: "modified" },
    { path: "b.txt", status: "deleted" },
    { path: "c.txt", status: "added" },
  ];

  test("of two commits contains the changed files as patches or raw lines", async () => {
    expect(readDiff(await json(`GET ${base}/compare/${first}..${second}`))).toEqual(changed);
    expect(readDiff(await json(`GET ${base}/compare/${first}..${second}?raw=true`))).toEqual(changed);
    expect(readDiff(await json(`GET ${base}/compare/${second}^..${second}`))).toEqual(changed);
    expect(await json(`GET ${base}/compare/${second}..${second}`)).toBe("");
  });

  test("with three dots starts at the common ancestor", async () => {
    await api.call(`POST ${base}/branch/feature%2Fx`, { body: { startingPoint: first } });
    await api.commit({ "x.txt": "x\n" }, { branch: "feature/x" });
    expect(readDiff(await json(`GET ${base}/compare/main...feature%2Fx`))).toEqual([
      { path: "x.txt", status: "added" },
    ]);
    expect(readDiff(await json(`GET ${base}/compare/main..feature%2Fx`))).toContainEqual({
      path: "b.txt",
      status: "added",
    });
  });

  test("needs two known revisions", async () => {
    for (const [compare, status] of [
      ["main", 400],
      ["main..nope", 404],
      [`main..${"0".repeat(40)}`, 404],
    ] as const)
      expect((await api.call(`GET ${base}/compare/${compare}`)).status, compare).toBe(status);
  });
});

describe("A commit", () => {
  test("writes, moves, and deletes files", async () => {
    await send([header, write("old/a.txt", "a"), write("old/b.txt", "b"), write("keep.txt", "k")]);
    const response = await send([
      header,
      { key: "file", value: { path: "moved.txt", oldPath: "keep.txt" } },
      { key: "deletedFolder", value: { path: "old/" } },
      { key: "file", value: { path: "base64.txt", content: "aGk=", encoding: "base64" } },
    ]);
    const { commitOid, ...answer } = await response.json();
    const commitUrl = `${api.url}/datasets/local-user/data/commit/${commitOid}`;
    expect(answer).toEqual({ success: true, commitUrl, hookOutput: "" });
    expect(readDiff(await json(`GET ${base}/compare/${commitOid}^..${commitOid}`))).toEqual(
      expect.arrayContaining([
        { path: "base64.txt", status: "added" },
        { path: "old/a.txt", status: "deleted" },
        { path: "old/b.txt", status: "deleted" },
      ]),
    );
    const [commit] = await json(`GET ${base}/commits/main?limit=1`);
    expect(commit).toMatchObject({ id: commitOid, title: "Change files", message: "Why." });
  });

  test("is larger than other bodies can be", { tags: "slow" }, async () => {
    const content = "x".repeat(5_500_000);
    expect((await send([header, write("many/1.txt", content), write("many/2.txt", content)])).status).toBe(200);
  });

  test("needs the current head as its parent", async () => {
    const lines = [{ key: "header", value: { ...header.value, parentCommit: first } }, write("a.txt", "conflict")];
    const response = await send(lines);
    expect(response.status).toBe(412);
    // The Python client's users match this text.
    const text = "The branch was updated since you opened this page. Please refresh and try again.";
    expect((await response.json()).error).toContain(text);
  });

  test("that moves a file which the new head does not have needs another parent, too", async () => {
    const moved = { key: "file", value: { path: "moved.txt", oldPath: "b.txt" } };
    const parent = { key: "header", value: { ...header.value, parentCommit: first } };
    expect((await send([parent, moved])).status).toBe(412);
    expect((await send([header, moved])).status).toBe(400);
  });

  test("can open a pull request against a branch, but not against a commit", async () => {
    const options = { query: "?create_pr=1", rev: first };
    const refused = await send([header, write("pr2.txt", "p")], options);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([404, "RevisionNotFound"]);
    expect((await send([header, write("pr2.txt", "p")], { ...options, rev: "main" })).status).toBe(200);
  });

  test("deletes a folder that the client names like a file", async () => {
    await send([header, write("folder/a.txt", "a"), write("folder/b/c.txt", "c")]);
    expect((await send([header, { key: "deletedFile", value: { path: "folder" } }])).status).toBe(200);
    expect(await json(`POST ${base}/paths-info/main`, { body: { paths: ["folder", "folder/a.txt"] } })).toEqual([]);
  });

  test("with a backslash in a path is refused with 422, also before the upload", async () => {
    const path = "..\\a.txt";
    const preupload = await api.call(`POST ${base}/preupload/main`, { body: { files: [{ path, size: 1 }] } });
    const statuses = [preupload.status, (await send([header, write(path, "b")])).status];
    expect(statuses).toEqual([422, 422]);
  });

  test.each(["BODY_INCOMPLETE", "ECONNRESET"])(
    "whose client stops halfway is no failure of the local Hub: %s",
    async (code) => {
      const { context } = openContext();
      const app = createHubApp(context, { console: createHubConsole(context) });
      createRepository(context, { type: "dataset", name: "local-user/data", user: "local-user" });
      const log = vi.spyOn(context.log, "error");
      const { status } = await app.request(`${base}/commit/main`, {
        ...{ method: "POST", headers: { host: "localhost", authorization: "Bearer hf_local" }, duplex: "half" },
        body: new ReadableStream({
          start: (controller) => controller.error(Object.assign(new Error("stopped"), { code })),
        }),
      });
      expect([status, log.mock.calls]).toEqual([400, []]);
    },
  );

  test("finds the repository again if it was moved or made private while the body arrived", async () => {
    const { context } = openContext();
    const app = createHubApp(context, { console: createHubConsole(context) });
    const repository = createRepository(context, { type: "dataset", name: "local-user/data", user: "local-user" });
    const headers = { host: "localhost", authorization: "Bearer hf_other" };
    const openPullRequest = (change: () => void) =>
      app.request(`${base}/commit/main?create_pr=1`, {
        ...{ method: "POST", headers, duplex: "half" },
        body: new ReadableStream(
          {
            pull(controller) {
              change();
              controller.enqueue(Buffer.from(jsonLines(header, write("pr.txt", "p"))));
              controller.close();
            },
          },
          { highWaterMark: 0 },
        ),
      });
    const move = () => moveRepository(context, { repository, name: "local-user/moved", user: "local-user" });
    expect((await openPullRequest(move)).status).toBe(307);
    expect(context.store.repositories.all().map(({ name }) => name)).toEqual(["local-user/moved"]);

    const [moved = repository] = context.store.repositories.all();
    moveRepository(context, { repository: moved, name: "local-user/data", user: "local-user" });
    const hide = () =>
      updateRepositorySettings(context, { repository, settings: { private: true }, user: "local-user" });
    expect((await openPullRequest(hide)).status).toBe(404);
  });

  test.each([
    ["an unknown branch", { rev: "nope" }, 404],
    ["a commit instead of a branch", { rev: "0".repeat(40) }, 404],
    ["a token that can only read", { token: "hf_read" }, 403],
    ["the token of another user", { token: "hf_other" }, 403],
  ])("with %s is refused", async (_, options, status) => {
    expect((await send([header, write("a.txt", "b")], options)).status).toBe(status);
  });

  test.each([
    ["a path that leaves the folder", write("../a.txt", "b")],
    ["a file that does not exist", { key: "deletedFile", value: { path: "nope" } }],
    ["a large file that was not uploaded", { key: "lfsFile", value: { path: "a.bin", oid: "0".repeat(64), size: 3 } }],
    ["no content", { key: "file", value: { path: "a.txt" } }],
    ["content that is not Base64", { key: "file", value: { path: "a.txt", content: "!!!", encoding: "base64" } }],
    ["more than 10 MB", write("a.txt", "x".repeat(10_000_001))],
  ])("with %s is refused", async (_, line) => {
    expect((await send([header, line])).status).toBe(400);
  });
});

describe("The Python client", () => {
  const headers = { "user-agent": "unknown/None; hf_hub/1.33.0; python/3.13.1" };
  const preupload = async (files: readonly object[]) => {
    const answer = await json(`POST ${base}/preupload/main`, { body: { files }, headers });
    return answer.files.map(({ uploadMode }: { uploadMode: string }) => uploadMode);
  };
  const commit = (lines: readonly object[], query = "", token = "hf_local") => {
    const body = jsonLines(header, ...lines);
    return json(`POST ${base}/commit/main${query}`, { body, headers, token });
  };
  const inline = (path: string, content: Uint8Array) => ({
    ...{ key: "file", value: { path, content: Buffer.from(content).toString("base64"), encoding: "base64" } },
  });

  test("sends files of up to 50 MB in the commit, of which all together fit into one commit", async () => {
    const file = (size: number) => ({ path: "a.bin", size });
    const [small, max, above] = [file(1_000), file(50_000_000), file(50_000_001)];
    expect(await preupload([small, max, above])).toEqual(["regular", "regular", "lfs"]);
    expect(await preupload([max, max, max, max, small])).toEqual(["regular", "regular", "regular", "lfs", "regular"]);
  });

  test("sends files in the commit that are stored in LFS like the uploads of other clients", {
    tags: "slow",
  }, async () => {
    const large = Buffer.alloc(10_000_001, "a");
    const files = { "inline.bin": Buffer.from("PK\0\0"), "inline.txt": large, "text.txt": Buffer.from("text") };
    await commit(Object.entries(files).map(([path, content]) => inline(path, content)));
    const paths = Object.keys(files);
    const entries = await json(`POST ${base}/paths-info/main`, { body: { paths } });
    const lfs = (content: Buffer, pointerSize: number) => ({
      ...{ oid: createHash("sha256").update(content).digest("hex"), size: content.byteLength, pointerSize },
    });
    expect(entries).toEqual([
      expect.objectContaining({ path: "inline.bin", size: 4, lfs: lfs(files["inline.bin"], 126) }),
      expect.objectContaining({ path: "inline.txt", size: 10_000_001, lfs: lfs(large, 133) }),
      { type: "file", path: "text.txt", size: 4, oid: expect.any(String) },
    ]);
    const download = await api.call("GET /datasets/local-user/data/resolve/main/inline.txt");
    expect(Buffer.from(await download.arrayBuffer()).equals(large)).toBe(true);
  });

  test("gets the ID by which it recognizes that a file in LFS has not changed", async () => {
    await commit([inline("same.bin", Buffer.from("hello\n"))]);
    const idOf = async (size: number) => {
      const body = { files: [{ path: "same.bin", size, sample: "AAAA" }] };
      const { files } = await json(`POST ${base}/preupload/main`, { body, headers });
      return files[0].oid;
    };
    // `git hash-object` prints this ID.
    expect(await idOf(6)).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
    expect(await idOf(7)).toBe(createHash("sha256").update("hello\n").digest("hex"));
  });

  test("gets no ID of a file in LFS whose content was lost, and uploads it again", async () => {
    await commit([inline("lost.bin", Buffer.from("lost\n"))]);
    const files = [{ path: "lost.bin", size: 5, sample: "AAAA" }];
    using _has = vi.spyOn(LargeFiles.prototype, "has").mockReturnValue(false);
    for (const options of [{ headers }, {}]) {
      const answer = await json(`POST ${base}/preupload/main`, { body: { files }, ...options });
      expect(answer.files).toEqual([{ path: "lost.bin", uploadMode: expect.any(String), shouldIgnore: false }]);
    }
  });

  test("sends large files in the commit of a pull request to a repository of another user", async () => {
    const { commitOid } = await commit([inline("pr.bin", Buffer.from([0, 1]))], "?create_pr=1", "hf_other");
    const entries = await json(`POST ${base}/paths-info/${commitOid}`, { body: { paths: "pr.bin" } });
    expect(entries).toMatchObject([{ lfs: { size: 2 } }]);
  });
});

test("The upload modes depend on the files at the revision", async () => {
  await api.commit({ ".gitignore": "*.log\n", "known.txt": "k" });
  const sample = Buffer.from("text").toString("base64");
  const names = ["known.txt", "a.bin", "a.log", "binary"];
  const files = names.map((path) => ({ path, size: 4, sample: path === "binary" ? "AAAA" : sample }));
  const answer = await json(`POST ${base}/preupload/main`, { body: { files } });
  expect(answer.files).toEqual([
    { path: "known.txt", uploadMode: "regular", shouldIgnore: false, oid: expect.stringMatching(/^[0-9a-f]{40}$/) },
    { path: "a.bin", uploadMode: "lfs", shouldIgnore: false },
    { path: "a.log", uploadMode: "regular", shouldIgnore: true },
    { path: "binary", uploadMode: "lfs", shouldIgnore: false },
  ]);
  const attributes = await json(`POST ${base}/preupload/main`, { body: { files, gitAttributes: "", gitIgnore: "" } });
  expect(attributes.files[1]).toMatchObject({ uploadMode: "regular" });
  expect(attributes.files[2]).toMatchObject({ shouldIgnore: false });
});

async function* inChunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.byteLength; start += 7) yield bytes.subarray(start, start + 7);
}

const read = (...lines: readonly (object | string)[]) =>
  readUploadLines(inChunks(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")));

test("The lines of a commit are read, also if chunks split lines and characters", async () => {
  const file = { key: "file", value: { path: "grüße.txt", content: "ü" } };
  const deleted = { key: "deletedFolder", value: { path: "old/" } };
  expect(await read({ key: "header", value: { summary: "Change files" } }, file, "", deleted)).toEqual({
    header: { summary: "Change files", description: "" },
    operations: [{ key: "file", value: { path: "grüße.txt", content: "ü", encoding: "utf-8" } }, deleted],
  });
});

test("A commit in one JSON document is read", async () => {
  const body = { summary: "Change files", files: [{ path: "a", content: "b" }], deletedEntries: [{ path: "c" }] };
  const { operations } = await readUploadDocument(inChunks(JSON.stringify(body)));
  expect(operations.map(({ key }) => key)).toEqual(["file", "deletedEntry"]);
});

test.each([
  ["a missing header", [{ key: "file", value: { path: "a", content: "b" } }]],
  ["an empty summary", [{ key: "header", value: { summary: " " } }]],
  ["an unknown key", [header, { key: "link", value: { path: "a" } }]],
  ["a missing path", [header, { key: "file", value: { content: "b" } }]],
  ["an unknown encoding", [header, { key: "file", value: { path: "a", content: "b", encoding: "hex" } }]],
  ["an invalid SHA-256", [header, { key: "lfsFile", value: { path: "a", oid: "12" } }]],
  ["a line that is not JSON", [header, "{"]],
])("A commit with %s is refused with 400", async (_, lines) => {
  await expect(read(...lines)).rejects.toMatchObject({ status: 400 });
});

test("The size of each line is limited separately", { tags: "slow" }, async () => {
  async function* emptyLines(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify(header));
    const line = Buffer.alloc(8 * 1024 * 1024, " ").fill("\n", 0, 1);
    // Together, they are larger than one line can be.
    for (let count = 0; count < 10; count += 1) yield line;
  }
  expect(await readUploadLines(emptyLines())).toMatchObject({ operations: [] });
});

test("A line that is too large is refused with 413 before all of it is read", async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (const chunk = Buffer.alloc(8 * 1024 * 1024, "a"); ; sent += chunk.byteLength) yield chunk;
  }
  await expect(readUploadLines(endless())).rejects.toMatchObject({ status: 413 });
  expect(sent).toBeLessThan(128 * 1024 * 1024);
});

test("A body that is too large is refused with 413", async () => {
  const body = `${JSON.stringify(header)}\n${" ".repeat(100)}`;
  await expect(readUploadLines(inChunks(body), 100)).rejects.toMatchObject({ status: 413 });
  await expect(readUploadDocument(inChunks(body), 100)).rejects.toMatchObject({ status: 413 });
});

const text = Buffer.from("text");
const binary = Buffer.from([1, 0, 2]);

describe("The upload mode of a file", () => {
  const modeOf = createUploadMode(
    "# large files\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.png -filter\nplain.bin !filter\n",
  );

  test.each([
    ["a text file", { path: "a.txt", size: 4, sample: text }, "regular"],
    ["a file of 10 MB", { path: "a.txt", size: 10_000_000, sample: text }, "regular"],
    ["a file of more than 10 MB", { path: "a.txt", size: 10_000_001, sample: text }, "lfs"],
    ["a file that .gitattributes assigns to LFS", { path: "x/a.bin", size: 4, sample: text }, "lfs"],
    ["a file that a later rule excludes from LFS", { path: "plain.bin", size: 4, sample: text }, "regular"],
    ["a binary file", { path: "a.dat", size: 3, sample: binary }, "lfs"],
    ["a binary file that a rule excludes from LFS", { path: "a.png", size: 3, sample: binary }, "regular"],
    ["an empty file", { path: "a.bin", size: 0, sample: Buffer.alloc(0) }, "regular"],
  ])("for %s", (_, file, expected) => {
    expect(modeOf(file)).toBe(expected);
  });
});

test.each([
  ["notes.log", true],
  ["deep/notes.log", true],
  ["keep.log", false],
  ["build/out.txt", true],
  ["build", false],
  ["README.md", false],
])("The file %s is ignored: %s", (path, expected) => {
  expect(createIgnore("*.log\n!keep.log\nbuild/\n")(path)).toBe(expected);
});

test.each([
  ["*.bin", "model.bin", true],
  ["*.bin", "deep/model.bin", true],
  ["*.bin", "model.bin.txt", false],
  ["/README.md", "README.md", true],
  ["/README.md", "docs/README.md", false],
  ["data/*", "data/a.csv", true],
  ["data/*", "data/deep/a.csv", false],
  ["data/**", "data/deep/a.csv", true],
  ["**/cache/*", "a/b/cache/c", true],
  ["saved_model/**/*", "saved_model/a/b", true],
  ["*tfevents*", "runs/events.out.tfevents.1", true],
  ["file-?.txt", "file-1.txt", true],
  ["file-[0-9].txt", "file-7.txt", true],
  ["file-[!0-9].txt", "file-7.txt", false],
  ["file.txt", "fileXtxt", false],
  ["[a]-[b", "a-[b", true],
  ["\\*.txt", "*.txt", true],
  ["\\*.txt", "a.txt", false],
])("The pattern %s and the path %s match: %s", (pattern, path, expected) => {
  expect(parsePattern(pattern)(path)).toBe(expected);
});

// With a matcher that tries all combinations, these take years.
test("A pattern with many wildcards is matched before the test times out", () => {
  expect(parsePattern(`${"*a".repeat(50)}b`)("a".repeat(1_000))).toBe(false);
  expect(parsePattern(`${"**/a/".repeat(50)}b`)("a/".repeat(400))).toBe(false);
  expect(parsePattern("[".repeat(100_000))("a")).toBe(false);
});

import { describe, expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { allOf, openHub, rejectionOf, type ScriptedAnswer, token } from "../scripted-hub.ts";

const file = (path: string, oid: string) => ({ type: "file", path, oid, size: 1 });

async function open(...answers: ScriptedAnswer[]) {
  const hub = await openHub(...answers);
  const client = new HubClient({ token, hubUrl: hub.url, attempts: 1 });
  return { hub, repo: client.repo({ type: "dataset", name: "acme/data" }) };
}

describe("changedFiles", () => {
  test("reads the Hub's comparison", async () => {
    const { hub, repo } = await open({
      json: "diff --git a/a b.txt b/a b.txt\nnew file mode 100644\nindex 0000000..e69de29\n",
    });
    expect(await repo.changedFiles({ from: "v1", to: "refs/pr/1" })).toEqual([{ path: "a b.txt", status: "added" }]);
    expect(hub.calls).toEqual(["GET /api/datasets/acme/data/compare/v1..refs%2Fpr%2F1"]);
  });

  test.each<[string, ScriptedAnswer]>([
    ["the Hub does not compare", { status: 404, json: { error: "Not found" } }],
    ["the comparison fails", { status: 500 }],
    ["the comparison has another format", { json: "The diff is too large." }],
    ["the comparison is not text", { json: { files: [] } }],
    ["the comparison is a web page", { text: "<!doctype html>" }],
  ])("compares all files if %s", async (_case, comparison) => {
    const { hub, repo } = await open(
      comparison,
      { json: [file("a", "1"), file("b", "1"), { ...file("c", "1"), type: "directory" }] },
      { json: [file("a", "2")], headers: { link: '</?cursor=next>; rel="next"' } },
      { json: [file("d", "3")] },
    );
    expect(await repo.changedFiles({ from: "v1", to: "v2" })).toEqual([
      { path: "a", status: "modified" },
      { path: "b", status: "deleted" },
      { path: "d", status: "added" },
    ]);
    expect(hub.calls.slice(1)).toEqual([
      "GET /api/datasets/acme/data/tree/v1?recursive=true",
      "GET /api/datasets/acme/data/tree/v2?recursive=true",
      "GET /api/datasets/acme/data/tree/v2?cursor=next",
    ]);
  });

  test("returns all files of a new branch as added", async () => {
    const { hub, repo } = await open({ json: [file("a", "1")] });
    expect(await repo.changedFiles({ from: null, to: "dev" })).toEqual([{ path: "a", status: "added" }]);
    expect(hub.calls).toEqual(["GET /api/datasets/acme/data/tree/dev?recursive=true"]);
  });

  test.each([
    [401, "HUB_UNAUTHORIZED"],
    [403, "HUB_FORBIDDEN"],
    [429, "HUB_RATE_LIMITED"],
  ])("fails after status %i, because further calls would fail too", async (status, code) => {
    const { hub, repo } = await open({ status });
    expect(await rejectionOf(repo.changedFiles({ from: "v1", to: "v2" }))).toMatchObject({ code });
    expect(hub.calls).toHaveLength(1);
  });
});

describe("Files", () => {
  test("are listed without folders", async () => {
    const { hub, repo } = await open({ json: [file("data/a", "1"), { ...file("data/b", "2"), type: "directory" }] });
    const files = await allOf(repo.listFiles({ folder: "data", recursive: false, revision: "dev" }));
    expect(files).toEqual([file("data/a", "1")]);
    expect(hub.calls).toEqual(["GET /api/datasets/acme/data/tree/dev/data?recursive=false"]);
  });

  test.each([
    ["model", "/acme/data/resolve/refs%2Fpr%2F1/a/b%20c.txt"],
    ["dataset", "/datasets/acme/data/resolve/refs%2Fpr%2F1/a/b%20c.txt"],
    ["space", "/spaces/acme/data/resolve/refs%2Fpr%2F1/a/b%20c.txt"],
  ])("of a %s are read from %s", async (type, path) => {
    const hub = await openHub({ text: "grün" });
    const repo = new HubClient({ token, hubUrl: hub.url }).repo({ type, name: "acme/data" });
    expect(await repo.readText("a/b c.txt", { revision: "refs/pr/1" })).toBe("grün");
    expect(hub.calls).toEqual([`GET ${path}`]);
  });

  test("are read as text, JSON, or bytes", async () => {
    const { repo } = await open({ text: '{"a":1}' });
    expect(await repo.readJson("config.json")).toEqual({ a: 1 });
    expect(await repo.readBytes("config.json")).toEqual(new TextEncoder().encode('{"a":1}'));
  });

  test("that are not text or not JSON fail without their content", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x41]);
    const { repo } = await open((_request, response) => response.end(bytes), { text: "secret content" });
    expect(await rejectionOf(repo.readText("a.bin"))).toMatchObject({ code: "FILE_INVALID" });
    expect(await rejectionOf(repo.readJson("a.json"))).toMatchObject({
      code: "FILE_INVALID",
      message: expect.not.stringContaining("secret"),
    });
  });

  test("are limited to maxBytes", async () => {
    const { repo } = await open({ text: "content" });
    expect(await rejectionOf(repo.readText("a", { maxBytes: 6 }))).toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(await rejectionOf(repo.readText("a", { maxBytes: -1 }))).toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("are not read after an abort", async () => {
    const { hub, repo } = await open({ text: "content" });
    const reason = new Error("Stopped");
    const signal = AbortSignal.abort(reason);
    expect(await rejectionOf(repo.readText("a", { signal }))).toBe(reason);
    expect(await rejectionOf(allOf(repo.listFiles({ signal })))).toBe(reason);
    expect(hub.calls).toEqual([]);
  });
});

describe("A repository", () => {
  test.each([
    ["name", { type: "model", name: "data" }],
    ["name", { type: "model", name: "a/b/c" }],
    ["type", { type: "bucket", name: "acme/data" }],
  ])("with an invalid %s is rejected: %j", (field, ref) => {
    expect(() => new HubClient({ token }).repo(ref)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", fields: [field] }),
    );
  });
});

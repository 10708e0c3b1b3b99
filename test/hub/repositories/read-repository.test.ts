import { describe, expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { compareTrees, readDiff } from "../../../src/hub/repositories/changed-files.ts";
import { allOf, openClient, openHub, rejectionOf, type ScriptedAnswer, token } from "../scripted-hub.ts";

const file = (path: string, oid: string) => ({ type: "file", path, oid, size: 1 });

async function open(...answers: ScriptedAnswer[]) {
  const hub = await openHub(...answers);
  return { hub, repo: openClient(hub, { attempts: 1 }).repo({ type: "dataset", name: "acme/data" }) };
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

  test.each([undefined, "refs/heads/main"])(
    "returns all files as added without an older revision: of the ref %s",
    async (ref) => {
      const { hub, repo } = await open({ json: [file("a", "1")] });
      expect(await repo.changedFiles({ from: null, to: "dev", ref })).toEqual([{ path: "a", status: "added" }]);
      expect(hub.calls).toEqual(["GET /api/datasets/acme/data/tree/dev?recursive=true"]);
    },
  );

  test("compares a new branch with the main branch", async () => {
    const { hub, repo } = await open({ json: ":000000 100644 0000000 1234567 A\ta.txt\n" });
    const files = await repo.changedFiles({ from: null, to: "dev", ref: "refs/heads/dev" });
    expect(files).toEqual([{ path: "a.txt", status: "added" }]);
    expect(hub.calls).toEqual([expect.stringContaining("/compare/main..dev")]);
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
    const repo = openClient(hub).repo({ type, name: "acme/data" });
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
    ["name", { type: "model", name: "data/" }],
    ["name", { type: "model", name: "a/b/c" }],
    ["type", { type: "bucket", name: "acme/data" }],
  ])("with an invalid %s is rejected: %j", (field, ref) => {
    expect(() => new HubClient({ token }).repo(ref)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", fields: [field] }),
    );
  });
});

test("Two trees differ in added, modified, deleted, and renamed files, sorted by path", () => {
  const older = [
    { path: "same", oid: "1" },
    { path: "modified", oid: "2" },
    { path: "deleted", oid: "3" },
    { path: "old name", oid: "4" },
    { path: "twin 1", oid: "5" },
    { path: "twin 2", oid: "5" },
  ];
  const newer = [
    { path: "new name", oid: "4" },
    { path: "modified", oid: "6" },
    { path: "same", oid: "1" },
    { path: "added", oid: "7" },
    { path: "moved twin", oid: "5" },
  ];
  expect(compareTrees(older, newer)).toEqual([
    { path: "added", status: "added" },
    { path: "deleted", status: "deleted" },
    { path: "modified", status: "modified" },
    { path: "moved twin", status: "renamed", previousPath: "twin 1" },
    { path: "new name", status: "renamed", previousPath: "old name" },
    { path: "twin 2", status: "deleted" },
  ]);
  expect(compareTrees([], older).map(({ status }) => status)).toEqual(Array.from(older, () => "added"));
});

describe("The files of a patch", () => {
  test("have the status that git reports", () => {
    const diff = [
      "diff --git a/README.md b/README.md",
      "index ce01362..cc628cc 100644",
      "--- a/README.md",
      "+++ b/README.md",
      "@@ -1 +1,2 @@",
      " hello",
      "+world",
      "diff --git a/new b/new",
      "new file mode 100644",
      "index 0000000..e69de29",
      "diff --git a/old.bin b/old.bin",
      "deleted file mode 100644",
      "index ce01362..0000000",
      "Binary files a/old.bin and /dev/null differ",
      "diff --git a/from here.txt b/to/there.txt",
      "similarity index 95%",
      "rename from from here.txt",
      "rename to to/there.txt",
      "index ce01362..cc628cc 100644",
      "--- a/from here.txt\t",
      "+++ b/to/there.txt",
      "diff --git a/README.md b/copy.md",
      "similarity index 100%",
      "copy from README.md",
      "copy to copy.md",
      "diff --git a/run.sh b/run.sh",
      "old mode 100644",
      "new mode 100755",
      "",
    ].join("\n");
    expect(readDiff(diff)).toEqual([
      { path: "README.md", status: "modified" },
      { path: "copy.md", status: "added" },
      { path: "new", status: "added" },
      { path: "old.bin", status: "deleted" },
      { path: "run.sh", status: "modified" },
      { path: "to/there.txt", status: "renamed", previousPath: "from here.txt" },
    ]);
  });

  test.each([
    ["diff --git a/my file b/my file", "my file"],
    ["diff --git a/x b/x b/x b/x", "x b/x"],
    ['diff --git "a/caf\\303\\251.md" "b/caf\\303\\251.md"', "café.md"],
    ["diff --git a/café.md b/café.md", "café.md"],
    ['diff --git "a/q\\"uo\\\\te" "b/q\\"uo\\\\te"', 'q"uo\\te'],
    ['diff --git "a/tab\\tand\\nline" "b/tab\\tand\\nline"', "tab\tand\nline"],
    ["diff --git a/diff --git a b/diff --git a", "diff --git a"],
  ])("include the name in %j", (header, path) => {
    expect(readDiff(`${header}\nold mode 100644\nnew mode 100755\n`)).toEqual([{ path, status: "modified" }]);
  });

  test("include names that a tab ends, because they contain spaces", () => {
    const diff =
      "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n-a\n+b\n";
    expect(readDiff(diff)).toEqual([{ path: "a b.txt", status: "modified" }]);
  });

  test("are not read from the content of a file", () => {
    const content = "+diff --git a/fake b/fake\n---- a/fake\n+++ b/fake\n+rename to fake\n";
    const diff = `diff --git a/real b/real\nnew file mode 100644\n--- /dev/null\n+++ b/real\n@@ -0,0 +1,4 @@\n${content}`;
    expect(readDiff(diff)).toEqual([{ path: "real", status: "added" }]);
  });

  test("are read from a large diff in a short time", () => {
    const patch = (path: string) =>
      `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1,100 +1,100 @@\n${"+line\n".repeat(100)}`;
    const diff = Array.from({ length: 5000 }, (_, index) => patch(`data/file-${index}.json`)).join("");
    // The time of the processor, since other processes delay this one.
    const start = process.cpuUsage();
    expect(readDiff(diff)).toHaveLength(5000);
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
  });
});

describe("The files of a raw diff", () => {
  test("have the status that git reports", () => {
    const diff = [
      ":000000 100644 0000000 ce01362 A\tnew file",
      ":100644 000000 ce01362 0000000 D\told",
      ":100644 100644 ce01362... cc628cc... M\tREADME.md",
      ':100644 100644 ce01362 ce01362 R100\tfrom\t"t\\303\\266"',
      ":100644 100644 ce01362 ce01362 C100\tREADME.md\tcopy.md",
      ":100644 120000 ce01362 cc628cc T\tlink",
      "",
    ].join("\n");
    expect(readDiff(diff)).toEqual([
      { path: "README.md", status: "modified" },
      { path: "copy.md", status: "added" },
      { path: "link", status: "modified" },
      { path: "new file", status: "added" },
      { path: "old", status: "deleted" },
      { path: "tö", status: "renamed", previousPath: "from" },
    ]);
  });
});

describe("A diff", () => {
  test.each(["", "\n"])("without changes is empty (%j)", (diff) => {
    expect(readDiff(diff)).toEqual([]);
  });

  test.each([
    "Diff is too large to show.",
    "diff --git a/old name b/other name\nindex 1..2 100644\n",
    'diff --git "a/\\377" "b/\\377"\nnew file mode 100644\n',
    'diff --git "a/\\9" "b/\\9"\nnew file mode 100644\n',
    "diff --git x y\nnew file mode 100644\n",
    ":100644 100644 ce01362 cc628cc M\n",
    ":100644 100644 ce01362 cc628cc X\tREADME.md\n",
    ":100644 100644 ce01362 cc628cc R100\tREADME.md\n",
  ])("in another format is not read: %j", (diff) => {
    expect(readDiff(diff)).toBeUndefined();
  });
});

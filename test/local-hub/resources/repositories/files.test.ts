import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listsTag, readRange } from "../../../../src/local-hub/resources/repositories/files.ts";
import { RepositoryApi } from "../../support/repository-api.ts";

const base = "/api/datasets/local-user/data";
const html = "<script>alert(1)</script>";
let api: RepositoryApi;
let head: string;

beforeAll(async () => {
  api = await RepositoryApi.open();
  await api.commit({ "data/b.txt": "b", "data/deep/c.txt": "c", "page.html": html, empty: "" });
  head = await api.commit({ "data/a.txt": "0123456789", "grüße 1.txt": "ü" });
});

afterAll(() => api[Symbol.asyncDispose]());

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

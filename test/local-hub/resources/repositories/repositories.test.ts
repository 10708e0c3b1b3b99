import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { HubClient } from "../../../../src/client.ts";
import { type Answer, openLocalHub, type TestHub } from "../../support/hub.ts";
import { openTarget } from "../../support/target.ts";

const create = "POST /api/repos/create";
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

/** Creates a model, and returns its ID. */
async function createModel(name: string, fields: Record<string, unknown> = {}): Promise<string> {
  const { body, text } = await hub.request(create, { body: { name, ...fields } });
  return z.object({ id: z.string() }, text).parse(body).id;
}

/** Returns the names of listed repositories. */
function namesOf({ body }: Answer): string[] {
  return z
    .array(z.object({ id: z.string() }))
    .parse(body)
    .map(({ id }) => id);
}

/** Returns the metadata of a card as a file of a new repository. */
function card(metadata: string) {
  return { files: [{ path: "README.md", content: `---\n${metadata}\n---\n# Title\n` }] };
}

describe("A new repository", () => {
  test("has the URL of its page, and a first commit", async () => {
    const made = await hub.request(create, { body: { name: "net", organization: "acme", type: "dataset" } });
    expect(made.body).toEqual({ url: `${hub.url}/datasets/acme/net`, name: "acme/net", id: expect.any(String) });
    const { body } = await hub.request("GET /api/datasets/acme/net?blobs=true");
    expect(body).toMatchObject({
      ...{ id: "acme/net", author: "acme", sha, private: false, gated: false, disabled: false, tags: ["region:us"] },
      siblings: [{ rfilename: ".gitattributes", blobId: sha, size: expect.any(Number) }],
    });
    expect(body).not.toHaveProperty("modelId");
  });

  test("is a public model of the user by default", async () => {
    const id = await createModel("net");
    expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({
      ...{ _id: id, id: "local-user/net", modelId: "local-user/net", author: "local-user", private: false },
    });
  });

  test("has the visibility that the request sets", async () => {
    const made: [body: object, isPrivate: boolean][] = [
      [{ private: true }, true],
      [{ private: null, organization: null }, false],
      [{ visibility: "private" }, true],
      [{ visibility: "public" }, false],
      [{ sdk: "docker", visibility: "protected" }, true],
    ];
    for (const [index, [body, isPrivate]] of made.entries()) {
      const type = "sdk" in body ? "space" : "model";
      await hub.request(create, { body: { name: `net${index}`, type, ...body } });
      expect((await hub.request(`GET /api/${type}s/local-user/net${index}`)).body).toMatchObject({
        private: isPrivate,
      });
    }
  });

  test("has a card with the license, or with the SDK of a Space, unless the request has a card", async () => {
    await createModel("net", { license: "mit" });
    await createModel("demo", { type: "space", sdk: "gradio" });
    await createModel("own", { license: "mit", ...card("license: apache-2.0") });
    expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({
      ...{ cardData: { license: "mit" }, tags: ["license:mit", "region:us"] },
      siblings: [{ rfilename: ".gitattributes" }, { rfilename: "README.md" }],
    });
    expect((await hub.request("GET /api/spaces/local-user/demo")).body).toMatchObject({
      ...{ cardData: { title: "demo", sdk: "gradio" }, sdk: "gradio", subdomain: "local-user-demo" },
      runtime: { stage: "STOPPED" },
    });
    expect((await hub.request("GET /api/models/local-user/own")).body).toMatchObject({
      cardData: { license: "apache-2.0" },
    });
  });

  test("decodes files in Base64", async () => {
    const files = [{ path: "a/b.bin", content: Buffer.from([0, 255, 1]).toString("base64"), encoding: "base64" }];
    await createModel("net", { files });
    const { body } = await hub.request("GET /api/models/local-user/net?blobs=1");
    expect(body).toMatchObject({ siblings: [{}, { rfilename: "a/b.bin", size: 3 }] });
  });

  test("is a conflict if the repository exists, with the URL of the repository", async () => {
    await createModel("net");
    const { status, body } = await hub.request(create, { body: { name: "net" } });
    expect([status, body]).toEqual([409, { error: expect.any(String), url: `${hub.url}/local-user/net` }]);
  });

  test("is rejected if the request is invalid or not allowed, and is not stored", async () => {
    const before = namesOf(await hub.request("GET /api/models"));
    const rejected: [body: object, status: number][] = [
      [{ name: "a/b" }, 400],
      [{ name: "net.git" }, 400],
      [{ name: "-net" }, 400],
      [{ name: "a--b" }, 400],
      [{ name: "x".repeat(97) }, 400],
      [{}, 400],
      [{ name: "net", type: "space" }, 400],
      [{ name: "net", type: "kernel" }, 400],
      [{ name: "net", private: true, visibility: "private" }, 400],
      [{ name: "net", organization: "acme", resourceGroupId: "0".repeat(24) }, 400],
      [{ name: "net", files: [{ path: "../x", content: "" }] }, 400],
      [{ name: "net", organization: "other-user" }, 403],
    ];
    for (const [body, status] of rejected) {
      expect((await hub.request(create, { body })).status, JSON.stringify(body)).toBe(status);
    }
    expect(namesOf(await hub.request("GET /api/models"))).toEqual(before);
  });

  test("belongs to the resource group of the request", async () => {
    const made = await hub.request("POST /api/organizations/acme/resource-groups", { body: { name: "New" } });
    const { id } = z.object({ id: z.string() }).parse(made.body);
    await createModel("net", { organization: "acme", resourceGroupId: id.toUpperCase() });
    const { body } = await hub.request("GET /api/organizations/acme/resource-groups");
    expect(body).toContainEqual(
      expect.objectContaining({ id, repos: [expect.objectContaining({ name: "acme/net", type: "model" })] }),
    );
  });
});

describe("A write to a repository", () => {
  test("requires a token that can write to the owner", async () => {
    const attempts: [token: string | null, organization: string, status: number][] = [
      ["hf_local", "acme", 200],
      ["hf_local", "unknown-owner", 200],
      ["hf_fine", "local-user", 200],
      ["hf_fine", "unknown-owner", 200],
      ["hf_fine", "acme", 403],
      ["hf_read", "local-user", 403],
      ["hf_other", "other-user", 200],
      ["hf_other", "local-user", 403],
      ["hf_other", "unknown-owner", 403],
      [null, "local-user", 401],
    ];
    for (const [index, [token, organization, status]] of attempts.entries()) {
      const body = { name: `net${index}`, organization };
      expect((await hub.request(create, { token, body })).status, `${token} ${organization}`).toBe(status);
    }
  });

  test("of another user returns 404 if the repository is private, otherwise 403", async () => {
    await createModel("open");
    await createModel("closed", { private: true });
    const body = { discussionsDisabled: true };
    const settings = (name: string) => `PUT /api/models/local-user/${name}/settings`;
    expect(await hub.outcome(settings("open"), { token: "hf_other", body })).toEqual([403, "Forbidden"]);
    expect(await hub.outcome(settings("closed"), { token: "hf_other", body })).toEqual([404, "RepoNotFound"]);
  });
});

describe("A read of a repository", () => {
  test("works without a token, unless the repository is private", async () => {
    await createModel("open");
    await createModel("closed", { private: true });
    const read = (name: string, token: string | null) => hub.outcome(`GET /api/models/local-user/${name}`, { token });
    expect(await read("open", null)).toEqual([200, null]);
    expect(await read("closed", null)).toEqual([401, "RepoNotFound"]);
    expect(await read("none", null)).toEqual([401, "RepoNotFound"]);
    expect(await read("closed", "hf_other")).toEqual([404, "RepoNotFound"]);
    expect(await read("closed", "hf_read")).toEqual([200, null]);
    expect(await read("none", "hf_local")).toEqual([404, "RepoNotFound"]);
    expect(await read("open", "hf_nobody")).toEqual([401, "Unauthorized"]);
  });

  test("at a revision returns the commit of the revision", async () => {
    await createModel("net");
    const at = (rev: string) => `GET /api/models/local-user/net/revision/${rev}`;
    const { body } = await hub.request(at("main"));
    const { sha: head } = z.object({ sha: z.string() }).parse(body);
    for (const rev of ["HEAD", head, head.slice(0, 8), "refs%2Fheads%2Fmain"]) {
      expect((await hub.request(at(rev))).body).toEqual(body);
    }
    expect(await hub.outcome(at("none"))).toEqual([404, "RevisionNotFound"]);
  });

  test("returns only the fields of expand", async () => {
    await createModel("net");
    for (const query of ["expand=sha&expand=likes", "expand[]=sha&expand[]=likes"]) {
      const { body } = await hub.request(`GET /api/models/local-user/net?${query}`);
      expect(body).toEqual({ _id: expect.any(String), id: "local-user/net", sha, likes: 0 });
    }
  });

  test("returns the tags of the card", async () => {
    await createModel("net", card("license: mit\ntags: [a, b]\ndatasets: acme/x\nlibrary_name: x\npipeline_tag: y"));
    expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({
      ...{ tags: ["x", "a", "b", "dataset:acme/x", "license:mit", "region:us"], pipeline_tag: "y", library_name: "x" },
    });
  });

  test("checks the access to read and to write, and to the files of a gated repository", async () => {
    await createModel("net");
    const check = "GET /api/models/local-user/net/auth-check";
    expect(await hub.outcome(check, { token: null })).toEqual([200, null]);
    expect(await hub.outcome(`${check}/write`)).toEqual([200, null]);
    for (const token of ["hf_other", "hf_read"])
      expect(await hub.outcome(`${check}/write`, { token })).toEqual([403, "Forbidden"]);
    await hub.request("PUT /api/models/local-user/net/settings", { body: { gated: "auto" } });
    expect(await hub.outcome(check)).toEqual([200, null]);
    expect(await hub.outcome(check, { token: "hf_other" })).toEqual([403, "GatedRepo"]);
  });
});

test("The settings of a repository change only where the request has values", async () => {
  await createModel("net");
  const line = "PUT /api/models/local-user/net/settings";
  const first = await hub.request(line, { body: { visibility: "private", gated: "auto" } });
  expect(first.body).toEqual({ private: true, visibility: "private", gated: "auto", discussionsDisabled: false });
  const { body } = await hub.request(line, { body: { gated: false, discussionsDisabled: true } });
  expect(body).toEqual({ private: true, visibility: "private", gated: false, discussionsDisabled: true });
  expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({ private: true, gated: false });
  expect(await hub.outcome(line, { body: { gated: "yes" } })).toEqual([400, "BadRequest"]);
});

describe("A moved repository", () => {
  test("redirects reads by its previous name, and accepts writes by it", async () => {
    const id = await createModel("net");
    const body = { fromRepo: "local-user/net", toRepo: "acme/net2", type: "model" };
    expect((await hub.request("POST /api/repos/move", { body })).status).toBe(200);
    const redirect = await fetch(`${hub.url}/api/models/local-user/net/revision/main?blobs=true`, {
      redirect: "manual",
    });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      307,
      "/api/models/acme/net2/revision/main?blobs=true",
    ]);
    expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({ _id: id, id: "acme/net2" });
    const settings = "PUT /api/models/local-user/net/settings";
    expect((await hub.request(settings, { body: { private: true } })).body).toMatchObject({ private: true });
    // The previous name does not reveal a private repository.
    expect(await hub.outcome("GET /api/models/local-user/net", { token: null })).toEqual([401, "RepoNotFound"]);
  });

  test("keeps its name if the move is rejected", async () => {
    await createModel("net");
    await createModel("taken");
    const rejected: [body: object, status: number][] = [
      [{ fromRepo: "local-user/net", toRepo: "other-user/net" }, 403],
      [{ fromRepo: "local-user/none", toRepo: "local-user/net2" }, 404],
      [{ fromRepo: "local-user/net", toRepo: "local-user/taken" }, 409],
      [{ fromRepo: "local-user/net", toRepo: "net2" }, 400],
      [{ fromRepo: "local-user/net", toRepo: "local-user/.." }, 400],
      [{ fromRepo: "local-user/net", toRepo: "local-user/net.git" }, 400],
      [{ fromRepo: "local-user/net", toRepo: `local-user/${"n".repeat(97)}` }, 400],
    ];
    for (const [body, status] of rejected) {
      expect((await hub.request("POST /api/repos/move", { body })).status, JSON.stringify(body)).toBe(status);
    }
    expect((await hub.request("GET /api/models/local-user/net")).body).toMatchObject({ id: "local-user/net" });
  });
});

test("A deleted repository is gone", async () => {
  await createModel("net");
  const line = "DELETE /api/repos/delete";
  expect(await hub.outcome(line, { body: { name: "net" }, token: "hf_other" })).toEqual([404, "RepoNotFound"]);
  expect((await hub.request(line, { body: { name: "net", organization: "local-user" } })).body).toEqual({});
  expect(await hub.outcome("GET /api/models/local-user/net")).toEqual([404, "RepoNotFound"]);
  expect(await hub.outcome(line, { body: { name: "local-user/net" } })).toEqual([404, "RepoNotFound"]);
});

describe("A list of repositories", () => {
  test("contains the repositories that the caller can read, latest change first", async () => {
    let now = Date.now();
    hub = await openLocalHub({ now: () => now });
    for (const name of ["b", "a", "c"]) {
      now += 1_000;
      await createModel(name, { private: name === "c" });
    }
    const list = async (query: string, token?: string | null) =>
      namesOf(await hub.request(`GET /api/models?author=local-user&${query}`, token === undefined ? {} : { token }));
    const [b, a, c] = ["local-user/b", "local-user/a", "local-user/c"];
    expect((await list("sort=lastModified")).slice(0, 3)).toEqual([c, a, b]);
    expect((await list("", null)).slice(0, 2)).toEqual([a, b]);
    expect((await list("sort=createdAt&direction=1")).slice(-3)).toEqual([b, a, c]);
    expect((await list("sort=id")).slice(0, 3)).toEqual([a, b, c]);
    expect((await hub.request("GET /api/models?author=nobody")).body).toEqual([]);
  });

  test("matches the search and the tags", async () => {
    await createModel("Big-Net", card("tags: [vision]\nlicense: mit\npipeline_tag: image"));
    await createModel("small-net", card("tags: [vision]"));
    const list = async (query: string) => namesOf(await hub.request(`GET /api/models?${query}`)).sort();
    expect(await list("search=net&filter=vision")).toEqual(["local-user/Big-Net", "local-user/small-net"]);
    expect(await list("search=net&search=big")).toEqual(["local-user/Big-Net"]);
    expect(await list("filter=vision&filter=license:mit")).toEqual(["local-user/Big-Net"]);
    expect(await list("pipeline_tag=image")).toEqual(["local-user/Big-Net"]);
  });

  test("contains files and metadata only if the query has full", async () => {
    await createModel("net", card("license: mit"));
    const list = async (query: string) => (await hub.request(`GET /api/models?search=net&${query}`)).body;
    const [plain] = z.array(z.record(z.string(), z.unknown())).parse(await list(""));
    expect(Object.keys(plain ?? {})).not.toEqual(expect.arrayContaining(["siblings"]));
    expect(plain).not.toHaveProperty("cardData");
    const files = [{ rfilename: ".gitattributes" }, { rfilename: "README.md" }];
    expect(await list("full=True")).toMatchObject([{ siblings: files, cardData: { license: "mit" } }]);
    expect(await list("expand=siblings")).toEqual([{ _id: expect.any(String), id: "local-user/net", siblings: files }]);
  });

  test("links to the next page", async () => {
    for (const name of ["a", "b", "c"]) await createModel(`page-${name}`);
    const pages: string[][] = [];
    let next: string | undefined = `${hub.url}/api/models?search=page&sort=id&limit=2`;
    while (next !== undefined) {
      const response: Response = await fetch(next);
      const page = z.array(z.object({ id: z.string() })).parse(await response.json());
      pages.push(page.map(({ id }) => id));
      next = /<(.+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    }
    expect(pages).toEqual([["local-user/page-a", "local-user/page-b"], ["local-user/page-c"]]);
    expect(await hub.outcome("GET /api/models?cursor=x")).toEqual([400, "BadRequest"]);
    expect(await hub.outcome("GET /api/models?limit=0")).toEqual([400, "BadRequest"]);
  });
});

test("The check of a card returns all errors with status 400", async () => {
  const check = (content: string) => hub.request("POST /api/validate-yaml", { token: null, body: { content } });
  expect((await check("---\nlicense: mit\n---\n")).body).toEqual({ errors: [], warnings: [] });
  const { status, body } = await check("---\nlicense: {}\ntags: a\n---\n");
  expect([status, body]).toEqual([
    400,
    expect.objectContaining({
      errors: [{ message: expect.stringContaining('"tags"') }, { message: expect.stringContaining('"license"') }],
    }),
  ]);
});

const gpt2 = { type: "model", name: "gpt2" } as const;

function client(): HubClient {
  return new HubClient({ hubUrl: hub.url, token: "hf_local" });
}

function get(path: string): Promise<Response> {
  return fetch(hub.url + path, { headers: { authorization: "Bearer hf_local" }, redirect: "manual" });
}

/** Pushes to a repository, which is created if it does not exist. */
function push(type: string, name: string, files: Record<string, string> = { "a.txt": "one" }) {
  return hub.hub.trigger({ repo: { type, name }, event: { scope: "repo.content", action: "update" }, files });
}

async function move(fromRepo: string, toRepo: string, type: string): Promise<void> {
  expect(await hub.request("POST /api/repos/move", { body: { fromRepo, toRepo, type } })).toMatchObject({
    status: 200,
  });
}

describe("A repository without an owner", () => {
  test("is read and changed by the client like others", async () => {
    await push("model", "gpt2");
    const repo = client().repo(gpt2);
    expect(await repo.info()).toMatchObject({ id: "gpt2", author: "" });
    expect(await repo.readText("a.txt")).toBe("one");
    await repo.commit({ message: "Change", files: { "b/c.txt": "two" } });
    await repo.commit({ message: "Large", files: { "d.bin": new Uint8Array(1_000) } });
    const paths: string[] = [];
    for await (const { path } of repo.listFiles({ recursive: true })) paths.push(path);
    expect(paths).toEqual(expect.arrayContaining(["a.txt", "b/c.txt", "d.bin"]));
    const { num } = await repo.openDiscussion({ title: "Question", text: "Why?", marker: "ask" });
    expect((await repo.discussion(num)).title).toBe("Question");
    expect(await repo.refs()).toMatchObject({ branches: [{ name: "main" }] });
  });

  test("is found by its name only", async () => {
    await push("model", "gpt2", { "b/a.txt": "one" });
    await push("dataset", "squad");
    for (const [path, status] of [
      ["/api/models/gpt2", 200],
      ["/api/models/gpt2/revision/main", 200],
      ["/api/models/gpt2/tree/main/b", 200],
      ["/gpt2/resolve/main/b/a.txt", 200],
      ["/datasets/squad/resolve/main/a.txt", 200],
      ["/api/datasets/squad/commits/main", 200],
      ["/api/spaces/gpt2", 404],
      ["/gpt3/resolve/main/a.txt", 404],
      ["/api/models/gpt3", 404],
      ["/api/models/gpt3/commits/main", 404],
    ] as const) {
      const answer = await get(path);
      expect([answer.status, answer.headers.has("x-error-code")], path).toEqual([status, status !== 200]);
    }
  });

  test("does not hide the repositories of an owner with the same name", async () => {
    await push("model", "acme");
    await push("model", "acme/refs");
    expect((await hub.request("GET /api/models/acme/refs")).body).toMatchObject({ id: "acme/refs" });
    expect((await hub.request("GET /api/models/acme/tree/main")).body).toEqual(expect.any(Array));
  });

  test("moves to an owner, and its old name leads there", async () => {
    await push("model", "gpt2");
    await move("gpt2", "openai-community/gpt2", "model");
    const moved = await get("/api/models/gpt2/tree/main");
    expect([moved.status, moved.headers.get("location")]).toEqual([307, "/api/models/openai-community/gpt2/tree/main"]);
    expect(await client().repo(gpt2).info()).toMatchObject({ id: "openai-community/gpt2" });
  });
});

describe("The case of a name", () => {
  test("does not matter to reads, commits and new repositories", async () => {
    await push("dataset", "acme/Data");
    const repo = client().repo({ type: "dataset", name: "ACME/data" });
    expect(await repo.info()).toMatchObject({ id: "acme/Data" });
    await repo.commit({ message: "Change", files: { "b.txt": "two" } });
    const created = await hub.request("POST /api/repos/create", {
      body: { name: "DATA", organization: "acme", type: "dataset" },
    });
    expect(created.status).toBe(409);
  });

  test("can be changed by a move", async () => {
    await push("dataset", "acme/Data");
    await move("acme/Data", "acme/data", "dataset");
    expect((await hub.request("GET /api/datasets/acme/DATA")).body).toMatchObject({ id: "acme/data" });
  });

  test("does not matter to watched repositories and owners of a webhook", async () => {
    const target = await openTarget();
    for (const watched of [
      { type: "dataset", name: "ACME/data" },
      { type: "org", name: "Acme" },
      { type: "dataset", name: "acme/other" },
    ]) {
      await hub.create({ url: target.url, watched: [watched] });
    }
    expect(await push("dataset", "acme/Data")).toHaveLength(2);
  });
});

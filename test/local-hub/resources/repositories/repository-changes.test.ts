import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { repositoryRefs } from "../../../../src/hub/repositories/contents.ts";
import type { HubContext } from "../../../../src/local-hub/hub-context.ts";
import { commitChanges, createRef, deleteRef } from "../../../../src/local-hub/resources/repositories/refs.ts";
import {
  createRepository,
  deleteRepository,
  moveRepository,
  type RepositorySettings,
  updateRepositorySettings,
} from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { parseCard, tagsOf, validateCard } from "../../../../src/local-hub/resources/repositories/repository-info.ts";
import type { StoredRepository } from "../../../../src/local-hub/store/repository-store.ts";
import { fire, openContext } from "../../support/context.ts";
import { openLocalHub, type TestHub } from "../../support/hub.ts";

const model = { type: "model", name: "me/net", user: "ada-adams" } as const;
const user = "ada-adams";
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

describe("A new repository", () => {
  test("has a first commit with .gitattributes, and fires its creation once", () => {
    const { context, clock } = openContext();
    clock.now = 5_000;
    const created = fire(context, () => createRepository(context, { ...model, private: true }));
    const repository = created.made;
    const { content, repositories } = context.store;
    expect(repositories.get(model)).toEqual(repository);
    expect(repository).toMatchObject({ private: true, createdAt: 5_000, lastModified: 5_000, headSha: sha });
    const commit = content.resolve(repository.id, "main");
    expect(commit).toMatchObject({ oid: repository.headSha, parents: [], title: "initial commit", author: user });
    expect(Array.from(content.list(commit?.tree ?? ""), ({ path }) => path)).toEqual([".gitattributes"]);
    expect(created.payloads).toEqual([
      {
        event: { scope: "repo", action: "create" },
        repo: expect.objectContaining({ name: "me/net", private: true, headSha: repository.headSha }),
        webhook: expect.anything(),
      },
    ]);
  });

  test("stores images in LFS only if it is a dataset", () => {
    const { context } = openContext();
    const attributes = (["model", "dataset", "space"] as const).map((type) => {
      const { content } = context.store;
      const repository = createRepository(context, { ...model, type });
      const tree = content.resolve(repository.id, "main")?.tree ?? "";
      const { oid = "" } = content.find(tree, ".gitattributes") ?? {};
      return Buffer.from(content.read({ oid })).toString().split("\n");
    });
    const line = (pattern: string) => `${pattern} filter=lfs diff=lfs merge=lfs -text`;
    for (const lines of attributes) expect(lines).toContain(line("*.safetensors"));
    expect(attributes.map((lines) => lines.includes(line("*.png")))).toEqual([false, true, false]);
  });

  test("that is a bucket or a kernel has no stored content", () => {
    const { context } = openContext();
    const bucket = createRepository(context, { ...model, type: "bucket" });
    const { made: kernel, payloads } = fire(context, () => createRepository(context, { ...model, type: "kernel" }));
    expect([bucket.headSha, kernel.headSha]).toEqual([undefined, sha]);
    for (const { id } of [bucket, kernel]) expect(context.store.content.refs(id)).toEqual([]);
    expect(payloads).toMatchObject([{ repo: { headSha: kernel.headSha } }]);
  });
});

test("A repository that is moved keeps its content, and is found by its previous names until another repository has them", () => {
  const { context } = openContext();
  const { repositories } = context.store;
  const repository = createRepository(context, model);
  const move = (from: StoredRepository, name: string) =>
    fire(context, () => moveRepository(context, { repository: from, name, user }));
  const { made: moved, payloads } = move(move(repository, "me/second").made, "acme/net");
  expect(move(moved, "acme/net").payloads).toEqual([]);
  expect(repositories.get({ type: "model", name: "acme/net" })).toEqual({ ...repository, name: "acme/net" });
  expect(moved.headSha).toBe(repository.headSha);
  expect(payloads).toMatchObject([
    {
      event: { scope: "repo", action: "move" },
      repo: { name: "me/second", id: repository.id },
      movedTo: { name: "acme/net", owner: { id: expect.any(String) } },
    },
  ]);
  for (const name of ["me/net", "me/second"]) {
    expect(repositories.get({ type: "model", name })).toBeUndefined();
    expect(repositories.findMoved({ type: "model", name })).toEqual(moved);
  }
  const next = createRepository(context, model);
  expect(next.id).not.toBe(repository.id);
  expect(repositories.findMoved(model)).toBeUndefined();
});

test("A repository that is deleted leaves neither content nor previous names behind", () => {
  const { context } = openContext();
  const { content, repositories } = context.store;
  const repository = createRepository(context, model);
  const moved = moveRepository(context, { repository, name: "acme/net", user });
  expect(fire(context, () => deleteRepository(context, { repository: moved, user })).payloads).toMatchObject([
    { event: { scope: "repo", action: "delete" }, repo: { name: "acme/net", headSha: repository.headSha } },
  ]);
  expect(repositories.all()).toEqual([]);
  expect(repositories.findMoved(model)).toBeUndefined();
  expect(content.refs(repository.id)).toEqual([]);
  expect(content.getCommit(repository.id, repository.headSha ?? "")).toBeUndefined();
  const [latest] = context.store.auditLog.page({
    organization: "acme",
    filter: { authors: [], ips: [], types: [] },
    before: undefined,
    limit: 1,
  }).events;
  expect(latest).toMatchObject({ type: "repo.delete", author: user });
});

test("A repository that is deleted leaves no file in LFS behind, except those of other repositories", async () => {
  const { context } = openContext();
  const { content } = context.store;
  const repository = createRepository(context, model);
  const other = createRepository(context, { ...model, name: "me/other" });
  const save = async (text: string, ...ids: readonly string[]) => {
    const file = { oid: createHash("sha256").update(text).digest("hex"), size: text.length };
    for (const id of ids) await content.saveLarge(id, file, new Blob([text]).stream());
    return file.oid;
  };
  const own = await save("own", repository.id);
  const shared = await save("shared", repository.id, other.id);
  deleteRepository(context, { repository, user });
  expect(() => content.openLarge(own)).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(await text(content.openLarge(shared))).toBe("shared");
});

describe("Changed settings", () => {
  test("fire one event, which contains the visibility only if it changed", () => {
    const { context } = openContext();
    const repository = createRepository(context, model);
    const update = (from: StoredRepository, settings: RepositorySettings) =>
      fire(context, () => updateRepositorySettings(context, { repository: from, settings, user }));
    const hidden = update(repository, { private: true });
    expect(hidden.payloads).toMatchObject([
      { event: { scope: "repo.config", action: "update" }, repo: { private: true }, updatedConfig: { private: true } },
    ]);
    const settings = { private: true, gated: "auto", discussionsDisabled: true } as const;
    expect(update(hidden.made, settings).payloads).toEqual([expect.objectContaining({ updatedConfig: {} })]);
    expect(context.store.repositories.get(model)).toEqual({ ...repository, ...settings });
  });

  test("fire nothing if the repository already has them", () => {
    const { context } = openContext();
    const repository = createRepository(context, model);
    const settings = { private: false, gated: false, discussionsDisabled: false } as const;
    const update = () => updateRepositorySettings(context, { repository, settings, user });
    expect(fire(context, update).payloads).toEqual([]);
  });
});

const repo = "/api/models/local-user/net";
const initialFiles = [{ path: "a.txt", content: "a" }];

let hub: TestHub;

/** Returns the commits of refs, by the full names of the refs. */
async function refsOf(query = ""): Promise<Record<string, string>> {
  const { body } = await hub.request(`GET ${repo}/refs${query}`, { token: null });
  const { branches, tags, converts, pullRequests = [] } = repositoryRefs.parse(body);
  const all = [...branches, ...tags, ...converts, ...pullRequests];
  return Object.fromEntries(all.map(({ ref, targetCommit }) => [ref, targetCommit]));
}

async function filesOf(rev: string): Promise<string[]> {
  const { body } = await hub.request(`GET ${repo}/revision/${encodeURIComponent(rev)}`);
  const { siblings } = z.object({ siblings: z.array(z.object({ rfilename: z.string() })) }).parse(body);
  return siblings.map(({ rfilename }) => rfilename);
}

describe("With requests,", () => {
  beforeEach(async () => {
    hub = await openLocalHub();
    await hub.read("POST /api/repos/create", z.unknown(), { body: { name: "net", files: initialFiles } });
  });

  describe("A branch", () => {
    test("starts at the main branch, or at another revision", async () => {
      const { "refs/heads/main": main } = await refsOf();
      await hub.request(`POST ${repo}/branch/dev%2Fnew`, { body: {} });
      await hub.request(`POST ${repo}/branch/copy`, { body: { startingPoint: "dev/new" } });
      expect(await refsOf()).toEqual({
        ...{ "refs/heads/main": main, "refs/heads/dev/new": main, "refs/heads/copy": main },
      });
      expect(await filesOf("dev/new")).toEqual([".gitattributes", "a.txt"]);
    });

    test("can be empty", async () => {
      expect((await hub.request(`POST ${repo}/branch/empty`, { body: { emptyBranch: true } })).status).toBe(200);
      expect(await filesOf("empty")).toEqual([]);
    });

    test("is replaced only with overwrite", async () => {
      const line = `POST ${repo}/branch/empty`;
      await hub.request(line, { body: { emptyBranch: true } });
      await hub.request(line, { body: {} });
      expect(await filesOf("empty")).toEqual([]);
      expect((await hub.request(line, { body: { startingPoint: "main", overwrite: true } })).status).toBe(200);
      expect(await filesOf("empty")).toEqual([".gitattributes", "a.txt"]);
    });

    test("is not created from an unknown revision or with an invalid name", async () => {
      const rejected: [name: string, body: object, status: number, code: unknown][] = [
        ["dev", { startingPoint: "none" }, 404, "RevisionNotFound"],
        ["..", {}, 404, expect.any(String)],
        ["a%20b", {}, 400, "BadRequest"],
      ];
      for (const [name, body, status, code] of rejected) {
        expect(await hub.outcome(`POST ${repo}/branch/${name}`, { body })).toEqual([status, code]);
      }
    });
  });

  test("A tag has the commit of its revision, and can be deleted", async () => {
    const { "refs/heads/main": main } = await refsOf();
    const line = `POST ${repo}/tag/main`;
    expect(await hub.outcome(line, { body: { tag: "v1.0", message: "First" } })).toEqual([200, null]);
    expect(await refsOf()).toEqual({ "refs/heads/main": main, "refs/tags/v1.0": main });
    expect(await hub.outcome(`POST ${repo}/tag/none`, { body: { tag: "v2" } })).toEqual([404, "RevisionNotFound"]);
    expect(await hub.outcome(`DELETE ${repo}/tag/v1.0`)).toEqual([200, null]);
    expect(await refsOf()).toEqual({ "refs/heads/main": main });
  });

  test("Refs that exist, are missing, or are protected are refused with the messages that clients of the Hub recognize", async () => {
    await hub.request(`POST ${repo}/branch/dev`, { body: {} });
    await hub.request(`POST ${repo}/tag/main`, { body: { tag: "v1" } });
    const refused: [
      line: string,
      body: object | undefined,
      expected: [status: number, code: string, message: string],
    ][] = [
      [`POST ${repo}/branch/dev`, {}, [409, "Conflict", "Reference refs/heads/dev already exists"]],
      [`POST ${repo}/tag/main`, { tag: "v1" }, [409, "Conflict", "Reference refs/tags/v1 already exists"]],
      [`DELETE ${repo}/branch/main`, undefined, [403, "Forbidden", "Cannot delete refs/heads/main"]],
      [`DELETE ${repo}/branch/v1`, undefined, [404, "RevisionNotFound", "Invalid rev id: v1"]],
      [`DELETE ${repo}/tag/dev`, undefined, [404, "RevisionNotFound", "Invalid rev id: dev"]],
    ];
    for (const [line, body, [status, code, message]] of refused) {
      const answer = await hub.request(line, { ...(body && { body }) });
      expect([answer.status, answer.headers.get("x-error-code")], line).toEqual([status, code]);
      expect(answer.body).toEqual({ error: expect.stringContaining(message) });
    }
  });

  test("A list of refs contains pull requests only if the query asks for them", async () => {
    const body = { title: "Change", pullRequest: true, description: "" };
    expect((await hub.request(`POST ${repo}/discussions`, { body })).status).toBe(200);
    expect(Object.keys(await refsOf())).toEqual(["refs/heads/main"]);
    for (const query of ["?include_prs=1", "?include_prs=true"]) {
      expect(Object.keys(await refsOf(query))).toEqual(["refs/heads/main", "refs/pr/1"]);
    }
    expect(await hub.outcome(`GET ${repo}/revision/refs%2Fpr%2F1`)).toEqual([200, null]);
  });

  test("The commits of a branch can be replaced with one commit that has the same files", async () => {
    const { "refs/heads/main": before } = await refsOf();
    const line = `POST ${repo}/super-squash/main`;
    expect(await hub.outcome(line, { body: { message: "All" } })).toEqual([200, null]);
    const { "refs/heads/main": after } = await refsOf();
    expect(after).not.toBe(before);
    const { body } = await hub.request(`GET ${repo}/commits/main`);
    expect(body).toMatchObject([{ id: after, title: "All", authors: [{ user: "local-user" }] }]);
    expect(await filesOf("main")).toEqual([".gitattributes", "a.txt"]);
    expect(await hub.outcome(`POST ${repo}/super-squash/none`, { body: {} })).toEqual([404, "RevisionNotFound"]);
  });
});

describe("Changes of refs", () => {
  const model = { type: "model", name: "me/net" } as const;
  const user = "ada-adams";
  const main = "refs/heads/main";

  function openRepository() {
    const { context, clock } = openContext();
    const repository = createRepository(context, { ...model, user });
    const head = repository.headSha ?? "";
    const commit = (path: string, text: string, options: { ref?: string; parent?: string } = {}) =>
      commitChanges(context, {
        ...{ repository, ref: main, title: `Change ${path}`, message: "", user },
        changes: [{ path, content: Buffer.from(text) }],
        ...options,
      });
    return { context, clock, repository, head, commit };
  }

  /** Makes a change. Returns what it made, and the refs of the payloads that it fired. */
  function fireRefs<Made>(context: HubContext, change: () => Made) {
    const { made, payloads } = fire(context, change);
    return { made, refs: payloads.map(({ event, repo, updatedRefs }) => [event, repo.headSha, updatedRefs]) };
  }

  const updated = { scope: "repo.content", action: "update" };

  describe("A commit", () => {
    test("moves the branch, fires one event, and changes the date of the repository if the branch is main", () => {
      const { context, clock, repository, head, commit } = openRepository();
      const { repositories } = context.store;
      clock.now = 2_000;
      const first = fireRefs(context, () => commit("a.txt", "1"));
      expect(first.made).toMatchObject({ parents: [head], title: "Change a.txt", author: user, date: 2_000 });
      const newSha = first.made.oid;
      expect(first.refs).toEqual([[updated, newSha, [{ ref: main, oldSha: head, newSha }]]]);
      expect(repositories.get(model)).toMatchObject({ headSha: newSha, createdAt: 0, lastModified: 2_000 });

      clock.now = 3_000;
      createRef(context, { kind: "branch", repository, name: "dev", commit: head, user });
      const ref = "refs/heads/dev";
      const { made, refs } = fireRefs(context, () => commit("b.txt", "1", { ref }));
      expect(refs).toEqual([[updated, newSha, [{ ref, oldSha: head, newSha: made.oid }]]]);
      expect(repositories.get(model)).toMatchObject({ headSha: newSha, lastModified: 2_000 });
    });

    test("that changes no file is not made, fires nothing, and returns the current head", () => {
      const { context, repository, head, commit } = openRepository();
      const made = commit("a.txt", "1");
      const again = fireRefs(context, () => commit("a.txt", "1"));
      expect([again.made.oid, again.refs]).toEqual([made.oid, []]);
      const history = context.store.content.history(
        repository.id,
        context.store.repositories.get(model)?.headSha ?? "",
      );
      expect(Array.from(history, ({ oid }) => oid)).toEqual([made.oid, head]);
    });
  });

  describe("A branch or tag", () => {
    test.each([
      ["refs/heads/dev", "branch"],
      ["refs/tags/dev", "tag"],
    ] as const)("is created and deleted with one event each: %s", (ref, kind) => {
      const { context, repository, head, commit } = openRepository();
      const headSha = commit("a.txt", "1").oid;
      const name = "dev";
      const created = fireRefs(context, () => createRef(context, { kind, repository, name, commit: head, user }));
      expect(created.refs).toEqual([[updated, headSha, [{ ref, oldSha: null, newSha: head }]]]);
      expect(context.store.content.getRef(repository.id, ref)).toBe(head);
      const deleted = fireRefs(context, () => deleteRef(context, { kind, repository, name, user }));
      expect(deleted.refs).toEqual([[updated, headSha, [{ ref, oldSha: head, newSha: null }]]]);
      expect(context.store.content.getRef(repository.id, ref)).toBeUndefined();
    });

    test("can be overwritten, and fires nothing if it already has the commit", () => {
      const { context, repository, head, commit } = openRepository();
      const { oid } = commit("a.txt", "1");
      const branch = { kind: "branch", repository, name: "dev", user } as const;
      createRef(context, { ...branch, commit: head });
      const move = () => createRef(context, { ...branch, commit: oid, overwrite: true });
      expect(fireRefs(context, move).refs).toMatchObject([[updated, oid, [{ oldSha: head, newSha: oid }]]]);
      expect(fireRefs(context, move).refs).toEqual([]);
    });

    test("cannot have a name that git does not allow", () => {
      const { context, repository, head } = openRepository();
      const segments = ["", "/a", "a/", "-a", ".a", "a/.b", "a.lock", "@", "a//b", "a..b"];
      for (const name of [...segments, "a b", "a:b", "a\\b", "a\nb"]) {
        const create = () => createRef(context, { kind: "tag", repository, name, commit: head, user });
        expect(create, name).toThrow(expect.objectContaining({ status: 400 }));
      }
    });
  });
});

describe("The metadata of a card", () => {
  test.each([
    ["---\nlicense: mit\n---\n# Title", { license: "mit" }],
    ["---\r\nlicense: mit\r\n---\r\n", { license: "mit" }],
    ["\uFEFF---\ntags:\n- a\n- b\n---", { tags: ["a", "b"] }],
    ["---  \ndate: 2026-01-31\n---  \n", { date: "2026-01-31" }],
    ["\n---\na: 1\n---\n", { a: 1 }],
    ["---\na: 1\n---\n---\nb: 2\n---\n", { a: 1 }],
  ])("is the YAML at the start: %j", async (content, data) => {
    expect(await parseCard(content)).toEqual({ data });
  });

  test.each(["", "# Title", "---\n---\n", "---\nlicense: mit", "Text\n---\nlicense: mit\n---\n"])(
    "is missing: %j",
    async (content) => {
      expect(await parseCard(content)).toEqual({ missing: true });
    },
  );

  test.each(["---\na: [\n---\n", "---\n- a\n---\n", "---\ntext\n---\n", "---\na: 1\na: 2\n---\n"])(
    "is invalid: %j",
    async (content) => {
      expect(await parseCard(content)).toEqual({ error: expect.stringMatching(/\w/) });
    },
  );

  test("is not expanded without limit", async () => {
    const lines = [
      "a: &a [x, x, x]",
      ..."bcdefghi".split("").map((name, index) => {
        const previous = "abcdefgh"[index];
        return `${name}: &${name} [${Array(9).fill(`*${previous}`).join(", ")}]`;
      }),
    ];
    expect(await parseCard(`---\n${lines.join("\n")}\n---\n`)).toEqual({ error: expect.stringContaining("alias") });
    expect(await parseCard(`---\na: ${"x".repeat(100_000)}\n---\n`)).toEqual({
      error: expect.stringContaining("100000"),
    });
  });
});

describe("The tags", () => {
  test("of a dataset have prefixes, and each tag is unique", () => {
    const data = { language: ["en", "de"], task_categories: ["qa"], size_categories: "n<1K", tags: ["a", "a", 5] };
    expect(tagsOf(data, { type: "dataset" })).toEqual([
      ...["task_categories:qa", "size_categories:n<1K", "language:en", "language:de", "a", "region:us"],
    ]);
  });

  test("of a Space contain its SDK", () => {
    expect(tagsOf({ sdk: "docker", license: ["mit", "other"] }, { type: "space" })).toEqual([
      ...["docker", "license:mit", "license:other", "region:us"],
    ]);
  });
});

describe("The check of a card", () => {
  test("warns of missing metadata", async () => {
    const { errors, warnings } = await validateCard({ content: "# Title", repoType: "model" });
    expect([errors.length, warnings.length]).toEqual([0, 1]);
  });

  test.each([
    ["foo", '"model-index" must be an array'],
    ["[foo]", '"model-index[0]" must be an object'],
    ["[{ name: net, results: [] }, { results: {} }]", '"model-index[1].name" must be a string'],
    ["[{ name: net }]", '"model-index[0].results" must be an array'],
  ])("finds invalid results of a model: %s", async (index, message) => {
    const { errors } = await validateCard({ content: `---\nmodel-index: ${index}\n---\n`, repoType: "model" });
    expect(errors[0]).toEqual({ message });
  });

  test("requires the SDK of a Space", async () => {
    const check = (metadata: string) => validateCard({ content: `---\n${metadata}\n---\n`, repoType: "space" });
    expect((await check("title: Demo")).errors).toEqual([{ message: expect.stringContaining('"sdk"') }]);
    expect((await check("sdk: static")).errors).toEqual([]);
  });
});

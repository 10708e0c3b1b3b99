import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { repositoryRefs } from "../../../../src/hub/repositories/contents.ts";
import type { TriggerResult } from "../../../../src/local-hub/events/publish-change.ts";
import type { HubContext } from "../../../../src/local-hub/hub-context.ts";
import { commitChanges, createRef, deleteRef } from "../../../../src/local-hub/resources/repositories/refs.ts";
import { createRepository } from "../../../../src/local-hub/resources/repositories/repository-changes.ts";
import { openContext, payloadsOf } from "../../support/context.ts";
import { openLocalHub, type RequestOptions, type TestHub } from "../../support/hub.ts";

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

/** Returns the status of a request, and the code of an error. */
async function outcome(line: string, options?: RequestOptions): Promise<[number, string | null]> {
  const { status, headers } = await hub.request(line, options);
  return [status, headers.get("x-error-code")];
}

async function filesOf(rev: string): Promise<string[]> {
  const { body } = await hub.request(`GET ${repo}/revision/${encodeURIComponent(rev)}`);
  const { siblings } = z.object({ siblings: z.array(z.object({ rfilename: z.string() })) }).parse(body);
  return siblings.map(({ rfilename }) => rfilename);
}

describe("With requests,", () => {
  beforeEach(async () => {
    hub = await openLocalHub();
    const { status, text } = await hub.request("POST /api/repos/create", {
      body: { name: "net", files: initialFiles },
    });
    expect(status, text).toBe(200);
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
        expect(await outcome(`POST ${repo}/branch/${name}`, { body })).toEqual([status, code]);
      }
    });
  });

  test("A tag has the commit of its revision, and can be deleted", async () => {
    const { "refs/heads/main": main } = await refsOf();
    const line = `POST ${repo}/tag/main`;
    expect(await outcome(line, { body: { tag: "v1.0", message: "First" } })).toEqual([200, null]);
    expect(await refsOf()).toEqual({ "refs/heads/main": main, "refs/tags/v1.0": main });
    expect(await outcome(`POST ${repo}/tag/none`, { body: { tag: "v2" } })).toEqual([404, "RevisionNotFound"]);
    expect(await outcome(`DELETE ${repo}/tag/v1.0`)).toEqual([200, null]);
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
    expect(await outcome(`GET ${repo}/revision/refs%2Fpr%2F1`)).toEqual([200, null]);
  });

  test("The commits of a branch can be replaced with one commit that has the same files", async () => {
    const { "refs/heads/main": before } = await refsOf();
    const line = `POST ${repo}/super-squash/main`;
    expect(await outcome(line, { body: { message: "All" } })).toEqual([200, null]);
    const { "refs/heads/main": after } = await refsOf();
    expect(after).not.toBe(before);
    const { body } = await hub.request(`GET ${repo}/commits/main`);
    expect(body).toMatchObject([{ id: after, title: "All", authors: [{ user: "local-user" }] }]);
    expect(await filesOf("main")).toEqual([".gitattributes", "a.txt"]);
    expect(await outcome(`POST ${repo}/super-squash/none`, { body: {} })).toEqual([404, "RevisionNotFound"]);
  });
});

describe("Changes of refs", () => {
  const model = { type: "model", name: "me/net" } as const;
  const user = "ada-adams";
  const main = "refs/heads/main";
  const nothing = { deliveries: [], notFired: [], notified: [] };

  function openRepository() {
    const { context, clock } = openContext();
    const { repository } = createRepository(context, { ...model, user });
    const head = repository.headSha ?? "";
    const commit = (path: string, text: string, options: { ref?: string; parent?: string } = {}) =>
      commitChanges(context, {
        ...{ repository, ref: main, title: `Change ${path}`, message: "", user },
        changes: [{ path, content: Buffer.from(text) }],
        ...options,
      });
    return { context, clock, repository, head, commit };
  }

  function refsOf(context: HubContext, result: TriggerResult): unknown[] {
    return payloadsOf(context, result).map(({ event, repo, updatedRefs }) => [event, repo.headSha, updatedRefs]);
  }

  const updated = { scope: "repo.content", action: "update" };

  describe("A commit", () => {
    test("moves the branch, fires one event, and changes the date of the repository if the branch is main", () => {
      const { context, clock, repository, head, commit } = openRepository();
      const { repositories } = context.store;
      clock.now = 2_000;
      const first = commit("a.txt", "1");
      expect(first.commit).toMatchObject({ parents: [head], title: "Change a.txt", author: user, date: 2_000 });
      const newSha = first.commit.oid;
      expect(refsOf(context, first.result)).toEqual([[updated, newSha, [{ ref: main, oldSha: head, newSha }]]]);
      expect(repositories.get(model)).toMatchObject({ headSha: newSha, createdAt: 0, lastModified: 2_000 });

      clock.now = 3_000;
      createRef(context, { kind: "branch", repository, name: "dev", commit: head, user });
      const ref = "refs/heads/dev";
      const other = commit("b.txt", "1", { ref });
      expect(refsOf(context, other.result)).toEqual([
        [updated, newSha, [{ ref, oldSha: head, newSha: other.commit.oid }]],
      ]);
      expect(repositories.get(model)).toMatchObject({ headSha: newSha, lastModified: 2_000 });
    });

    test("that changes no file is not made, fires nothing, and returns the current head", () => {
      const { context, repository, head, commit } = openRepository();
      const { commit: made } = commit("a.txt", "1");
      const again = commit("a.txt", "1");
      expect([again.commit.oid, again.result]).toEqual([made.oid, nothing]);
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
      const headSha = commit("a.txt", "1").commit.oid;
      const name = "dev";
      const created = createRef(context, { kind, repository, name, commit: head, user });
      expect(refsOf(context, created)).toEqual([[updated, headSha, [{ ref, oldSha: null, newSha: head }]]]);
      expect(context.store.content.getRef(repository.id, ref)).toBe(head);
      const deleted = deleteRef(context, { kind, repository, name, user });
      expect(refsOf(context, deleted)).toEqual([[updated, headSha, [{ ref, oldSha: head, newSha: null }]]]);
      expect(context.store.content.getRef(repository.id, ref)).toBeUndefined();
    });

    test("can be overwritten, and fires nothing if it already has the commit", () => {
      const { context, repository, head, commit } = openRepository();
      const { oid } = commit("a.txt", "1").commit;
      const branch = { kind: "branch", repository, name: "dev", user } as const;
      createRef(context, { ...branch, commit: head });
      const moved = createRef(context, { ...branch, commit: oid, overwrite: true });
      expect(refsOf(context, moved)).toMatchObject([[updated, oid, [{ oldSha: head, newSha: oid }]]]);
      expect(createRef(context, { ...branch, commit: oid, overwrite: true })).toEqual(nothing);
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

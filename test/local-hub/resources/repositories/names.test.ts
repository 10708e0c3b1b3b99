import { beforeEach, describe, expect, test } from "vitest";
import { HubClient } from "../../../../src/client.ts";
import { openLocalHub, type TestHub } from "../../support/hub.ts";
import { openTarget } from "../../support/target.ts";

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
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
